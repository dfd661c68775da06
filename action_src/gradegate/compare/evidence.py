"""What a reader needs to see of a case that needs attention."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from gradegate import numbers
from gradegate.model.case import Case
from gradegate.model.evalset import Invocation
from gradegate.model.evaluation import Scored
from gradegate.model.report import Evidence, Judged, Said, ToolUse, Turn
from gradegate.model.result import CaseResult, InvocationResult
from gradegate.model.trace import Trace

LONGEST_TEXT = 20_000
"""Of one quoted text; a report is read by people and posted by programs with limits."""


def evidence_of(case: Case, base: Sequence[Scored], head: Sequence[Scored]) -> Evidence:
    """The turns of one telling run a side: the first that failed on head, that passed on base."""
    before, after = _telling(base, passing=True), _telling(head, passing=False)
    turns = zip_longest(
        case.definition.conversation or (), _invocations(before), _invocations(after)
    )
    return Evidence(
        turns=tuple(
            Turn(
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


def _telling(runs: Sequence[Scored], *, passing: bool) -> Scored | None:
    wanted = [run for run in runs if (run.result.status == "passed") is passing]
    return next(iter((*wanted, *runs)), None)


def _invocations(run: Scored | None) -> tuple[Invocation, ...]:
    return run.outcome.invocations if run and isinstance(run.outcome, Trace) else ()


def _error(run: Scored | None) -> str | None:
    error = run.outcome.error if run and isinstance(run.outcome, Trace) else None
    return _clip(error) if error else None


def _asked(*sources: Invocation | None) -> str:
    return next((one.user_content.text for one in sources if one), "")


def _said(invocation: Invocation | None, *, wanted: bool = False) -> Said | None:
    """What was answered; an expected turn without an answer expects none in particular."""
    if invocation is None or (wanted and invocation.final_response is None):
        return None
    tools = tuple(ToolUse(name=call.name or "", args=call.args) for call in invocation.tool_calls)
    return Said(text=_clip(invocation.response_text), tools=tools)


def _judged(number: int, base: Scored | None, head: Scored | None) -> Iterator[Judged]:
    """The judge's word on a turn wherever it is no, or differs between the sides."""
    after = head.result if head else None
    for name in sorted(after.criteria if after else ()):
        now = _verdicts(_turn(after, name, number))
        earlier = _verdicts(_turn(base.result if base else None, name, number))
        for subject, (verdict, reason, is_good) in now.items():
            was = earlier.get(subject)
            if not is_good or (was and was[0] != verdict):
                yield Judged(
                    criterion=name,
                    subject=_clip(subject),
                    base=was[0] if was else None,
                    head=verdict,
                    reason=_clip(reason) or None,
                )


def _turn(result: CaseResult | None, name: str, number: int) -> InvocationResult | None:
    one = result.criteria.get(name) if result else None
    return one.invocations[number] if one and number < len(one.invocations) else None


def _verdicts(turn: InvocationResult | None) -> dict[str, tuple[str, str, bool]]:
    """What a judge said of a turn: subject → verdict, reason, whether that is good.

    The answer as a whole has no name.
    """
    if turn is None:
        return {}
    found: dict[str, tuple[str, str, bool]] = {}
    for rubric in turn.rubrics:
        is_good = bool(rubric.score)
        verdict = numbers.NOTHING if rubric.score is None else "yes" if is_good else "no"
        found[rubric.rubric_id] = (verdict, rubric.rationale or "", is_good)
    for one in turn.details.get("sentences", ()):
        found[one["sentence"]] = (one["label"], one.get("reasoning") or "", bool(one["grounded"]))
    if "verdict" in turn.details:
        verdict = str(turn.details["verdict"])
        reason = str(turn.details.get("reasoning") or "")
        found[""] = (verdict, reason, bool(turn.score))
    return found


def _clip(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
