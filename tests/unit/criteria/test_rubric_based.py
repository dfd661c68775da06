"""The two rubric criteria: which rubrics are asked, of what, and what the votes come to."""

from collections.abc import Mapping
from typing import Any

import pytest

from gradegate.criteria.rubric_based import RubricBased, RubricFinalResponse, RubricToolUse
from gradegate.model.question import Question
from gradegate.model.result import Status
from tests.standins.scripted_judge import ScriptedJudge
from tests.standins.turns import (
    call,
    case_of,
    event,
    response,
    rubric,
    trace_of,
    turn,
)

FINAL, TOOLS = "FINAL_RESPONSE_QUALITY", "TOOL_USE_QUALITY"


def asked_ids(question: Question[Any]) -> list[str]:
    """The ids of the rubrics in a question."""
    return [each["rubric_id"] for each in question.data["rubrics"]]


def verdicts(question: Question[Any], no: tuple[str, ...] = (), why: str = "") -> Mapping[str, Any]:
    """A whole answer: yes to all but some."""
    return {
        "rubrics": [
            {"rubric_id": i, "reasoning": f"{why}{i}", "verdict": "no" if i in no else "yes"}
            for i in asked_ids(question)
        ]
    }


def options(cls: type[RubricBased] = RubricFinalResponse, **fields: Any) -> RubricBased:
    """The criterion with a threshold that everything but a no meets."""
    return cls.model_validate({"threshold": 0.9, **fields})


async def test_rubrics_come_from_criterion_case_and_turn() -> None:
    """A case's and a turn's count by their type, the criterion's own in any case."""
    case = case_of(
        turn("a", rubrics=[rubric("turn", kind=FINAL), rubric("turn_tools", kind=TOOLS)]),
        turn("b"),
        rubrics=[rubric("case", kind=FINAL), rubric("untyped"), rubric("case_tools", kind=TOOLS)],
    )
    trace = trace_of(turn("a"), turn("b"))
    judge = ScriptedJudge(lambda question, _: verdicts(question))
    for cls in (RubricFinalResponse, RubricToolUse):
        await options(cls, rubrics=[rubric("own", kind="ANY")]).score(case, trace, judge)
    assert [asked_ids(question) for question in judge.asked] == [
        ["own", "case", "turn"],
        ["own", "case"],
        ["own", "case_tools", "turn_tools"],
        ["own", "case_tools"],
    ]


async def test_a_case_is_the_mean_of_its_turns_not_of_all_rubrics() -> None:
    """A turn with many rubrics weighs no more than one with a single rubric."""
    many = [rubric(name, kind=FINAL) for name in "abc"]
    case = case_of(turn("x", rubrics=many), turn("y"))
    judge = ScriptedJudge(
        lambda question, _: verdicts(question, no=("own",) if len(asked_ids(question)) == 1 else ())
    )
    criterion = options(rubrics=[rubric("own")])
    result = await criterion.score(case, trace_of(turn("x"), turn("y")), judge)
    assert [each.score for each in result.invocations] == [1.0, 0.0]
    assert result.score == 0.5
    assert {each.rubric_id: each.score for each in result.rubrics} == {
        "own": 0.5,
        "a": 1.0,
        "b": 1.0,
        "c": 1.0,
    }


async def test_samples_vote_per_rubric() -> None:
    """Each rubric has its own majority; a tie is no; the first who agrees gives the reasons."""
    no_by_sample = [("b",), ("b", "c"), ("c",), ("b",)]
    judge = ScriptedJudge(lambda q, n: verdicts(q, no=no_by_sample[n - 1], why=f"{n}:"))
    criterion = options(
        rubrics=[rubric(name) for name in "abc"], judge_model_options={"num_samples": 4}
    )
    result = await criterion.score(case_of(turn("x")), trace_of(turn("x")), judge)
    found = {each.rubric_id: (each.score, each.rationale) for each in result.invocations[0].rubrics}
    assert found == {"a": (1.0, "1:a"), "b": (0.0, "1:b"), "c": (0.0, "2:c")}
    assert result.score == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("change", "objection"),
    [
        (lambda given: given[:-1], "the judge left out the rubric `b`"),
        (lambda given: [*given, {**given[0], "rubric_id": "z"}], "was not asked, `z`"),
        (lambda given: [*given, given[0]], "the judge answered the rubric `a` twice"),
        (lambda given: [{**given[0], "verdict": "maybe"}, given[1]], "Input should be 'yes' or"),
    ],
)
async def test_an_answer_that_is_not_to_what_was_asked_is_unusable(
    change: Any, objection: str
) -> None:
    """A rubric left out, invented, answered twice or undecidedly spoils its sample."""

    def script(question: Question[Any], _: int) -> Any:
        return {"rubrics": change(verdicts(question)["rubrics"])}

    criterion = options(rubrics=[rubric("a"), rubric("b")])
    judge = ScriptedJudge(script)
    result = await criterion.score(case_of(turn("x")), trace_of(turn("x")), judge)
    assert result.status is Status.NOT_EVALUATED
    assert objection in (result.reason or "")


async def test_a_turn_without_rubrics_is_not_evaluated() -> None:
    """It is nobody's yes; nothing is asked of it."""
    case = case_of(turn("x"), turn("y", rubrics=[rubric("only", kind=FINAL)]))
    judge = ScriptedJudge(lambda question, _: verdicts(question))
    result = await options().score(case, trace_of(turn("x"), turn("y")), judge)
    assert result.status is Status.NOT_EVALUATED
    assert result.reason == "1 of 2 turns: no rubric of type FINAL_RESPONSE_QUALITY applies"
    assert [each.score for each in result.invocations] == [None, 1.0]
    assert len(judge.asked) == 1


async def test_one_id_twice_is_refused() -> None:
    """Votes on two rubrics of one id could not be told apart."""
    case = case_of(turn("x"), rubrics=[rubric("a", kind=FINAL)])
    judge = ScriptedJudge(lambda question, _: verdicts(question))
    result = await options(rubrics=[rubric("a")]).score(case, trace_of(turn("x")), judge)
    assert result.reason == "two rubrics have the id `a`: give each its own"
    assert judge.asked == []


async def test_the_mean_is_rounded_once() -> None:
    """Three, four and five of five make 0.8, which meets a threshold of 0.8."""
    no_by_prompt = {"one": ("a", "b"), "two": ("a",), "three": ()}
    judge = ScriptedJudge(lambda q, _: verdicts(q, no=no_by_prompt[q.data["user_prompt"]]))
    turns = [turn("x", prompt=prompt) for prompt in no_by_prompt]
    criterion = options(threshold=0.8, rubrics=[rubric(name) for name in "abcde"])
    result = await criterion.score(case_of(*turns), trace_of(*turns), judge)
    assert result.score == 0.8
    assert result.status is Status.PASSED


async def test_an_empty_answer_is_judged() -> None:
    """A rubric may be met by saying nothing; the judge is told that nothing was said."""
    judge = ScriptedJudge(lambda question, _: verdicts(question, no=("a",)))
    result = await options(rubrics=[rubric("a")]).score(
        case_of(turn("x")), trace_of(turn(None)), judge
    )
    assert result.score == 0.0
    assert "It is empty: the agent said nothing." in judge.asked[0].render("FENCE")


async def test_a_simulated_conversation_is_judged_by_criterion_and_case() -> None:
    """There are no expected turns, so there are no turns' rubrics."""
    scenario = {"starting_prompt": "hi", "conversation_plan": "be nice"}
    case = case_of().model_validate(
        {
            "eval_id": "x",
            "conversation_scenario": scenario,
            "rubrics": [rubric("case", kind=FINAL)],
        }
    )
    judge = ScriptedJudge(lambda question, _: verdicts(question))
    result = await options().score(case, trace_of(turn("x"), turn("y")), judge)
    assert result.score == 1.0
    assert len(judge.asked) == 2


WORK = (
    event({"text": "I look."}, call("sky", "adk-77", city="Kyōto")),
    event(response("sky", "adk-77", rain=True), grounding_metadata={"web": "weather.example"}),
)
APP = {
    "agent_details": {
        "root": {
            "name": "root",
            "instructions": "Answer in verse.",
            "tool_declarations": [{"name": "sky", "description": "looks up"}],
        }
    }
}


async def test_a_final_response_is_judged_with_all_it_could_rest_on() -> None:
    """Instructions, tools, steps, grounding and answer; the rubrics come after all of it."""
    actual = turn("Rain.", *WORK, prompt="Weather?", app_details=APP)
    judge = ScriptedJudge(lambda question, _: verdicts(question))
    criterion = options(rubrics=[rubric("a", asks="Does it rhyme?")])
    await criterion.score(case_of(actual), trace_of(actual), judge)
    data = judge.asked[0].data
    assert data["instructions"] == {"root": "Answer in verse."}
    assert data["tools"] == {"root": [{"name": "sky", "description": "looks up"}]}
    assert data["steps"] == [
        {
            "author": "root",
            "said": "I look.",
            "tool_calls": [{"call": 1, "name": "sky", "args": {"city": "Kyōto"}}],
        },
        {
            "author": "root",
            "tool_responses": [{"call": 1, "name": "sky", "response": {"rain": True}}],
        },
    ]
    assert data["grounding"] == [
        {"author": "root", "grounding_metadata": {"web": "weather.example"}}
    ]
    text = judge.asked[0].render("FENCE")
    last_fence = text.rindex("\nFENCE\n")
    assert text.index('{"rubric_id": "a", "rubric": "Does it rhyme?"}') > last_fence
    for shown in (
        "Answer in verse.",
        '"looks up"',
        "Kyōto",
        "weather.example",
        "Rain.",
        "Weather?",
    ):
        assert shown in text[:last_fence]


async def test_tool_use_is_judged_without_the_answer() -> None:
    """Words, on the way or at the end, are not what is judged."""
    actual = turn("Rain.", *WORK, app_details=APP)
    judge = ScriptedJudge(lambda question, _: verdicts(question))
    criterion = options(RubricToolUse, rubrics=[rubric("a")])
    await criterion.score(case_of(actual), trace_of(actual), judge)
    data = judge.asked[0].data
    assert set(data) == {"user_prompt", "instructions", "tools", "steps", "rubrics"}
    assert [set(step) for step in data["steps"]] == [
        {"author", "tool_calls"},
        {"author", "tool_responses"},
    ]
    assert "Rain." not in judge.asked[0].render("FENCE")


async def test_the_older_shape_shows_the_same_calls() -> None:
    """Calls are put beside their responses, by id or else by name."""
    actual = turn(
        "x",
        intermediate_data={
            "tool_uses": [
                {"id": "1", "name": "sky", "args": {"d": 1}},
                {"name": "sea", "args": {}},
                {"id": "3", "name": "sky", "args": {"d": 2}},
            ],
            "tool_responses": [
                {"id": "3", "name": "sky", "response": {"rain": False}},
                {"name": "sea", "response": {"calm": True}},
            ],
            "intermediate_responses": [["root", [{"text": "Wait."}]]],
        },
    )
    judge = ScriptedJudge(lambda question, _: verdicts(question))
    await options(rubrics=[rubric("a")]).score(case_of(actual), trace_of(actual), judge)
    assert judge.asked[0].data["steps"] == [
        {"author": "root", "said": "Wait."},
        {"tool_call": {"name": "sky", "args": {"d": 1}}},
        {"tool_call": {"name": "sea", "args": {}}, "tool_response": {"calm": True}},
        {"tool_call": {"name": "sky", "args": {"d": 2}}, "tool_response": {"rain": False}},
    ]


async def test_runs_in_which_the_same_happened_ask_the_same() -> None:
    """Random ids of calls do not make a new question, so that it is judged once."""
    judge = ScriptedJudge(lambda question, _: verdicts(question))
    criterion = options(rubrics=[rubric("a")])
    for call_id in ("adk-1", "adk-2"):
        actual = turn("x", event(call("sky", call_id)), event(response("sky", call_id)))
        await criterion.score(case_of(actual), trace_of(actual), judge)
    first, second = judge.asked
    assert first.key(1) == second.key(1)
