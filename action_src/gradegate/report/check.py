"""The report as a completed check: conclusion, title, texts, and remarks on the cases' lines."""

from typing import Literal

from gradegate.model.report import Report, State
from gradegate.ports import Annotation, CheckOutput
from gradegate.report.escape import clean, clip, one_line
from gradegate.report.groups import ATTENTION, Group
from gradegate.report.render import check_parts
from gradegate.report.view import CaseView, ReportView, build
from gradegate.report.words import Words, words_of

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
    words = words_of(language)
    view = build(report, words)
    summary, text = check_parts(report, words)
    return CheckOutput(
        conclusion=CONCLUSIONS[report.decision.state],
        title=clip(one_line(view.title), LONGEST_TITLE),
        summary=summary,
        text=text,
        annotations=annotations(view, words),
    )


def annotations(view: ReportView, words: Words) -> tuple[Annotation, ...]:
    """One remark for each case that needs attention, the most important first."""
    cases = [
        case for section in view.sections if section.group in ATTENTION for case in section.cases
    ]
    return tuple(_annotation(case, words) for case in cases[:MOST_ANNOTATIONS])


def _annotation(case: CaseView, words: Words) -> Annotation:
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
    return "notice" if case.group is Group.REMOVED else "warning"
