"""A report in Japanese has no English in it but names and quoted words."""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.situations import SITUATIONS

GOLDEN = Path(__file__).parents[2] / "golden"
MADE_HARMLESS = "hostile"
"""Where others' words are changed so much that they are not known again."""
VIEWS = sorted(
    path
    for path in GOLDEN.glob("*/*.ja.*")
    if path.suffix != ".json" and path.parent.name != MADE_HARMLESS
)
NOT_PROSE = re.compile(
    r"<style>.*?</style>|<script.*?</script>|<pre.*?</pre>|<!--.*?-->|`{3,}.*?`{3,}"
    r"|<code>.*?</code>|`[^`\n]*`|\]\([^)\s]*\)|\b\w+(?:\.\w+|\[\d*\])+",
    re.DOTALL,
)
READ_IN_TAGS = re.compile(r'\b(?:message|title|placeholder|aria-label)="([^"]*)"')
ENGLISH = re.compile(r"[A-Za-z]+(?:'[a-z]+)?(?:[ ,.:;]+[A-Za-z]+(?:'[a-z]+)?)+")
SENTENCES = frozenset({"text", "reason", "warnings"})
"""Where report.json has sentences of ours; beside `asked` and `judged` they are quoted words."""


def quoted(value: Any, name: str = "") -> Iterator[str]:
    """Words and names of others in a report, notices' values included."""
    if isinstance(value, str) and name not in SENTENCES:
        yield value
    elif isinstance(value, dict):
        if name in {"turns", "evidence"}:
            yield from words_in(value)
        for key, inner in value.items():
            yield from quoted(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from words_in(inner) if name == "turns" else quoted(inner, name)


def words_in(value: Any) -> Iterator[str]:
    """All texts, whatever they are called."""
    if isinstance(value, str):
        yield from (value, *value.splitlines())
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from words_in(inner)


def prose(text: str, report: Any) -> str:
    """What is left of a view without code, markup and the report's own data."""
    text = NOT_PROSE.sub("◦", text)
    read = "\n".join(READ_IN_TAGS.findall(text))
    text = html.unescape(re.sub(r"<[^>]*>", "◦", text) + "\n" + read).replace("\u200b", "")
    for said in sorted(set(quoted(report)), key=len, reverse=True):
        if len(said) > 1:
            text = text.replace(said, "◦")
    return text


@pytest.mark.parametrize("path", VIEWS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_japanese_view_has_no_english_in_it(path: Path) -> None:
    """Two English words in a row are a sentence that somebody forgot."""
    assert (
        ENGLISH.findall(prose(path.read_text(encoding="utf-8"), report_of(path.parent.name))) == []
    )


def report_of(name: str) -> Any:
    """What the views of this name are made of."""
    if name in SITUATIONS:
        return SITUATIONS[name]().model_dump(mode="json", by_alias=True)
    return json.loads((GOLDEN / name / "report.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "text",
    ["削除 base has this case", "<p>could not</p>", '<skipped message="below threshold"/>'],
)
def test_a_forgotten_sentence_would_be_seen(text: str) -> None:
    """The test above is able to fail."""
    assert ENGLISH.findall(prose(text, {}))
