"""Arguments that differ from run to run, such as random ids: left out before calls are compared."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from gradegate.model.evalset import Case, EvalCase, FunctionCall, IntermediateData, Invocation
from gradegate.model.runs import Trace


def comparable(case: Case, trace: Trace) -> tuple[EvalCase, Trace]:
    """What the case expects and what the agent did, without the arguments that are ignored."""
    expected = tuple(_turn(turn, case.ignore_args) for turn in case.definition.turns)
    actual = tuple(_turn(turn, case.ignore_args) for turn in trace.invocations)
    return (
        case.definition.model_copy(update={"conversation": expected} if expected else {}),
        trace.model_copy(update={"invocations": actual}),
    )


def without(args: Mapping[str, Any], path: str, ignored: Sequence[str]) -> dict[str, Any]:
    """The arguments but for those that a pattern such as `*.interruptId` names, at any depth."""
    kept = {}
    for name, value in args.items():
        place = f"{path}.{name}"
        if not any(fnmatchcase(place, pattern) for pattern in ignored):
            kept[name] = without(value, place, ignored) if isinstance(value, dict) else value
    return kept


def _turn(turn: Invocation, ignored: Sequence[str]) -> Invocation:
    if turn.intermediate_data is None:
        return turn
    calls = tuple(_call(call, ignored) for call in turn.tool_calls)
    return turn.model_copy(update={"intermediate_data": IntermediateData(tool_uses=calls)})


def _call(call: FunctionCall, ignored: Sequence[str]) -> FunctionCall:
    if not call.args:
        return call
    return call.model_copy(update={"args": without(call.args, call.name or "", ignored)})
