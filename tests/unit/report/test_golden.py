"""Every format of a few realistic reports, held against what it looked like when last approved."""

import os
from pathlib import Path

import pytest

from gradegate.model.report import Report
from gradegate.report.render import FORMATS, render

GOLDEN = Path(__file__).parents[2] / "golden"
NAMES = sorted(path.parent.name for path in GOLDEN.glob("*/report.json"))
EXTENSIONS = {"html": "html", "junit": "xml", "text": "txt", "json": "json"}


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_every_format_renders_as_approved(name: str, format_: str, language: str) -> None:
    """A view changes only when someone approves the change."""
    source = (GOLDEN / name / "report.json").read_text(encoding="utf-8")
    shown = render(Report.model_validate_json(source), format_, language=language)
    expected = GOLDEN / name / f"{format_}.{language}.{EXTENSIONS.get(format_, 'md')}"
    if os.environ.get("GRADEGATE_UPDATE_GOLDEN"):
        expected.write_text(shown, encoding="utf-8")
    assert shown == expected.read_text(encoding="utf-8")
