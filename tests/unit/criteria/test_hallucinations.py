"""hallucinations_v1: cut, checked against what came before, and counted."""

import re
from typing import Any

import pytest

from gradegate.criteria.hallucinations import Hallucinations
from gradegate.model.question import Question
from gradegate.model.result import Status
from tests.standins.scripted_judge import ScriptedJudge
from tests.standins.turns import call, case_of, content, event, response, trace_of, turn

SEGMENT, VALIDATE = "hallucinations_v1/segment", "hallucinations_v1/validate"


def cut(text: str) -> list[str]:
    """Sentences, as far as a full stop tells."""
    return re.findall(r"[^.]+\.", text)


def label_of(sentence: str) -> str:
    """The label that a sentence names itself; supported where it names none."""
    found = re.search(r"unsupported|contradictory|disputed|not_applicable", sentence)
    return found[0] if found else "supported"


def labels(sentences: list[str], *, why: str = "because") -> dict[str, Any]:
    """A validator's answer."""
    return {
        "sentences": [
            {"sentence": s, "label": label_of(s), "reasoning": why, "excerpt": None}
            for s in sentences
        ]
    }


def honest(question: Question[Any], _: int) -> Any:
    """A judge that cuts at full stops and believes each sentence's word about itself."""
    if question.kind == SEGMENT:
        return {"sentences": cut(question.data["response"])}
    return labels(question.data["sentences"])


def options(**fields: Any) -> Hallucinations:
    """The criterion."""
    return Hallucinations.model_validate({"threshold": 0.5, **fields})


async def test_the_score_is_the_share_of_grounded_sentences() -> None:
    """Supported and not applicable count, the other three do not."""
    answer = "Fine. not_applicable. unsupported. contradictory. disputed."
    result = await options().score(
        case_of(turn("x")), trace_of(turn(answer)), ScriptedJudge(honest)
    )
    assert result.score == 0.4
    assert result.status is Status.FAILED
    sentences = result.invocations[0].details["sentences"]
    assert [(each["label"], each["grounded"]) for each in sentences] == [
        ("supported", True),
        ("not_applicable", True),
        ("unsupported", False),
        ("contradictory", False),
        ("disputed", False),
    ]
    assert sentences[0] == {
        "sentence": "Fine.",
        "label": "supported",
        "grounded": True,
        "reasoning": "because",
        "excerpt": None,
    }


async def test_one_sample_unless_more_are_asked_for() -> None:
    """The response is cut once; `num_samples` samples label it."""
    judge = ScriptedJudge(honest)
    for entry in ({}, {"judge_model_options": {"num_samples": 3}}):
        await options(**entry).score(case_of(turn("x")), trace_of(turn("A. B.")), judge)
    assert [(q.kind, n) for q, n in zip(judge.asked, judge.samples, strict=True)] == [
        (SEGMENT, 1),
        (VALIDATE, 1),
        (SEGMENT, 1),
        (VALIDATE, 3),
    ]


async def test_samples_vote_per_sentence_on_grounded_or_not() -> None:
    """Two kinds of ungrounded are one side; a tie is not grounded; the first who agrees speaks."""
    by_sample = [
        ("supported", "unsupported", "supported"),
        ("not_applicable", "supported", "disputed"),
        ("unsupported", "contradictory", "supported"),
        ("supported", "supported", "unsupported"),
    ]

    def script(question: Question[Any], sample: int) -> Any:
        if question.kind == SEGMENT:
            return {"sentences": ["A.", "B.", "C."]}
        pairs = zip("ABC", by_sample[sample - 1], strict=True)
        return {
            "sentences": [
                {"sentence": f"{name}.", "label": label, "reasoning": f"{sample}"}
                for name, label in pairs
            ]
        }

    criterion = options(judge_model_options={"num_samples": 4})
    judge = ScriptedJudge(script)
    result = await criterion.score(case_of(turn("x")), trace_of(turn("A. B. C.")), judge)
    sentences = result.invocations[0].details["sentences"]
    assert [(s["grounded"], s["label"], s["reasoning"]) for s in sentences] == [
        (True, "supported", "1"),
        (False, "unsupported", "1"),
        (False, "disputed", "2"),
    ]


@pytest.mark.parametrize(
    ("given", "objection"),
    [
        (["Tokyo is big.", "It rains"], "a sentence that is not in the response: 'It rains'"),
        (["It is big.", "It is big."], "not in the response: 'It is big.'"),
        (["Tokyo is big.", " "], "gave an empty sentence"),
        ([], "found no sentence in the response"),
    ],
)
async def test_sentences_must_be_verbatim(given: list[str], objection: str) -> None:
    """What the response does not say, or not so often, or nothing at all, spoils the cut."""
    judge = ScriptedJudge(lambda *_: {"sentences": given})
    answer = "Tokyo is big. It is big."
    result = await options().score(case_of(turn("x")), trace_of(turn(answer)), judge)
    assert (result.score, result.status) == (None, Status.NOT_EVALUATED)
    assert objection in (result.reason or "")
    assert judge.of_kind(VALIDATE) == []


async def test_white_space_may_be_broken_anew() -> None:
    """A table or a list keeps its words; how its lines are broken says nothing."""

    def script(question: Question[Any], _: int) -> Any:
        if question.kind == SEGMENT:
            return {"sentences": ["| a | b |\n| 1 | 2 |", "東京は大きい。"]}
        return labels(["| a | b | | 1 | 2 |", "東京は大きい。 "])

    answer = "| a | b |\n\n| 1 | 2 |\n東京は大きい。"
    result = await options().score(
        case_of(turn("x")), trace_of(turn(answer)), ScriptedJudge(script)
    )
    assert result.score == 1.0


@pytest.mark.parametrize(
    ("given", "objection"),
    [
        (["A.", "B."], "left out a sentence: 'A.'"),
        (["A.", "A.", "B.", "C."], "was not asked: 'C.'"),
        (["A.", "A.", "A.", "B."], "was not asked: 'A.'"),
    ],
)
async def test_every_sentence_is_labelled_once(given: list[str], objection: str) -> None:
    """A sentence omitted, invented or repeated spoils the sample."""

    def script(question: Question[Any], _: int) -> Any:
        return {"sentences": ["A.", "A.", "B."]} if question.kind == SEGMENT else labels(given)

    result = await options().score(
        case_of(turn("x")), trace_of(turn("A. A. B.")), ScriptedJudge(script)
    )
    assert result.status is Status.NOT_EVALUATED
    assert objection in (result.reason or "")


async def test_equal_sentences_are_labelled_one_by_one() -> None:
    """The same words can be right in one place and wrong in another; order of labels is free."""

    def script(question: Question[Any], _: int) -> Any:
        if question.kind == SEGMENT:
            return {"sentences": ["A.", "B.", "A."]}
        return {
            "sentences": [
                {"sentence": "B.", "label": "supported", "reasoning": ""},
                {"sentence": "A.", "label": "supported", "reasoning": ""},
                {"sentence": "A.", "label": "unsupported", "reasoning": ""},
            ]
        }

    result = await options().score(
        case_of(turn("x")), trace_of(turn("A. B. A.")), ScriptedJudge(script)
    )
    sentences = result.invocations[0].details["sentences"]
    assert [each["grounded"] for each in sentences] == [True, True, False]


@pytest.mark.parametrize("answer", [None, "", " \n "])
async def test_an_empty_answer_has_nothing_to_check(answer: str | None) -> None:
    """No sentence, no score, and nobody's failure: the other turns decide."""
    judge = ScriptedJudge(honest)
    trace = trace_of(turn(answer), turn("Good. unsupported."))
    result = await options().score(case_of(turn("x"), turn("y")), trace, judge)
    assert [each.status for each in result.invocations] == [Status.INFORMATIONAL, Status.PASSED]
    assert (result.score, result.status) == (0.5, Status.PASSED)
    alone = await options().score(case_of(turn("x")), trace_of(turn(answer)), judge)
    assert (alone.score, alone.status) == (None, Status.INFORMATIONAL)
    assert alone.reason == "nothing was said, so there is no sentence to check"


async def test_an_answer_of_symbols_has_nothing_to_check_either() -> None:
    """The segmenter may find no sentence in it."""
    judge = ScriptedJudge(lambda *_: {"sentences": []})
    result = await options().score(case_of(turn("x")), trace_of(turn("👍")), judge)
    assert (result.score, result.status) == (None, Status.INFORMATIONAL)


WORK = (
    event({"text": "I look. unsupported."}, call("sky", "1")),
    event(response("sky", "1", rain=True)),
    event({"text": "Clouds."}, {"text": "unsupported."}, grounding_metadata={"web": "w.example"}),
)


async def test_what_was_said_on_the_way_is_checked_if_wanted() -> None:
    """A turn is the mean over its responses, not over its sentences."""
    actual = turn("Rain.", *WORK)
    judge = ScriptedJudge(honest)
    plain = await options().score(case_of(actual), trace_of(actual), judge)
    assert plain.score == 1.0
    criterion = options(evaluate_intermediate_nl_responses=True)
    result = await criterion.score(case_of(actual), trace_of(actual), judge)
    assert result.score == (0.5 + 1 + 0 + 1) / 4
    sentences = result.invocations[0].details["sentences"]
    assert [each["response"] for each in sentences] == [1, 1, 2, 3, 4]


async def test_each_response_is_checked_against_what_came_before_it() -> None:
    """Later steps are no evidence for earlier words; a final response has them all."""
    actual = turn("Rain.", *WORK, prompt="Weather?")
    judge = ScriptedJudge(honest)
    criterion = options(evaluate_intermediate_nl_responses=True)
    await criterion.score(case_of(actual), trace_of(actual), judge)
    first, second, third, final = (question.data for question in judge.of_kind(VALIDATE))
    assert first["steps"] == []
    assert first["grounding"] == []
    called = {
        "author": "root",
        "said": "I look. unsupported.",
        "tool_calls": [{"call": 1, "name": "sky", "args": {}}],
    }
    answered = {
        "author": "root",
        "tool_responses": [{"call": 1, "name": "sky", "response": {"rain": True}}],
    }
    assert second["steps"] == third["steps"] == [called, answered]
    assert second["grounding"] == [{"author": "root", "grounding_metadata": {"web": "w.example"}}]
    said = {"author": "root", "said": "Clouds.\nunsupported."}
    assert final["steps"] == [called, answered, said]
    assert {d["user_prompt"] for d in (first, second, third, final)} == {"Weather?"}


async def test_calls_before_a_text_in_the_same_event_are_evidence_for_it() -> None:
    """Some agents write down a call, its response and their words as one event."""
    actual = turn("x", event(call("sky"), response("sky", rain=True), {"text": "Rain."}))
    judge = ScriptedJudge(honest)
    criterion = options(evaluate_intermediate_nl_responses=True)
    await criterion.score(case_of(actual), trace_of(actual), judge)
    steps = judge.of_kind(VALIDATE)[0].data["steps"]
    assert [set(step) for step in steps] == [{"author", "tool_calls", "tool_responses"}]


async def test_the_older_shape_is_context_for_the_final_response_only() -> None:
    """It does not tell what was said when, so what was said on the way is not scored."""
    data = {
        "tool_uses": [{"name": "sky"}],
        "intermediate_responses": [["root", [{"text": "Hm. unsupported."}]]],
    }
    actual = turn("Rain.", intermediate_data=data)
    judge = ScriptedJudge(honest)
    criterion = options(evaluate_intermediate_nl_responses=True)
    result = await criterion.score(case_of(actual), trace_of(actual), judge)
    assert result.score == 1.0
    (question,) = judge.of_kind(VALIDATE)
    assert question.data["steps"] == [
        {"author": "root", "said": "Hm. unsupported."},
        {"tool_call": {"name": "sky", "args": None}},
    ]


async def test_one_response_that_could_not_be_checked_leaves_the_turn_not_evaluated() -> None:
    """The others keep their mean, the reason is told, and nothing passes for it."""

    def script(question: Question[Any], sample: int) -> Any:
        if question.kind == SEGMENT and "Clouds" in question.data["response"]:
            return "no JSON"
        return honest(question, sample)

    actual = turn("Rain.", event({"text": "Clouds."}))
    criterion = options(evaluate_intermediate_nl_responses=True)
    result = await criterion.score(case_of(actual), trace_of(actual), ScriptedJudge(script))
    (only,) = result.invocations
    assert (only.score, only.status) == (1.0, Status.NOT_EVALUATED)
    assert (result.score, result.status) == (1.0, Status.NOT_EVALUATED)
    assert "0 usable of 1 answers" in (result.reason or "")


async def test_the_sentences_come_after_the_context_and_inside_the_fence() -> None:
    """They are the agent's words too."""
    judge = ScriptedJudge(honest)
    actual = turn("Rain. Sun.", prompt="Weather?")
    await options().score(case_of(actual), trace_of(actual), judge)
    text = judge.of_kind(VALIDATE)[0].render("FENCE")
    assert text.index("FENCE\nWeather?\nFENCE") < text.index(
        'FENCE\n[\n  "Rain.",\n  "Sun."\n]\nFENCE'
    )
    assert text.rindex("FENCE\n") < text.index("## How to label")


async def test_a_simulated_conversation_is_checked_as_well() -> None:
    """No reference is needed."""
    scenario = {"starting_prompt": "hi", "conversation_plan": "be nice"}
    case = case_of().model_validate({"eval_id": "x", "conversation_scenario": scenario})
    result = await options().score(case, trace_of(turn("A. B.")), ScriptedJudge(honest))
    assert result.score == 1.0


async def test_a_dry_run_can_go_on_to_the_validator() -> None:
    """The segmenter's question brings an answer that might be given, and that would be usable."""
    judge = ScriptedJudge(honest)
    await options().score(case_of(turn("x")), trace_of(turn("A. B.")), judge)
    (question,) = judge.of_kind(SEGMENT)
    assert question.stand_in is not None
    assert question.objection(question.stand_in()) is None


async def test_a_final_response_in_parts_is_one_response() -> None:
    """Parts are joined before they are cut."""
    judge = ScriptedJudge(honest)
    actual = turn(None) | {"final_response": content("A. ", "B.")}
    await options().score(case_of(turn("x")), trace_of(actual), judge)
    assert judge.of_kind(SEGMENT)[0].data["response"] == "A. \nB."
