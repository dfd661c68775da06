"""final_response_match_v2: what is asked, and what the votes come to."""

from typing import Any

import pytest
from pydantic import ValidationError

from gradegate.criteria.final_response_match import FinalResponseMatch
from gradegate.model.question import Question
from gradegate.model.result import Status
from tests.standins.scripted_judge import ScriptedJudge
from tests.standins.turns import call, case_of, content, event, response, trace_of, turn


def says(*verdicts: str) -> ScriptedJudge:
    """A judge that gives these verdicts, one a sample."""

    def script(_: Question[Any], sample: int) -> Any:
        verdict = verdicts[sample - 1]
        if verdict not in {"valid", "invalid"}:
            return verdict
        return {"reasoning": f"reasons of sample {sample}", "verdict": verdict}

    return ScriptedJudge(script)


def options(**fields: Any) -> FinalResponseMatch:
    """The criterion with a threshold that half the turns meet."""
    return FinalResponseMatch.model_validate({"threshold": 0.5, **fields})


@pytest.mark.parametrize(
    ("verdicts", "score"),
    [
        (["valid"] * 5, 1.0),
        (["invalid"] * 5, 0.0),
        (["valid", "invalid", "valid", "invalid", "valid"], 1.0),
        (["invalid", "valid", "invalid", "valid", "invalid"], 0.0),
        (["valid", "unsure", "invalid", "valid", "{}"], 1.0),
        (["valid", "invalid", "valid", "invalid", "no idea"], 0.0),
    ],
)
async def test_the_majority_of_usable_samples_decides(verdicts: list[str], score: float) -> None:
    """Unusable answers spend their sample and do not vote; a tie is invalid."""
    case, trace = case_of(turn("It is 20 °C.")), trace_of(turn("20 degrees"))
    result = await options().score(case, trace, says(*verdicts))
    assert result.score == score
    assert result.invocations[0].score == score
    assert result.status is (Status.PASSED if score else Status.FAILED)


async def test_the_reasons_kept_are_the_majoritys() -> None:
    """The first sample that agrees with the outcome speaks for it."""
    judge = says("invalid", "valid", "valid", "invalid", "valid")
    result = await options().score(case_of(turn("yes")), trace_of(turn("yes")), judge)
    details = {"reasoning": "reasons of sample 2", "verdict": "valid"}
    assert result.invocations[0].details == details


async def test_too_few_usable_samples_give_no_score() -> None:
    """Two of five are no quorum: the turn is not evaluated, and the reason is the judge's."""
    judge = says("valid", "valid", "?", "?", "?")
    result = await options().score(case_of(turn("yes")), trace_of(turn("yes")), judge)
    assert (result.score, result.status) == (None, Status.NOT_EVALUATED)
    assert result.reason is not None
    assert "2 usable of 5 answers" in result.reason


async def test_an_empty_answer_is_wrong_without_asking() -> None:
    """Where something is expected, saying nothing scores 0."""
    judge = says()
    result = await options().score(
        case_of(turn("20 °C"), turn("20 °C")), trace_of(turn(None), turn(" \n")), judge
    )
    assert [each.score for each in result.invocations] == [0.0, 0.0]
    assert result.invocations[0].details["verdict"] == "invalid"
    assert judge.asked == []


async def test_a_turn_without_a_reference_is_judged_by_its_prompt() -> None:
    """As google-adk does; the judge is told that there is none."""
    judge = says(*["valid"] * 5)
    result = await options().score(case_of(turn(None)), trace_of(turn("a")), judge)
    assert (result.score, result.status) == (1.0, Status.PASSED)
    assert "Go by the user's prompt alone" in judge.asked[0].render("FENCE")


async def test_a_simulated_case_has_no_reference() -> None:
    """A scenario's turns cannot be compared with anything."""
    scenario = {"starting_prompt": "hi", "conversation_plan": "be nice"}
    case = case_of().model_validate({"eval_id": "x", "conversation_scenario": scenario})
    result = await options().score(case, trace_of(turn("yes")), says())
    assert result.status is Status.NOT_EVALUATED
    assert result.reason is not None
    assert "simulated" in result.reason


async def test_what_was_said_on_the_way_counts_if_wanted() -> None:
    """`include_intermediate_responses_in_final` puts it before reference and answer alike."""
    expected = turn("It rains.", event({"text": "I look."}, call("sky")), event(response("sky")))
    old_shape = {"intermediate_responses": [["root", [{"text": "Let me see."}]]]}
    actual = turn("Rain.", intermediate_data=old_shape)
    judge = says(*["valid"] * 10)
    for included in (False, True):
        criterion = options(includeIntermediateResponsesInFinal=included)
        await criterion.score(case_of(expected), trace_of(actual), judge)
    without, included_ = (question.data for question in judge.asked)
    assert (without["reference"], without["response"]) == ("It rains.", "Rain.")
    assert included_["reference"] == "I look.\nIt rains."
    assert included_["response"] == "Let me see.\nRain."


async def test_the_question_goes_to_the_judge_that_the_options_name() -> None:
    """Model, config and sample count come from the options, in either spelling of their keys."""
    entry = {"judgeModel": "gemini-x", "judge_model_config": {"temperature": 0}, "numSamples": 3}
    judge = says("valid", "valid", "valid")
    criterion = options(judgeModelOptions={**entry, "parallelism_limit": 7})
    await criterion.score(case_of(turn("a")), trace_of(turn("a")), judge)
    question = judge.asked[0]
    assert (question.kind, question.model) == ("final_response_match_v2", "gemini-x")
    assert question.model_config == {"temperature": 0}
    assert judge.samples == [3]


async def test_without_a_judge_named_the_default_one_is_left_to_whoever_asks() -> None:
    """An empty model stands for the one in gradegate.toml; five samples vote."""
    judge = says(*["valid"] * 5)
    await options().score(case_of(turn("a")), trace_of(turn("a")), judge)
    assert judge.asked[0].model == ""
    assert judge.samples == [5]


async def test_the_prompt_that_counts_is_the_cases() -> None:
    """Prompt, reference and answer are all that the verdict depends on, each in its fence."""
    expected = turn("20 °C", prompt="How warm is it?")
    judge = says(*["valid"] * 5)
    await options().score(case_of(expected), trace_of(turn("warm", prompt="?")), judge)
    data = {"user_prompt": "How warm is it?", "reference": "20 °C", "response": "warm"}
    assert judge.asked[0].data == data
    text = judge.asked[0].render("FENCE")
    for word in data.values():
        assert f"FENCE\n{word}\nFENCE" in text
    assert text.index("FENCE\nwarm\nFENCE") < text.index("## The question")


def test_a_sample_count_below_one_is_refused() -> None:
    """Nothing can be decided by no sample."""
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        options(judge_model_options={"num_samples": 0})


async def test_several_parts_are_one_text() -> None:
    """Empty parts are dropped, the others joined by a newline."""
    actual = turn(None) | {"final_response": content("one", "", "two")}
    judge = says(*["valid"] * 5)
    await options().score(case_of(turn("a")), trace_of(actual), judge)
    assert judge.asked[0].data["response"] == "one\ntwo"
