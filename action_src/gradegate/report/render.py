"""A report in each of its formats: two view models, built once, and every view from them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal, get_args

from gradegate.locales import Locale, UnknownLanguageError, locale_of
from gradegate.model.errors import FileError, InputError
from gradegate.model.marker import carries_marker, marker
from gradegate.model.posting import Annotation, CheckOutput
from gradegate.model.report import Report, State
from gradegate.model.result import Results
from gradegate.model.runs import SideName
from gradegate.report import fit
from gradegate.report.badge import badge
from gradegate.report.case_sections import ATTENTION, Section
from gradegate.report.escape import clean, clip, one_line
from gradegate.report.fit import Measure
from gradegate.report.links import NOWHERE, Links
from gradegate.report.overview import causes_of
from gradegate.report.page.charts import charts_of
from gradegate.report.page.data import embedded
from gradegate.report.sections import CaseView
from gradegate.report.templates import render_template
from gradegate.report.view import ReportView, build

MOST_ANNOTATIONS = 200
LONGEST_TITLE = 255
LONGEST_MESSAGE = 8_000
"""In characters; GitHub takes 64 KB, and a character is at most four bytes."""


def annotations(view: ReportView, words: Locale, folder: str = ".") -> tuple[Annotation, ...]:
    """One for each case that needs attention, the most important first.

    `folder` is the project's in the repository: files are named from the top.
    """
    prefix = "" if folder in ("", ".") else f"{folder.strip('/')}/"
    cases = [
        case for section in view.sections if section.group in ATTENTION for case in section.cases
    ]
    return tuple(_annotation(case, words, prefix) for case in cases[:MOST_ANNOTATIONS])


def _annotation(case: CaseView, words: Locale, prefix: str) -> Annotation:
    said = [str(sentence) for sentence in case.why] or [case.remark or case.label]
    scores = [
        words(
            "annotation.score",
            criterion=score.name,
            base=score.base,
            head=score.head,
            verdict=score.verdict,
        )
        for score in case.scores
        if score.attention
    ]
    return Annotation(
        path=f"{prefix}{case.path.removeprefix('./')}",
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


Format = Literal["comment", "check", "summary", "html", "junit", "text", "json"]
FORMATS: tuple[str, ...] = get_args(Format)
DEFAULT_CHECK_NAME = "gradegate"
MAX_CHARS = 700
"""How much of one text a size-limited view quotes."""
EXIT_CODES = {State.PASS: 0, State.FAIL: 1, State.INCONCLUSIVE: 3}
Conclusion = Literal["success", "failure", "action_required"]
CONCLUSIONS: dict[State, Conclusion] = {
    State.PASS: "success",
    State.FAIL: "failure",
    State.INCONCLUSIVE: "action_required",
}


@dataclass(frozen=True)
class ViewOptions:
    """How a report is shown."""

    language: str = "en"
    check_name: str = DEFAULT_CHECK_NAME
    folder: str = "."
    """The project's folder in the repository: annotations name files from the top."""
    links: Links = NOWHERE


@dataclass(frozen=True)
class Views:
    """A report as everybody gets to see it."""

    json: str
    comment: str
    check: CheckOutput
    summary: str
    html: str
    junit: str
    text: str
    badge: str

    def write(self, folder: Path, results: Mapping[SideName, Results]) -> list[Path]:
        """Write every view, and the results of both sides; the paths written."""
        texts = {
            "report.json": self.json,
            "comment.md": self.comment,
            "check.md": _as_file(self.check.summary, self.check.text),
            "summary.md": self.summary,
            "report.html": self.html,
            "junit.xml": self.junit,
            "badge.json": self.badge,
        }
        for side, one in results.items():
            texts[f"{side}.results.json"] = one.model_dump_json(indent=2) + "\n"
        writable(folder)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace")
        return [folder / name for name in texts]


def render_views(report: Report, options: ViewOptions) -> Views:
    """Every view, each rendered once."""
    made = _Rendering(report, _locale(options.language), None, options.check_name, options.links)
    return Views(
        json=canonical_json(report),
        comment=made.comment(),
        check=made.check(options.folder),
        summary=made.summary(),
        html=made.html(),
        junit=made.junit(),
        text=made.text(),
        badge=badge(report, made.words, options.check_name),
    )


def render(  # noqa: PLR0913 - each is one way to show it otherwise
    report: Report,
    format: str,  # noqa: A002 - what the command line calls it
    *,
    language: str = "en",
    template_dir: Path | None = None,
    check_name: str = DEFAULT_CHECK_NAME,
    links: Links = NOWHERE,
) -> str:
    """One view as text, within the limits of where it goes."""
    made = _Rendering(report, _locale(language), template_dir, check_name, links)
    match format:
        case "json":
            return canonical_json(report)
        case "comment":
            return made.comment()
        case "check":
            return _as_file(*made.check_parts())
        case "summary":
            return made.summary()
        case "html":
            return made.html()
        case "junit":
            return made.junit()
        case "text":
            return made.text()
    message = f"no format {format!r}: write one of {', '.join(FORMATS)}"
    raise InputError(message)


def _locale(language: str) -> Locale:
    try:
        return locale_of(language)
    except UnknownLanguageError as error:
        raise InputError(str(error)) from error


def canonical_json(report: Report) -> str:
    """The `report.json` file."""
    return report.model_dump_json(indent=2) + "\n"


@dataclass(frozen=True)
class _Rendering:
    report: Report
    words: Locale
    template_dir: Path | None
    check_name: str
    links: Links = NOWHERE

    @cached_property
    def short(self) -> ReportView:
        """For views with a size limit: long texts cut, unchanged cases left out."""
        return build(self.report, self.words, max_chars=MAX_CHARS, links=self.links)

    @cached_property
    def whole(self) -> ReportView:
        """For views without one."""
        return build(self.report, self.words, include_unchanged=True, links=self.links)

    def comment(self) -> str:
        """The pull request's comment, with the line by which we find it again."""
        name = "comment.md.j2"
        text = self._fitted(name, fit.COMMENT_LIMIT, fit.characters, mark=marker(self.check_name))
        if not carries_marker(text, self.check_name):
            place = name if self.template_dir is None else self.template_dir / name
            message = (
                f"{place}: the comment must begin with its marker, or it is never found again: "
                "keep the first line of our template, {{ marker }}"
            )
            raise InputError(message)
        return text

    def check(self, folder: str) -> CheckOutput:
        """The completed check, its annotations on the repository's files."""
        summary, text = self.check_parts()
        return CheckOutput(
            conclusion=CONCLUSIONS[self.report.decision.state],
            title=clip(one_line(self.whole.title), LONGEST_TITLE),
            summary=summary,
            text=text,
            annotations=annotations(self.whole, self.words, folder),
        )

    def check_parts(self) -> tuple[str, str]:
        """The check's summary and its text."""
        summary, text = (
            self._fitted(f"check_{part}.md.j2", fit.CHECK_LIMIT, fit.size)
            for part in ("summary", "text")
        )
        return summary, text

    def summary(self) -> str:
        """The job's summary."""
        return self._fitted("summary.md.j2", fit.SUMMARY_LIMIT, fit.size)

    def html(self) -> str:
        """The page."""
        from markupsafe import Markup

        data = embedded(self.report, self.whole, self.words)
        values = {
            "view": self.whole,
            "charts": charts_of(self.report, self.words),
            "causes": causes_of(self.report, self.words),
            "data": Markup(data.text),  # noqa: S704 - no text in it can end its element
            "packed": data.packed,
        }
        return render_template("page.html.j2", values, self.words, self.template_dir)

    def junit(self) -> str:
        """For dashboards of tests."""
        return self._whole("junit.xml.j2")

    def text(self) -> str:
        """For a log."""
        return self._whole("text.txt.j2")

    def _whole(self, name: str) -> str:
        return render_template(name, {"view": self.whole}, self.words, self.template_dir)

    def _fitted(self, name: str, limit: int, measure: Measure, *, mark: str = "") -> str:
        return fit.fit(
            self.short, self._renderer(name, mark), self.words, limit=limit, measure=measure
        )

    def _renderer(self, name: str, mark: str) -> Callable[[ReportView], str]:
        from markupsafe import Markup

        values = {"marker": Markup(mark)}  # noqa: S704 - made of safe characters by its own module
        return lambda view: render_template(
            name, {**values, "view": view}, self.words, self.template_dir
        )


def _as_file(summary: str, text: str) -> str:
    return f"{summary}\n{text}"


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
