"""A report where people and programs look for it: files, comment, check."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from gradegate.model.errors import FileError
from gradegate.model.report import Change, Report, State, Verdict
from gradegate.model.result import Results
from gradegate.model.settings import CommentWhen
from gradegate.ports import CheckOutput, Forge, Posted, Skipped
from gradegate.report.check import check_output
from gradegate.report.render import render

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
class Style:
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
    style: Style,
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


def check_of(report: Report, style: Style) -> CheckOutput:
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
    report: Report, forge: Forge, pull_request: int, when: CommentWhen, style: Style
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
