"""A report in each of its formats.

The report as a completed check: conclusion, title, texts, and remarks on the cases' lines.

A report where people and programs look for it: files, comment, check.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal, get_args

from gradegate.locales import Locale, locale_of
from gradegate.model.errors import FileError, InputError
from gradegate.model.report import Change, Report, State, Verdict
from gradegate.model.result import Results
from gradegate.model.settings import CommentWhen
from gradegate.ports import Annotation, CheckOutput, Forge, Posted, Skipped, carries_marker, marker
from gradegate.report import fit
from gradegate.report.case_sections import ATTENTION, Section
from gradegate.report.escape import clean, clip, one_line
from gradegate.report.fit import Measure
from gradegate.report.templates import render_template
from gradegate.report.view import CaseView, ReportView, build

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
    words = locale_of(language)
    match format:
        case "json":
            return canonical_json(report)
        case "comment":
            return comment(report, words, check_name, template_dir)
        case "check":
            summary, text = check_parts(report, words, template_dir)
            return f"{summary}\n{text}"
        case "summary":
            limits = (fit.SUMMARY_LIMIT, fit.size)
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


def comment(report: Report, words: Locale, check_name: str, template_dir: Path | None) -> str:
    """The pull request's comment, with the line by which we find it again."""
    name = "comment.md.j2"
    limits = (fit.COMMENT_LIMIT, fit.characters)
    text = _fitted(report, words, name, template_dir, limits, marker=marker(check_name))
    if not carries_marker(text, check_name):
        place = name if template_dir is None else template_dir / name
        message = (
            f"{place}: the comment must begin with its marker, or it is never found again: "
            "keep the first line of our template, {{ marker }}"
        )
        raise InputError(message)
    return text


def check_parts(report: Report, words: Locale, template_dir: Path | None = None) -> tuple[str, str]:
    """The check's summary and its text."""
    limits = (fit.CHECK_LIMIT, fit.size)
    summary = _fitted(report, words, "check_summary.md.j2", template_dir, limits)
    return summary, _fitted(report, words, "check_text.md.j2", template_dir, limits)


def _whole(report: Report, words: Locale, name: str, folder: Path | None) -> str:
    view = build(report, words, everything=True)
    return render_template(name, {"view": view}, words, folder)


def _fitted(  # noqa: PLR0913 - each format differs in just these
    report: Report,
    words: Locale,
    name: str,
    folder: Path | None,
    limits: tuple[int, Measure],
    *,
    marker: str = "",
) -> str:
    limit, measure = limits
    view = build(report, words, room=ROOM)
    return fit.fit(
        view, _renderer(name, words, folder, marker), words, limit=limit, measure=measure
    )


def _renderer(
    name: str, words: Locale, folder: Path | None, mark: str
) -> Callable[[ReportView], str]:
    from markupsafe import Markup

    values = {"marker": Markup(mark)}  # noqa: S704 - made of safe characters by its own module
    return lambda view: render_template(name, {**values, "view": view}, words, folder)


MOST_ANNOTATIONS = 200
LONGEST_TITLE = 255
LONGEST_MESSAGE = 8_000
"""In characters; GitHub takes 64 KB, and a character is at most four bytes."""

Conclusion = Literal["success", "failure", "action_required"]
CONCLUSIONS: dict[State, Conclusion] = {
    State.PASS: "success",
    State.FAIL: "failure",
    State.INCONCLUSIVE: "action_required",
}


def check_output(report: Report, *, language: str = "en") -> CheckOutput:
    """The check as GitHub is to show it."""
    words = locale_of(language)
    view = build(report, words)
    summary, text = check_parts(report, words)
    return CheckOutput(
        conclusion=CONCLUSIONS[report.decision.state],
        title=clip(one_line(view.title), LONGEST_TITLE),
        summary=summary,
        text=text,
        annotations=annotations(view, words),
    )


def annotations(view: ReportView, words: Locale) -> tuple[Annotation, ...]:
    """One remark for each case that needs attention, the most important first."""
    cases = [
        case for section in view.sections if section.group in ATTENTION for case in section.cases
    ]
    return tuple(_annotation(case, words) for case in cases[:MOST_ANNOTATIONS])


def _annotation(case: CaseView, words: Locale) -> Annotation:
    said = [str(sentence) for sentence in case.why] or [case.remark or case.label]
    scores = [
        f"{score.name}: {score.base} → {score.head} ({score.verdict})"
        for score in case.scores
        if score.attention
    ]
    return Annotation(
        path=case.path,
        line=max(case.line, 1),
        level=_level(case),
        title=clip(
            one_line(words("annotation.title", case=case.name, label=case.label)), LONGEST_TITLE
        ),
        message=clip(clean("\n".join([*said, *scores])), LONGEST_MESSAGE),
    )


def _level(case: CaseView) -> Literal["notice", "warning", "failure"]:
    if case.blocking:
        return "failure"
    return "notice" if case.group is Section.REMOVED else "warning"


VIEWS = {
    "report.json": "json",
    "comment.md": "comment",
    "check.md": "check",
    "summary.md": "summary",
    "report.html": "html",
    "junit.xml": "junit",
}
QUIET_VERDICTS = frozenset({Verdict.UNCHANGED, Verdict.UNCERTAIN})


@dataclass(frozen=True)
class ViewOptions:
    """How a report is shown."""

    language: str = "en"
    check_name: str = "gradegate"
    folder: str = "."
    """The project's folder in the repository: annotations name files from the top."""


def writable(folder: Path) -> Path:
    """The folder, made where it is missing: found out before the work, not after it.

    Raises:
        FileError: nothing can be written there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        message = f"cannot be written to: {error.strerror}; name another folder"
        raise FileError(folder, message) from error


def write_files(
    report: Report,
    folder: Path,
    style: ViewOptions,
    *,
    head: Results | None = None,
    base: Results | None = None,
) -> list[Path]:
    """Write every view and both sides' results; the paths written."""
    writable(folder)
    texts = {
        name: render(report, view, language=style.language, check_name=style.check_name)
        for name, view in VIEWS.items()
    }
    for name, results in (("head.results.json", head), ("base.results.json", base)):
        if results is not None:
            texts[name] = results.model_dump_json(indent=2) + "\n"
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace")
    return [folder / name for name in texts]


def comment_wanted(report: Report, when: CommentWhen) -> bool:
    """Whether the pull request gets a comment where it has none yet."""
    match when:
        case "always":
            return True
        case "never":
            return False
        case "failures":
            return report.decision.state is not State.PASS
        case "changes":
            return report.decision.state is not State.PASS or _has_changes(report)


def _has_changes(report: Report) -> bool:
    return any(
        case.change is not Change.SAME
        or any(one.verdict not in QUIET_VERDICTS for one in case.criteria.values())
        for case in report.cases
    )


def check_of(report: Report, style: ViewOptions) -> CheckOutput:
    """The completed check, its annotations on the repository's files."""
    output = check_output(report, language=style.language)
    prefix = "" if style.folder in ("", ".") else f"{style.folder.strip('/')}/"
    return output._replace(
        annotations=tuple(
            one._replace(path=f"{prefix}{one.path.removeprefix('./')}")
            for one in output.annotations
        )
    )


def post_comment(
    report: Report, forge: Forge, pull_request: int, when: CommentWhen, style: ViewOptions
) -> Posted | Skipped:
    """Write or edit the pull request's comment, as the settings want it."""
    if when == "never":
        return Skipped("comment: the settings want none")
    body = render(report, "comment", language=style.language, check_name=style.check_name)
    return forge.comment(pull_request, body, create=comment_wanted(report, when))


def outputs_of(report: Report, folder: Path) -> dict[str, str]:
    """The step's outputs, but for addresses."""
    counts = {
        verdict: sum(
            any(one.verdict is verdict for one in case.criteria.values()) for case in report.cases
        )
        + sum(one.verdict is verdict and not one.informational for one in report.criteria)
        for verdict in (Verdict.REGRESSED, Verdict.IMPROVED)
    }
    return {
        "decision": report.decision.state.value,
        "regressions": str(counts[Verdict.REGRESSED]),
        "improvements": str(counts[Verdict.IMPROVED]),
        "report": str(folder / "report.json"),
        "html": str(folder / "report.html"),
    }


EXIT_CODES = {State.PASS: 0, State.FAIL: 1, State.INCONCLUSIVE: 3}
