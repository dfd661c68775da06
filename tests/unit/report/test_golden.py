"""Every format of a few realistic reports, held against what it looked like when last approved."""

import json
import os
import re
from pathlib import Path

import pytest

from gradegate.model.report import Report
from gradegate.report.render import FORMATS, render

GOLDEN = Path(__file__).parents[2] / "golden"
NAMES = sorted(path.parent.name for path in GOLDEN.glob("*/report.json"))
EXTENSIONS = {"html": "html", "junit": "xml", "text": "txt", "json": "json"}


OURS = re.compile(
    r"(?<=<style>).*?(?=</style>)|(?<=<script type=\"module\">).*?(?=</script>)", re.DOTALL
)
SPRITE = re.compile(r'<svg xmlns[^>]* class="signs".*?</svg>\n', re.DOTALL)
DIGEST = re.compile(r"sha256-[\w+/=]+")
DATA = re.compile(r'(?<=<script type="application/json" id="data">).*?(?=</script>)', re.DOTALL)


def readable(shown: str) -> str:
    """A page without what is the same on every page, its data laid out."""
    shown = DIGEST.sub("sha256-…", SPRITE.sub("", OURS.sub("", shown)))
    return DATA.sub(lambda found: laid_out(found.group()), shown)


def laid_out(data: str) -> str:
    """The page's data but for its phrases, which the locales have."""
    told = {key: value for key, value in json.loads(data).items() if key != "phrases"}
    return json.dumps(told, ensure_ascii=False, indent=1)


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_every_format_renders_as_approved(name: str, format_: str, language: str) -> None:
    """A view changes only when someone approves the change."""
    source = (GOLDEN / name / "report.json").read_text(encoding="utf-8")
    shown = render(Report.model_validate_json(source), format_, language=language)
    if format_ == "html":
        shown = readable(shown)
    expected = GOLDEN / name / f"{format_}.{language}.{EXTENSIONS.get(format_, 'md')}"
    if os.environ.get("GRADEGATE_UPDATE_GOLDEN"):
        expected.write_text(shown, encoding="utf-8")
    assert shown == expected.read_text(encoding="utf-8")
