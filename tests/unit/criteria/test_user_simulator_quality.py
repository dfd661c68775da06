"""per_turn_user_simulator_quality_v1: the simulated user, message by message."""

from typing import Any

import pytest

from gradegate.criteria.user_simulator_quality import UserSimulatorQuality
from gradegate.model.evalset import EvalCase
from gradegate.model.question import Question
from gradegate.model.result import CriterionResult, Status
from gradegate.model.runs import Trace
from tests.standins.scripted_judge import ScriptedJudge
from tests.standins.turns import case_of, content, trace_of, turn

SCENARIO = EvalCase.model_validate(
    {
        "eval_id": "case",
        "conversation_scenario": {"starting_prompt": "Hi. ", "conversation_plan": "Get a ticket."},
    }
)


async def scored(
    threshold: float, case: EvalCase, trace: Trace, judge: ScriptedJudge
) -> CriterionResult:
    """What the criterion says of a conversation."""
    return await UserSimulatorQuality(threshold=threshold).score(case, trace, judge)


def user_says(*messages: str) -> Trace:
    """A conversation in which the simulated user said this."""
    return trace_of(*({**turn("Well."), "user_content": content(said)} for said in messages))


def finds(**verdicts: bool) -> ScriptedJudge:
    """A judge with an opinion on each message; `end` is the stop signal."""

    def script(question: Question[Any], _: int) -> Any:
        said = question.data["message"]
        valid = verdicts.get("end" if said == "</finished>" else said, True)
        return {"reasoning": f"on {said}", "verdict": "valid" if valid else "invalid"}

    return ScriptedJudge(script)


@pytest.mark.parametrize(
    ("messages", "verdicts", "scores"),
    [
        (("Hi.", "a", "b"), {}, [1, 1, 1]),
        (("Hello.", "a", "b"), {}, [0, 1, 1]),
        (("Hi.", "a", "b"), {"a": False}, [1, 0, 1]),
        (("Hi.", "a", "b"), {"end": False}, [1, 1, 0]),
        (("Hi.",), {"end": False}, [0]),
        (("Hi.", "a"), {"a": False, "end": False}, [1, 0]),
    ],
)
async def test_a_simulated_user_is_judged_message_by_message(
    messages: tuple[str, ...], verdicts: dict[str, bool], scores: list[float]
) -> None:
    """The first by itself, the end on account of the last."""
    judge = finds(**verdicts)
    result = await scored(0.9, SCENARIO, user_says(*messages), judge)
    assert [one.score for one in result.invocations] == scores
    assert result.score == pytest.approx(sum(scores) / len(scores))
    assert len(judge.asked) == len(messages)


async def test_an_end_that_cannot_be_judged_leaves_the_last_turn_open() -> None:
    """It may have been wrong to end there."""
    judge = ScriptedJudge(
        lambda q, _: (
            "no JSON"
            if q.data["message"] == "</finished>"
            else {"reasoning": "so", "verdict": "valid"}
        )
    )
    result = await scored(0.5, SCENARIO, user_says("Hi.", "a"), judge)
    assert result.status is Status.NOT_EVALUATED
    assert [one.score for one in result.invocations] == [1.0, None]


async def test_a_written_user_is_nobody_to_judge() -> None:
    """The criterion is for simulated ones."""
    result = await scored(0.5, case_of(turn("a")), trace_of(turn("a")), finds())
    assert (result.status, result.reason) == (
        Status.NOT_EVALUATED,
        "judges a simulated user, and this case has none",
    )
