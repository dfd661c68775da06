from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from pydantic import ValidationError

from gradegate.criteria.tool_trajectory import ToolTrajectory
from gradegate.model.evalset import EvalCase
from gradegate.model.question import Question, Votes
from gradegate.model.result import CriterionResult, Status
from gradegate.model.runs import Trace

Call = tuple[str, dict[str, Any] | None]
Calls = Sequence[Call]

A: Call = ("search", {"q": "a"})
B: Call = ("search", {"q": "b"})
C: Call = ("book", {})


async def nobody(question: Question[Any], samples: int) -> Votes[Any]:
    """No judge is asked."""
    raise AssertionError(f"asked for {samples} samples of {question.kind}")


def turn(calls: Calls, *, as_events: bool = False) -> dict[str, Any]:
    """A turn in which these tools were called, in either of ADK's shapes."""
    made = [{"name": name, "args": args} for name, args in calls]
    data: dict[str, Any] = {"tool_uses": made}
    if as_events:
        parts = [{"text": "let me see"}, *({"functionCall": call} for call in made)]
        data = {"invocationEvents": [{"author": "agent", "content": {"parts": parts}}]}
    return {"user_content": {"parts": [{"text": "?"}]}, "intermediate_data": data}


def trace_of(turns: Sequence[dict[str, Any]]) -> Trace:
    """What the agent did."""
    return Trace.model_validate({"eval_set": "s", "eval_id": "c", "invocations": turns})


async def scored(
    expected: Sequence[Calls], actual: Sequence[Calls], **options: Any
) -> CriterionResult:
    """The result of a case that expects these calls, turn by turn."""
    case = EvalCase.model_validate({"eval_id": "c", "conversation": [turn(e) for e in expected]})
    criterion = ToolTrajectory.model_validate({"threshold": 1.0, **options})
    return await criterion.score(case, trace_of([turn(a) for a in actual]), nobody)


class Row(NamedTuple):
    """Calls of one turn, and which match types they satisfy."""

    what: str
    expected: Calls
    actual: Calls
    exact: bool
    in_order: bool
    any_order: bool


ROWS = (
    Row("the same calls", [A, B], [A, B], exact=True, in_order=True, any_order=True),
    Row("nothing, as expected", [], [], exact=True, in_order=True, any_order=True),
    Row("a call where none is expected", [], [A], exact=False, in_order=True, any_order=True),
    Row("no call where one is expected", [A], [], exact=False, in_order=False, any_order=False),
    Row("one more at the end", [A], [A, C], exact=False, in_order=True, any_order=True),
    Row("one more in between", [A, B], [A, C, B], exact=False, in_order=True, any_order=True),
    Row("one fewer", [A, B], [A], exact=False, in_order=False, any_order=False),
    Row("another order", [A, B], [B, A], exact=False, in_order=False, any_order=True),
    Row("twice expected, once made", [A, A], [A], exact=False, in_order=False, any_order=False),
    Row(
        "twice expected, once made beside another",
        [A, A],
        [A, B],
        exact=False,
        in_order=False,
        any_order=False,
    ),
    Row("once expected, twice made", [A], [A, A], exact=False, in_order=True, any_order=True),
    Row("twice, apart", [A, A], [A, B, A], exact=False, in_order=True, any_order=True),
    Row("order after a false start", [A, B], [B, A, B], exact=False, in_order=True, any_order=True),
    Row("other arguments", [A], [B], exact=False, in_order=False, any_order=False),
    Row(
        "same arguments, other tool",
        [("x", {})],
        [("y", {})],
        exact=False,
        in_order=False,
        any_order=False,
    ),
    Row(
        "1 equals 1.0",
        [("x", {"n": 1})],
        [("x", {"n": 1.0})],
        exact=True,
        in_order=True,
        any_order=True,
    ),
    Row(
        "1 differs from '1'",
        [("x", {"n": 1})],
        [("x", {"n": "1"})],
        exact=False,
        in_order=False,
        any_order=False,
    ),
    Row(
        "keys have no order, lists have",
        [("x", {"a": 1, "b": [1, 2]})],
        [("x", {"b": [1, 2], "a": 1})],
        exact=True,
        in_order=True,
        any_order=True,
    ),
    Row(
        "no arguments differ from {}",
        [("x", None)],
        [("x", {})],
        exact=False,
        in_order=False,
        any_order=False,
    ),
)


@pytest.mark.parametrize("match_type", ["EXACT", "IN_ORDER", "ANY_ORDER"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
async def test_calls_match_as_the_match_type_says(row: Row, match_type: str) -> None:
    """A turn scores 1.0 where its calls match and 0.0 where they do not."""
    result = await scored([row.expected], [row.actual], match_type=match_type)

    wanted = {"EXACT": row.exact, "IN_ORDER": row.in_order, "ANY_ORDER": row.any_order}
    assert result.score == float(wanted[match_type])
    assert result.status is (Status.PASSED if wanted[match_type] else Status.FAILED)
    assert result.reason is None


@pytest.mark.parametrize(
    ("match_type", "expected", "actual", "score"),
    [
        ("EXACT", [A, C], [B, C], 1.0),
        ("EXACT", [A, C], [C, B], 0.0),
        ("IN_ORDER", [A, C], [C, B, C], 1.0),
        ("IN_ORDER", [A, C], [C, B], 0.0),
        ("ANY_ORDER", [A, C], [C, B], 1.0),
        ("ANY_ORDER", [A, B], [A, C], 0.0),
    ],
)
async def test_only_names_count_where_arguments_are_ignored(
    match_type: str, expected: Calls, actual: Calls, score: float
) -> None:
    """`ignore_args` compares names and still minds order and number."""
    result = await scored([expected], [actual], match_type=match_type, ignore_args=True)

    assert result.score == score


async def test_arguments_count_unless_said_otherwise() -> None:
    """`ignore_args` is off by default, and EXACT is what a bare threshold means."""
    assert (await scored([[A]], [[B]])).score == 0.0
    assert (await scored([[A]], [[A, A]])).score == 0.0


@pytest.mark.parametrize("expected_as_events", [False, True])
@pytest.mark.parametrize("actual_as_events", [False, True])
async def test_both_shapes_of_intermediate_data_are_read(
    *, expected_as_events: bool, actual_as_events: bool
) -> None:
    """Calls are the same whether listed or found in events."""
    expected = turn([A, C], as_events=expected_as_events)
    case = EvalCase.model_validate({"eval_id": "c", "conversation": [expected] * 2})
    trace = trace_of([turn(calls, as_events=actual_as_events) for calls in ([A, C], [C, A])])

    result = await ToolTrajectory(threshold=1.0).score(case, trace, nobody)

    assert [each.score for each in result.invocations] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("threshold", "status"),
    [(0.0, Status.PASSED), (2 / 3, Status.PASSED), (0.67, Status.FAILED), (1.0, Status.FAILED)],
)
async def test_a_case_is_the_mean_of_its_turns(threshold: float, status: Status) -> None:
    """Two of three turns match: two thirds, passed where the threshold is no higher."""
    result = await scored([[A], [], [C]], [[A], [], [B]], threshold=threshold)

    assert [each.score for each in result.invocations] == [1.0, 1.0, 0.0]
    assert (result.score, result.status, result.threshold) == (2 / 3, status, threshold)


@pytest.mark.parametrize(
    ("spelled", "means"),
    [
        ("EXACT", "EXACT"),
        ("in_order", "IN_ORDER"),
        ("In-Order", "IN_ORDER"),
        (" any order ", "ANY_ORDER"),
        (0, "EXACT"),
        (1, "IN_ORDER"),
        (2, "ANY_ORDER"),
    ],
)
def test_match_types_are_spelled_in_many_ways(spelled: Any, means: str) -> None:
    """Case, dashes, underscores and blanks do not matter; ADK's numbers count too."""
    for key in ("match_type", "matchType"):
        criterion = ToolTrajectory.model_validate({"threshold": 1, key: spelled})
        assert criterion.match_type.value == means


@pytest.mark.parametrize("spelled", ["EXACTLY", "", 3, -1, True, None, ["EXACT"]])
def test_a_match_type_that_is_none_is_refused(spelled: Any) -> None:
    """What is not a match type is an error, never the default."""
    with pytest.raises(ValidationError, match=r"match_?[tT]ype"):
        ToolTrajectory.model_validate({"threshold": 1, "match_type": spelled})


async def test_a_simulated_case_has_no_reference() -> None:
    """Nothing is expected of a simulated conversation: no score, and why."""
    scenario = {"starting_prompt": "hello", "conversation_plan": "say hello"}
    case = EvalCase.model_validate({"eval_id": "c", "conversation_scenario": scenario})

    result = await ToolTrajectory(threshold=1.0).score(case, trace_of([turn([A])]), nobody)

    assert (result.score, result.status, result.invocations) == (None, Status.NOT_EVALUATED, ())
    assert result.reason == "needs a reference, and a simulated conversation has none"


@pytest.mark.parametrize(
    ("expected", "actual", "reason"),
    [
        ([[A], [B]], [[A]], "the case has 2 turns and the trace 1"),
        ([[A]], [[A], [B]], "the case has 1 turn and the trace 2"),
        ([[A]], [], "the case has 1 turn and the trace 0"),
        ([], [], "the case has no turns"),
    ],
)
async def test_turns_that_cannot_be_paired_have_no_score(
    expected: Sequence[Calls], actual: Sequence[Calls], reason: str
) -> None:
    """Other numbers of turns are never cut to fit, and no turns are no success."""
    result = await scored(expected, actual)

    assert (result.score, result.status, result.reason) == (None, Status.NOT_EVALUATED, reason)
