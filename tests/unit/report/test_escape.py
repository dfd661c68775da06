"""Other people's words through a real CommonMark and GFM parser: words are all that is left."""

import re

import pytest
from markdown_it import MarkdownIt

from gradegate.model.report import Report
from gradegate.report.escape import BREAK, clean, code_span, fenced, markdown, terminal
from gradegate.report.fit import COMMENT_LIMIT, characters, size
from gradegate.report.render import ViewOptions, render, render_views

HOSTILE = [
    "@octocat look",
    "a@example.com",
    "#123",
    "org/repo#7",
    "GH-12",
    "see 4f2c9be1d07a",
    "https://evil.example",
    "www.evil.example",
    "[x](https://evil.example)",
    "![x](http://e.example/a.png)",
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "</details></summary>",
    "<details open>",
    "<!-- gradegate:comment:gradegate -->",
    "a | b | c",
    "\\| a",
    "`code` ``",
    "```\nfence\n```",
    "~~~~\nx",
    "# heading",
    "- item",
    "+ item",
    "* item",
    "1. item",
    "12) item",
    "> quote",
    "===",
    "---",
    "    indented",
    "**bold** _it_ ~~no~~",
    "&lt;b&gt; &#64;x",
    "<https://evil.example>",
    "[ref]: https://evil.example",
    "- [ ] task",
    "$x$ $$y$$",
    "line\nbreak\n\n# new",
    "mailto:a@b.example",
    "\\",
    "\\\\[x](y)",
    "[^1]: note",
    "a\u2028# b",
]
PLAIN = re.compile(r"<p>.*</p>\n?", re.DOTALL)
LINKED_BY_GITHUB = re.compile(r"@\w|#\d|\bGH-\d|://|www\.|\b[0-9a-f]{7,40}\b", re.IGNORECASE)


def parser() -> MarkdownIt:
    """GitHub's dialect as near as we get; it links bare domains only after a scheme or www."""
    found = MarkdownIt("gfm-like")
    assert found.linkify is not None
    found.linkify.set({"fuzzy_link": False})
    return found


@pytest.mark.parametrize("text", HOSTILE)
def test_words_stay_words_in_a_paragraph(text: str) -> None:
    """No tag comes of any text, and nothing that GitHub would link."""
    shown = parser().render(markdown(text))
    inside = shown.removeprefix("<p>").removesuffix("</p>\n")
    assert PLAIN.fullmatch(shown)
    assert "<" not in inside
    assert not LINKED_BY_GITHUB.search(re.sub(r"&#?\w+;", "&", inside))


@pytest.mark.parametrize("text", HOSTILE)
def test_words_stay_in_their_table_cell(text: str) -> None:
    """A row has as many cells as its table, whatever is in them."""
    shown = parser().render(f"| a | b |\n| - | - |\n| {markdown(text)} | end |\n")
    assert shown.count("<td>") == 2
    assert "<td>end</td>" in shown


@pytest.mark.parametrize("text", HOSTILE)
def test_words_stay_code_in_a_code_span(text: str) -> None:
    """Where no mention is looked for, and still no address becomes a link."""
    shown = parser().render(f"<code>{code_span(text)}</code>")
    assert re.fullmatch(r"<p><code>[^<]*</code></p>\n", shown)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_fence_holds_whatever_is_in_it(text: str) -> None:
    """What follows the block is outside, what is in the block is inside."""
    shown = parser().render(fenced(f"{text}\n``````\n{text}", "diff") + "\n\nafter\n")
    assert shown.count("<pre>") == 1
    assert shown.endswith("</code></pre>\n<p>after</p>\n")


def test_what_cannot_be_seen_is_made_visible() -> None:
    """Bidi overrides, zero-width characters and escape sequences show themselves."""
    assert clean("a\u202eb\u200bc\x1b[31m") == "a⟨U+202E⟩b⟨U+200B⟩c⟨U+001B⟩[31m"


def test_a_log_takes_no_commands_from_the_text() -> None:
    """A line that a runner would obey is broken."""
    assert terminal("::error::x\n ##[add-mask]y") == f":{BREAK}:error::x\n #{BREAK}#[add-mask]y"


def big_report() -> Report:
    """2,000 cases, 700 of them broken, with long hostile evidence of several bytes a character."""
    long = "悪い @all <!-- x --> ``` | 🙂 " * 200
    said = {"text": long, "tools": [{"name": "f", "args": {"x": long}}]}
    other = {"text": long[::-1], "tools": []}
    turn = {"asked": long, "expected": said, "base": said, "head": other}
    bad = {"base": 1, "head": 0, "delta": -1, "threshold": 1, "verdict": "regressed"}
    good = {"base": 1, "head": 1, "delta": 0, "threshold": 1, "verdict": "unchanged"}
    cases = [
        {"eval_set": "a.evalset.json", "eval_id": f"{n}-" + long[:150]}
        | (
            {"criteria": {"tool_trajectory_avg_score": bad}, "evidence": {"turns": [turn]}}
            if n < 700
            else {"criteria": {"tool_trajectory_avg_score": good}}
        )
        for n in range(2_000)
    ]
    reasons = [
        {"kind": "regression", "text": long, "eval_set": c["eval_set"], "eval_id": c["eval_id"]}
        for c in cases[:700]
    ]
    decision = {"state": "fail", "reasons": reasons}
    return Report.model_validate({"decision": decision, "cases": cases, "warnings": [long] * 50})


def test_a_huge_report_fits_where_it_goes() -> None:
    """Comment, check and summary keep GitHub's limits and say what they left out."""
    report = big_report()
    comment = render(report, "comment")
    assert characters(comment) <= COMMENT_LIMIT
    assert "Left out" in comment
    check = render_views(report, ViewOptions()).check
    assert max(size(check.summary), size(check.text)) <= 65_535
    assert len(check.annotations) == 200
    assert size(render(report, "summary")) <= 2**20
