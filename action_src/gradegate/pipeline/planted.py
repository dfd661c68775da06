"""Planted runs: what an agent would leave behind that does nothing, or not what it should."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gradegate.criteria.base.criterion import RunPart
from gradegate.model.evalset import Case, Content, FunctionCall, IntermediateData, Invocation, Part
from gradegate.model.runs import Trace

REFUSAL = "I cannot help with that."
CHANGED = "changed by gradegate audit"
UNEXPECTED = FunctionCall(name="gradegate_audit", args={})


class Plant(StrEnum):
    """What is planted."""

    NOTHING = "nothing"
    REFUSAL = "refusal"
    ECHO = "echo"
    OTHER = "other"
    """Another case's answers and calls."""
    REORDERED = "reordered"
    ALTERED = "altered"
    """One argument of a call is changed."""
    UNEXPECTED = "unexpected"
    """A call where none is expected."""


WITHOUT_AN_ANSWER = (Plant.NOTHING, Plant.REFUSAL, Plant.ECHO)
OF_AGENTS = (*WITHOUT_AN_ANSWER, Plant.OTHER)
"""What an agent may do on the whole; the others are about its calls alone."""


@dataclass(frozen=True)
class PlantedRun:
    """A run of a case that never happened."""

    plant: Plant
    trace: Trace
    wrong: frozenset[RunPart]
    """What of it is not as the case expects."""


def planted_runs(case: Case, others: Sequence[Case]) -> Iterator[PlantedRun]:
    """Every run to plant for a case with written turns; the first of `others` lends its answers."""
    turns = case.definition.turns
    yield _run(case, Plant.NOTHING, [_turn(turn, "") for turn in turns])
    yield _run(case, Plant.REFUSAL, [_turn(turn, REFUSAL) for turn in turns])
    yield _run(case, Plant.ECHO, [_turn(turn, turn.user_content.text) for turn in turns])
    other = _other(case, others)
    if other is not None:
        lent = [other.definition.turns[n % len(other.definition.turns)] for n in range(len(turns))]
        answers = zip(turns, lent, strict=True)
        made = [_turn(turn, one.response_text, one.tool_calls) for turn, one in answers]
        yield _run(case, Plant.OTHER, made)
    yield from _with_other_calls(case)


def _with_other_calls(case: Case) -> Iterator[PlantedRun]:
    """The expected answers, on the way to which something else was called."""
    turns = case.definition.turns
    expected = [list(turn.tool_calls) for turn in turns]
    changes = {
        Plant.REORDERED: [calls[::-1] for calls in expected],
        Plant.ALTERED: [_altered(calls) for calls in expected],
    }
    if not any(expected) and any(turn.intermediate_data for turn in turns):
        changes[Plant.UNEXPECTED] = [[UNEXPECTED] for _ in turns]
    for plant, changed in changes.items():
        if changed != expected:
            pairs = zip(turns, changed, strict=True)
            made = [_turn(turn, turn.response_text, calls) for turn, calls in pairs]
            yield _run(case, plant, made)


def _run(case: Case, plant: Plant, turns: Sequence[Invocation]) -> PlantedRun:
    trace = Trace(
        suite=case.suite,
        eval_set=case.eval_set,
        eval_id=case.eval_id,
        invocations=tuple(turns),
    )
    return PlantedRun(plant, trace, frozenset(_wrong(case.definition.turns, turns)))


def _wrong(expected: Iterable[Invocation], planted: Iterable[Invocation]) -> Iterator[RunPart]:
    """What differs; where nothing is expected, nothing is as expected."""
    for want, have in zip(expected, planted, strict=True):
        if want.final_response is None or want.response_text != have.response_text:
            yield "answer"
        if want.intermediate_data is None or _called(want) != _called(have):
            yield "calls"


def _called(turn: Invocation) -> list[tuple[str | None, dict[str, Any] | None]]:
    return [(call.name, call.args) for call in turn.tool_calls]


def _turn(expected: Invocation, answer: str, calls: Iterable[FunctionCall] = ()) -> Invocation:
    return Invocation(
        user_content=expected.user_content,
        final_response=Content(role="model", parts=(Part(text=answer),)) if answer else None,
        intermediate_data=IntermediateData(tool_uses=tuple(calls)),
    )


def _other(case: Case, others: Sequence[Case]) -> Case | None:
    """The first that expects other answers."""
    own = _answers(case)
    return next((one for one in others if any(_answers(one)) and _answers(one) != own), None)


def _answers(case: Case) -> list[str]:
    return [turn.response_text for turn in case.definition.turns]


def _altered(calls: Sequence[FunctionCall]) -> list[FunctionCall]:
    """The same calls, the first argument of the first that has any changed."""
    at = next((place for place, call in enumerate(calls) if call.args), None)
    if at is None:
        return list(calls)
    args = calls[at].args or {}
    changed = {**args, next(iter(args)): CHANGED}
    return [*calls[:at], calls[at].model_copy(update={"args": changed}), *calls[at + 1 :]]
