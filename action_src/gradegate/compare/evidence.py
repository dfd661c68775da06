"""What a reader needs to see of a case that needs attention."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from gradegate.criteria import registry
from gradegate.criteria.base.judged import Judged
from gradegate.model.evalset import Case, Invocation
from gradegate.model.report import Evidence, JudgedItem, SideAnswer, ToolUse, TurnEvidence
from gradegate.model.result import CaseResult, InvocationResult
from gradegate.model.runs import ScoredRun, Trace

LONGEST_TEXT = 20_000
"""Of one quoted text; a report is read by people and posted by programs with limits."""


def evidence_of(case: Case, base: Sequence[ScoredRun], head: Sequence[ScoredRun]) -> Evidence:
    """The turns of a representative run: the first that failed on head, that passed on base."""
    before, after = _representative(base, passing=True), _representative(head, passing=False)
    turns = zip_longest(
        case.definition.conversation or (), _invocations(before), _invocations(after)
    )
    return Evidence(
        turns=tuple(
            TurnEvidence(
                asked=_clip(_asked(expected, earlier, now)),
                expected=_said(expected, wanted=True),
                base=_said(earlier),
                head=_said(now),
                judged=tuple(_judged(number, before, after)),
            )
            for number, (expected, earlier, now) in enumerate(turns)
        ),
        base_error=_error(before),
        head_error=_error(after),
    )


def _representative(runs: Sequence[ScoredRun], *, passing: bool) -> ScoredRun | None:
    wanted = [run for run in runs if (run.result.status == "passed") is passing]
    return next(iter((*wanted, *runs)), None)


def _invocations(run: ScoredRun | None) -> tuple[Invocation, ...]:
    return run.outcome.invocations if run and isinstance(run.outcome, Trace) else ()


def _error(run: ScoredRun | None) -> str | None:
    error = run.outcome.error if run and isinstance(run.outcome, Trace) else None
    return _clip(error) if error else None


def _asked(*sources: Invocation | None) -> str:
    return next((one.user_content.text for one in sources if one), "")


def _said(invocation: Invocation | None, *, wanted: bool = False) -> SideAnswer | None:
    """What was answered; an expected turn without an answer expects none in particular."""
    if invocation is None or (wanted and invocation.final_response is None):
        return None
    tools = tuple(ToolUse(name=call.name or "", args=call.args) for call in invocation.tool_calls)
    return SideAnswer(text=_clip(invocation.response_text), tools=tools)


def _judged(number: int, base: ScoredRun | None, head: ScoredRun | None) -> Iterator[JudgedItem]:
    """The judge's word on a turn wherever it is no, or differs between the sides."""
    after = head.result if head else None
    for name in sorted(after.criteria if after else ()):
        now = _by_subject(name, after, number)
        earlier = _by_subject(name, base.result if base else None, number)
        for subject, one in now.items():
            was = earlier.get(subject)
            if not one.good or (was and was.verdict != one.verdict):
                yield JudgedItem(
                    criterion=name,
                    subject=_clip(subject),
                    base=was.verdict if was else None,
                    head=one.verdict,
                    reason=_clip(one.reason) or None,
                )


def _by_subject(name: str, result: CaseResult | None, number: int) -> dict[str, Judged]:
    turn = _turn(result, name, number)
    return {one.subject: one for one in registry.evidence(name, turn)} if turn else {}


def _turn(result: CaseResult | None, name: str, number: int) -> InvocationResult | None:
    one = result.criteria.get(name) if result else None
    return one.invocations[number] if one and number < len(one.invocations) else None


def _clip(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
