"""What Vertex AI's service is asked, and what its word comes to."""

from typing import Any

import pytest

from gradegate.criteria import registry
from gradegate.criteria.rubric_based import RubricJudged
from gradegate.criteria.vertex_scored import conversation_of
from gradegate.model.evalset import EvalCase
from gradegate.model.question import VERTEX, Question
from gradegate.model.result import CriterionResult, Status
from gradegate.model.runs import Trace
from tests.standins.scripted_judge import ScriptedJudge
from tests.standins.turns import call, case_of, event, response, rubric, trace_of, turn

RUBRICS = "rubric_based_multi_turn_trajectory_quality_v1"
KIND = "TRAJECTORY_QUALITY"


def yes_to(*good: str) -> ScriptedJudge:
    """A judge who finds these rubrics met, and no others."""

    def script(question: Question[Any], _: int) -> Any:
        return {
            "rubrics": [
                {
                    "rubric_id": one["rubric_id"],
                    "reasoning": "so",
                    "verdict": "yes" if one["rubric_id"] in good else "no",
                }
                for one in question.data["rubrics"]
            ]
        }

    return ScriptedJudge(script)


async def scored(
    name: str, entry: Any, case: EvalCase, trace: Trace, judge: ScriptedJudge
) -> CriterionResult:
    """What a criterion says of a run."""
    return await registry.parse(name, entry).score(case, trace, judge)


async def test_a_dialogue_is_asked_about_once() -> None:
    """With all turns and steps; the score stands with the last turn, the others have none."""
    turns = [turn("One.", event(call("look", "x1"))), turn("Two.")]
    judge = yes_to("kind")
    entry = {"threshold": 0.5, "rubrics": [rubric("kind"), rubric("quick")]}
    result = await scored(RUBRICS, entry, case_of(*turns), trace_of(*turns), judge)
    assert (result.score, result.status) == (0.5, Status.PASSED)
    assert [one.status for one in result.invocations] == [Status.NOT_EVALUATED, Status.PASSED]
    assert [(one.rubric_id, one.score) for one in result.rubrics] == [("kind", 1), ("quick", 0)]
    (asked,) = judge.asked
    assert [one["answer"] for one in asked.data["dialogue"]] == ["One.", "Two."]
    assert asked.data["dialogue"][0]["steps"]


def test_rubrics_come_from_criterion_case_and_every_turn() -> None:
    """Of their type only; one that recurs turn after turn is asked once."""
    again = rubric("again", kind=KIND)
    case = case_of(
        {**turn("a"), "rubrics": [again, rubric("other", kind="TOOL_USE_QUALITY")]},
        {**turn("b"), "rubrics": [again, rubric("late", kind=KIND)]},
        rubrics=[rubric("whole", kind=KIND)],
    )
    criterion = registry.parse(RUBRICS, {"threshold": 1, "rubrics": [rubric("own")]})
    assert isinstance(criterion, RubricJudged)
    found = [one.rubric_id for one in criterion.applicable(case)]  # type: ignore[attr-defined]
    assert found == ["own", "whole", "again", "late"]


@pytest.mark.parametrize(
    ("rubrics", "why"),
    [((), "no rubric of type TRAJECTORY_QUALITY applies"), (("a", "a"), "two rubrics have the id")],
)
async def test_a_dialogue_that_cannot_be_asked_about_says_why(
    rubrics: tuple[str, ...], why: str
) -> None:
    """Nobody is asked."""
    entry = {"threshold": 1, "rubrics": [rubric(r, f"{n}") for n, r in enumerate(rubrics)]}
    judge = yes_to()
    result = await scored(RUBRICS, entry, case_of(turn("a")), trace_of(turn("a")), judge)
    assert (result.status, judge.asked) == (Status.NOT_EVALUATED, [])
    assert why in str(result.reason)


def test_a_conversation_is_the_same_however_its_calls_are_numbered() -> None:
    """Random ids become numbers: what happened again is judged once."""

    def told(first: str, second: str) -> Any:
        steps = [event(call("look", first), call("look", second)), event(response("look", first))]
        return conversation_of(list(trace_of(turn("a", *steps), turn("b")).invocations))

    assert told("x", "y") == told("p", "q")
    parts = told("x", "y")["turns"][0]["events"][1]["content"]["parts"]
    assert [part["function_call"]["id"] for part in parts] == ["call_1", "call_2"]


def test_the_older_shape_of_a_turn_is_told_as_well() -> None:
    """What was said, the calls, their responses, the answer: nothing is lost."""
    made = turn("Done.")
    made["intermediate_data"] = {
        "tool_uses": [{"name": "look", "args": {}}],
        "tool_responses": [{"name": "look", "response": {"ok": True}}],
        "intermediate_responses": [["root", [{"text": "Let me see."}]]],
    }
    (only,) = conversation_of(list(trace_of(made).invocations))["turns"]
    assert [one["author"] for one in only["events"]] == ["user", "root", "agent", "agent", "agent"]


async def test_a_vertex_criterion_asks_the_service() -> None:
    """The question names the service's metric, and a score out of range is no score."""
    judge = ScriptedJudge(lambda _q, _n: {"score": 0.4, "explanation": "Half done."})
    turns = (turn("a"), turn("b"))
    result = await scored(
        "multi_turn_task_success_v1", 0.5, case_of(*turns), trace_of(*turns), judge
    )
    assert (result.score, result.status) == (0.4, Status.FAILED)
    assert result.invocations[-1].details == {"verdict": "0.4", "reasoning": "Half done."}
    assert (judge.asked[0].model, judge.samples) == (f"{VERTEX}multi_turn_task_success_v1", [1])
    judge = ScriptedJudge(lambda _q, _n: {"score": 7})
    result = await scored("safety_v1", 0.5, case_of(*turns), trace_of(*turns), judge)
    assert result.status is Status.NOT_EVALUATED
