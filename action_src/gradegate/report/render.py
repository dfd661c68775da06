"""A report in each of its formats."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from gradegate.model.errors import InputError
from gradegate.model.marker import carries_marker, marker
from gradegate.model.report import Report
from gradegate.report import budget
from gradegate.report.budget import Measure
from gradegate.report.templates import render_template
from gradegate.report.view import ReportView, build
from gradegate.report.words import Words, words_of

Format = Literal["comment", "check", "summary", "html", "junit", "text", "json"]
FORMATS: tuple[str, ...] = get_args(Format)
DEFAULT_CHECK_NAME = "gradegate"
ROOM = 700
"""How much of one text a size-limited view quotes."""


def render(
    report: Report,
    format: str,  # noqa: A002 - what the command line calls it
    *,
    language: str = "en",
    template_dir: Path | None = None,
    check_name: str = DEFAULT_CHECK_NAME,
) -> str:
    """The report as text, within the limits of where that format goes."""
    words = words_of(language)
    match format:
        case "json":
            return canonical_json(report)
        case "comment":
            return comment(report, words, check_name, template_dir)
        case "check":
            summary, text = check_parts(report, words, template_dir)
            return f"{summary}\n{text}"
        case "summary":
            limits = (budget.SUMMARY_LIMIT, budget.size)
            return _fitted(report, words, "summary.md.j2", template_dir, limits)
        case "html":
            return _whole(report, words, "page.html.j2", template_dir)
        case "junit":
            return _whole(report, words, "junit.xml.j2", template_dir)
        case "text":
            return _whole(report, words, "text.txt.j2", template_dir)
    message = f"no format {format!r}: write one of {', '.join(FORMATS)}"
    raise InputError(message)


def canonical_json(report: Report) -> str:
    """The `report.json` file."""
    return report.model_dump_json(indent=2) + "\n"


def comment(report: Report, words: Words, check_name: str, template_dir: Path | None) -> str:
    """The pull request's comment, with the line by which we find it again."""
    name = "comment.md.j2"
    limits = (budget.COMMENT_LIMIT, budget.characters)
    text = _fitted(report, words, name, template_dir, limits, marker=marker(check_name))
    if not carries_marker(text, check_name):
        place = name if template_dir is None else template_dir / name
        message = (
            f"{place}: the comment must begin with its marker, or it is never found again: "
            "keep the first line of our template, {{ marker }}"
        )
        raise InputError(message)
    return text


def check_parts(report: Report, words: Words, template_dir: Path | None = None) -> tuple[str, str]:
    """The check's summary and its text."""
    limits = (budget.CHECK_LIMIT, budget.size)
    summary = _fitted(report, words, "check_summary.md.j2", template_dir, limits)
    return summary, _fitted(report, words, "check_text.md.j2", template_dir, limits)


def _whole(report: Report, words: Words, name: str, folder: Path | None) -> str:
    view = build(report, words, everything=True)
    return render_template(name, {"view": view}, words, folder)


def _fitted(  # noqa: PLR0913 - each format differs in just these
    report: Report,
    words: Words,
    name: str,
    folder: Path | None,
    limits: tuple[int, Measure],
    *,
    marker: str = "",
) -> str:
    limit, measure = limits
    view = build(report, words, room=ROOM)
    return budget.fit(
        view, _renderer(name, words, folder, marker), words, limit=limit, measure=measure
    )


def _renderer(
    name: str, words: Words, folder: Path | None, mark: str
) -> Callable[[ReportView], str]:
    from markupsafe import Markup

    values = {"marker": Markup(mark)}  # noqa: S704 - made of safe characters by its own module
    return lambda view: render_template(name, {**values, "view": view}, words, folder)
