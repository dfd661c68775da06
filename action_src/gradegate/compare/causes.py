"""Why a case got worse, in words that cases with the same cause share.

Every case in trouble has one or more candidates; it gets the one that explains most cases, so
that seven hundred cases that lack one call are one cause and not seven hundred.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from gradegate.compare.pairing import Pair
from gradegate.criteria.tool_trajectory import MatchType, ToolTrajectory
from gradegate.model.notice import Notice, notice
from gradegate.model.report import CaseComparison, JudgedItem, SideAnswer, TurnEvidence, Verdict
from gradegate.model.trajectory import Mark, Step, steps

_INDEX = re.compile(r"\[\d+\]")
_LONGEST = 300
_RUBRIC = {"yes", "no"}


def with_causes(
    cases: Sequence[CaseComparison], pairs: Sequence[Pair]
) -> tuple[CaseComparison, ...]:
    """The cases, each that is in trouble with its cause."""
    found = [candidates(case, pair) for case, pair in zip(cases, pairs, strict=True)]
    shared = Counter(text for own in found for text in {told.text for told in own})
    return tuple(
        case.model_copy(update={"cause": max(own, key=lambda told: shared[told.text])})
        if own
        else case
        for case, own in zip(cases, found, strict=True)
    )


def candidates(case: CaseComparison, pair: Pair) -> tuple[Notice, ...]:
    """What could be the cause: all of the most telling kind that there is, in order."""
    trouble = _in_trouble(case)
    if not trouble:
        return ()
    if case.evidence.head_error:
        return (notice("cause.crashed", error=last_line(case.evidence.head_error)),)
    rule = _rule(pair)
    calls = tuple(_calls(case, rule)) if rule is not None else ()
    judged = tuple(_judged(case, trouble))
    kinds = (calls, judged) if ToolTrajectory.name in trouble else (judged, calls)
    scores = tuple(notice("cause.score", criterion=name) for name in trouble)
    return next(kind for kind in (*kinds, scores) if kind)


def last_line(error: str) -> str:
    """What an agent said last before it failed: of a log or a traceback the line that tells."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    return lines[-1][:_LONGEST] if lines else ""


def _in_trouble(case: CaseComparison) -> list[str]:
    """The criteria that got worse; else those below their thresholds."""
    worse = [name for name, one in case.criteria.items() if one.verdict is Verdict.REGRESSED]
    quiet = {Verdict.FLAKY, Verdict.GONE}
    return worse or [
        name
        for name, one in case.criteria.items()
        if one.verdict not in quiet and (one.falls_short or _failed_all(one.passed, one.runs))
    ]


def _failed_all(passed: tuple[int, int], runs: tuple[int, int]) -> bool:
    return runs[1] > 0 and passed[1] == 0


def _rule(pair: Pair) -> ToolTrajectory | None:
    """How the case's calls are compared; exactly, where no criterion asks."""
    if pair.head is None:
        return None
    return ToolTrajectory.as_far_as_valid(pair.head.config.criteria.get(ToolTrajectory.name, 1.0))


def _calls(case: CaseComparison, rule: ToolTrajectory) -> Iterator[Notice]:
    """How head's calls differ from base's, or else from the expected ones."""
    turns = [turn for turn in case.evidence.turns if turn.head is not None]
    against_base = [one for turn in turns for one in _steps(turn, turn.base) if _counts(one, rule)]
    for step in against_base:
        yield _told(step, against="base")
    if not against_base:
        for turn in turns:
            for step in _steps(turn, turn.expected):
                if _counts(step, rule):
                    yield _told(step, against="expected")


def _steps(turn: TurnEvidence, before: SideAnswer | None) -> tuple[Step, ...]:
    if before is None or turn.head is None:
        return ()
    return steps(before.tools, turn.head.tools)


def _counts(step: Step, rule: ToolTrajectory) -> bool:
    """Whether the case's own rule minds the difference."""
    match step.mark:
        case Mark.SAME:
            return False
        case Mark.CHANGED:
            return not rule.ignore_args
        case Mark.ADDED:
            return rule.match_type is MatchType.EXACT
        case Mark.MOVED:
            return rule.match_type is not MatchType.ANY_ORDER
        case Mark.MISSING:
            return True


def _told(step: Step, *, against: Literal["base", "expected"]) -> Notice:
    place = step.after or step.before
    tool = place.call.name if place else ""
    was_there = against == "base"
    match step.mark:
        case Mark.CHANGED:
            path = _INDEX.sub("[]", step.changes[0].path)
            return notice("cause.argument", tool=tool, path=path or "args")
        case Mark.MOVED:
            return notice("cause.call_moved", tool=tool)
        case Mark.ADDED:
            return notice("cause.call_new" if was_there else "cause.call_unexpected", tool=tool)
    return notice("cause.call_gone" if was_there else "cause.call_missing", tool=tool)


def _judged(case: CaseComparison, trouble: Sequence[str]) -> Iterator[Notice]:
    for turn in case.evidence.turns:
        for one in turn.judged:
            if one.criterion in trouble and one.head != one.base:
                yield _judged_as(one)


def _judged_as(one: JudgedItem) -> Notice:
    if one.subject and one.head in _RUBRIC:
        return notice("cause.rubric", rubric=one.subject[:_LONGEST])
    if one.subject:
        return notice("cause.sentence", criterion=one.criterion)
    return notice("cause.answer", criterion=one.criterion)
