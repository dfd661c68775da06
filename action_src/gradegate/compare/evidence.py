"""What a reader needs to see of a case that needs attention."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from gradegate.compare.clipping import clip, clip_middle, clip_together
from gradegate.criteria import registry
from gradegate.criteria.base.judged import Judged
from gradegate.model.evalset import Case, Invocation
from gradegate.model.report import (
    Evidence,
    JudgedItem,
    RunEvidence,
    SideAnswer,
    ToolUse,
    TurnEvidence,
)
from gradegate.model.result import CaseResult, InvocationResult, Status
from gradegate.model.runs import ScoredRun, Trace

LONGEST_TEXT = 20_000
"""Of one quoted text; a report is read by people and posted by programs with limits.

Two longer texts are compared before they are cut: what differs stays.
"""
LONGEST_QUESTION = 300
"""Of a case's first question, which every case has in the report."""


def evidence_of(case: Case, base: Sequence[ScoredRun], head: Sequence[ScoredRun]) -> Evidence:
    """The turns of a representative run: the first that failed on head, that passed on base."""
    before, after = _representative(base, passing=True), _representative(head, passing=False)
    turns = zip_longest(
        case.definition.conversation or (), _invocations(before), _invocations(after)
    )
    return Evidence(
        turns=tuple(
            _turn_evidence(expected, earlier, now).model_copy(
                update={"judged": tuple(_judged(number, before, after, case))}
            )
            for number, (expected, earlier, now) in enumerate(turns)
        ),
        base_error=_error(before),
        head_error=_error(after),
        base_runs=tuple(_runs(base)),
        head_runs=tuple(_runs(head)),
    )


def first_question(case: Case) -> str:
    """What the case begins with."""
    scenario = case.definition.conversation_scenario
    if scenario is not None:
        return clip(scenario.starting_prompt, LONGEST_QUESTION)
    turns = case.definition.turns
    return clip(turns[0].user_content.text, LONGEST_QUESTION) if turns else ""


def _runs(runs: Sequence[ScoredRun]) -> Iterator[RunEvidence]:
    """All of them, with a number for each different answer."""
    numbers: dict[object, int] = {}
    for run in runs:
        answer = _answer(run)
        number = None if answer is None else numbers.setdefault(answer, len(numbers) + 1)
        yield _run(run).model_copy(update={"answer": number})


def _answer(run: ScoredRun) -> object:
    """What was said and called in all turns, to be compared to the letter; None: nothing was."""
    if not isinstance(run.outcome, Trace) or run.outcome.error:
        return None
    said = [_said(turn) for turn in run.outcome.invocations]
    return tuple(one.model_dump_json() for one in said if one)


def _run(run: ScoredRun) -> RunEvidence:
    scores = {
        name: one.score
        for name, one in run.result.criteria.items()
        if one.applies and one.status is not Status.INFORMATIONAL
    }
    return RunEvidence(role=run.role, status=run.result.status, scores=scores)


def _turn_evidence(
    expected: Invocation | None, base: Invocation | None, head: Invocation | None
) -> TurnEvidence:
    """What was said and called; head's words are held against base's, or else the expected."""
    wanted = _said(expected, wanted=True)
    before, after = _said(base), _said(head)
    if before is not None and after is not None:
        before, after = _clipped_together(before, after)
    elif wanted is not None and after is not None:
        wanted, after = _clipped_together(wanted, after)
    return TurnEvidence(
        asked=_clip(_asked(expected, base, head)),
        expected=wanted and _clipped(wanted),
        base=before and _clipped(before),
        head=after and _clipped(after),
    )


def _clipped_together(before: SideAnswer, after: SideAnswer) -> tuple[SideAnswer, SideAnswer]:
    old, new = clip_together(before.text, after.text, LONGEST_TEXT)
    return before.model_copy(update={"text": old}), after.model_copy(update={"text": new})


def _clipped(said: SideAnswer) -> SideAnswer:
    if len(said.text) <= LONGEST_TEXT + 1:
        return said
    return said.model_copy(update={"text": _clip(said.text)})


def _rubrics(case: Case, criterion: str) -> dict[str, str]:
    """What the rubrics that a criterion asks of the case say, by their ids."""
    definition = case.definition
    listed = [definition.rubrics, *(turn.rubrics for turn in definition.conversation or ())]
    found = [rubric for own in listed for rubric in own or ()]
    entry = case.config.criteria.get(criterion)
    if entry is not None and criterion in registry.built():
        found += getattr(registry.parse(criterion, entry), "rubrics", ())
    return {one.rubric_id: one.text for one in found if one.text}


def _representative(runs: Sequence[ScoredRun], *, passing: bool) -> ScoredRun | None:
    wanted = [run for run in runs if (run.result.status == "passed") is passing]
    return next(iter((*wanted, *runs)), None)


def _invocations(run: ScoredRun | None) -> tuple[Invocation, ...]:
    return run.outcome.invocations if run and isinstance(run.outcome, Trace) else ()


def _error(run: ScoredRun | None) -> str | None:
    error = run.outcome.error if run and isinstance(run.outcome, Trace) else None
    return clip_middle(error, LONGEST_TEXT) if error else None


def _asked(*sources: Invocation | None) -> str:
    return next((one.user_content.text for one in sources if one), "")


def _said(invocation: Invocation | None, *, wanted: bool = False) -> SideAnswer | None:
    """What was answered; an expected turn without an answer expects none in particular."""
    if invocation is None or (wanted and invocation.final_response is None):
        return None
    tools = tuple(ToolUse(name=call.name or "", args=call.args) for call in invocation.tool_calls)
    return SideAnswer(text=invocation.response_text, tools=tools)


def _judged(
    number: int, base: ScoredRun | None, head: ScoredRun | None, case: Case
) -> Iterator[JudgedItem]:
    """The judge's word on a turn wherever it is no, or differs between the sides."""
    after = head.result if head else None
    for name in sorted(after.criteria if after else ()):
        now = _by_subject(name, after, number)
        rubrics = _rubrics(case, name) if now else {}
        earlier = _by_subject(name, base.result if base else None, number)
        for subject, one in now.items():
            was = earlier.get(subject)
            if not one.good or (was and was.verdict != one.verdict):
                yield JudgedItem(
                    criterion=name,
                    subject=_clip(rubrics.get(subject, subject)),
                    rubric_id=subject if subject in rubrics else None,
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
    return clip(text, LONGEST_TEXT)
