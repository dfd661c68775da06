"""Every format of realistic reports, held against what it looked like when last approved."""

import json
import os
import re
from pathlib import Path

import pytest

from gradegate.model.report import Report
from gradegate.report.links import Links
from gradegate.report.render import FORMATS, render
from tests.situations import SITUATIONS

GOLDEN = Path(__file__).parents[2] / "golden"
NAMES = sorted(path.parent.name for path in GOLDEN.glob("*/report.json"))
EXTENSIONS = {"html": "html", "junit": "xml", "text": "txt", "json": "json"}
READ_BY_PEOPLE = ("comment", "check", "junit", "text")
"""Of a situation; how the page looks is held by tests/browser."""
LARGE = "many_broken_by_one_cause"
LIMITED = ("comment",)
"""Of two thousand cases the rest is long and says the same of each."""
LINKS = Links(
    report="https://ci.example/report.html",
    run="https://github.com/acme/desk/actions/runs/7",
    files="https://github.com/acme/desk/blob/b81e3a07c5d94e2f6610aa92f7de01c3b4455c66",
)


OURS = re.compile(
    r'(?<=<style>).*?(?=</style>)|(?<=<script type="module">).*?(?=</script>)', re.DOTALL
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


def approved(name: str, format_: str, language: str, shown: str) -> str:
    """What was approved; what is shown now, where that is wanted."""
    expected = GOLDEN / name / f"{format_}.{language}.{EXTENSIONS.get(format_, 'md')}"
    if os.environ.get("GRADEGATE_UPDATE_GOLDEN"):
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(shown, encoding="utf-8")
    return expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_every_format_renders_as_approved(name: str, format_: str, language: str) -> None:
    """A view changes only when someone approves the change."""
    source = (GOLDEN / name / "report.json").read_text(encoding="utf-8")
    shown = render(Report.model_validate_json(source), format_, language=language)
    if format_ == "html":
        shown = readable(shown)
    assert shown == approved(name, format_, language, shown)


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(
    ("name", "format_"),
    [
        (name, one)
        for name in SITUATIONS
        for one in READ_BY_PEOPLE
        if name != LARGE or one in LIMITED
    ],
)
def test_every_situation_is_shown_as_approved(name: str, format_: str, language: str) -> None:
    """With the links that a job has."""
    shown = render(SITUATIONS[name](), format_, language=language, links=LINKS)
    assert shown == approved(name, format_, language, shown)
