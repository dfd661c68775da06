"""What an agent says is data to be judged, whatever it says it is."""

import json
import secrets
from typing import Any

import pytest

from gradegate.criteria import registry
from gradegate.judge import votes
from gradegate.model.question import Question
from gradegate.model.result import CriterionResult
from gradegate.ports import Reply
from tests.standins import hostile_answers
from tests.standins.scripted_judge import Script, ScriptedJudge
from tests.standins.turns import call, case_of, event, response, rubric, trace_of, turn

JUDGED = (
    "final_response_match_v2",
    "rubric_based_final_response_quality_v1",
    "rubric_based_tool_use_quality_v1",
    "hallucinations_v1",
)
ENTRY = {
    "threshold": 0.5,
    "rubrics": [rubric("a")],
    "evaluate_intermediate_nl_responses": True,
    "include_intermediate_responses_in_final": True,
}


def stern(question: Question[Any], _: int) -> Any:
    """A judge who finds nothing good, and quotes what it judges in its reasons."""
    data = question.data
    reasons = json.dumps(dict(data), ensure_ascii=False)
    if question.kind == "hallucinations_v1/segment":
        return {"sentences": [data["response"].strip()]}
    if question.kind == "hallucinations_v1/validate":
        found = {"label": "unsupported", "reasoning": reasons, "excerpt": reasons}
        return {"sentences": [{"sentence": each, **found} for each in data["sentences"]]}
    if "rubrics" in data:
        return {"rubrics": [{"rubric_id": "a", "reasoning": reasons, "verdict": "no"}]}
    return {"reasoning": reasons, "verdict": "invalid"}


async def judged(words: str, script: Script = stern) -> tuple[ScriptedJudge, list[CriterionResult]]:
    """All four criteria on a turn in which everybody says these words."""
    app = {
        "agent_details": {
            "root": {
                "name": "root",
                "instructions": words,
                "tool_declarations": [{"name": "tool", "description": words}],
            }
        }
    }
    actual = turn(
        words,
        event({"text": words}, call("tool", words=words), author=words),
        event(response("tool", words=words), grounding_metadata={"web": words}),
        prompt=words,
        app_details=app,
    )
    judge = ScriptedJudge(script)
    results = [
        await registry.parse(name, ENTRY).score(case_of(actual), trace_of(actual), judge)
        for name in JUDGED
    ]
    return judge, results


def outside(text: str, fence: str) -> str:
    """What of a prompt stands outside the fences, found by nothing but their lines."""
    pieces = f"\n{text}\n".split(f"\n{fence}\n")
    assert len(pieces) % 2 == 1, "a fence that is opened is closed"
    return "\n[…]\n".join(pieces[::2])


@pytest.mark.parametrize("words", hostile_answers.ANSWERS)
async def test_hostile_words_stay_inside_the_fence(words: str) -> None:
    """Outside the fences a prompt is the same, whoever says whatever inside."""
    judge, _ = await judged(words)
    harmless, _ = await judged("It rains.")
    kinds = [question.kind for question in judge.asked]
    assert kinds == [question.kind for question in harmless.asked]
    assert set(kinds) >= {*JUDGED[:3], "hallucinations_v1/segment", "hallucinations_v1/validate"}
    fence = secrets.token_hex(16)
    for question, other in zip(judge.asked, harmless.asked, strict=True):
        assert outside(question.render(fence), fence) == outside(other.render(fence), fence)


@pytest.mark.parametrize("words", hostile_answers.CLOSING)
async def test_a_delimiter_that_was_guessed_closes_nothing(words: str) -> None:
    """Even an agent that knew the random mark could not write it."""
    judge, _ = await judged(words)
    harmless, _ = await judged("It rains.")
    fence = hostile_answers.GUESSED
    for question, other in zip(judge.asked, harmless.asked, strict=True):
        text = question.render(fence)
        assert outside(text, fence) == outside(other.render(fence), fence)
        assert text.count(fence) == other.render(fence).count(fence)


@pytest.mark.parametrize("words", hostile_answers.ANSWERS)
async def test_only_the_judges_verdict_counts(words: str) -> None:
    """Words that hold a verdict do not become one, not even where the judge quotes them."""
    _, results = await judged(words)
    assert [result.score for result in results] == [0.0] * 4


@pytest.mark.parametrize("words", hostile_answers.ANSWERS)
async def test_a_judge_that_parrots_around_them_has_given_no_verdict(words: str) -> None:
    """A reply that is not wholly the answer asked for is unusable; nothing is fished out of it."""
    judge, _ = await judged(words)
    for question in judge.asked:
        for reply in (f"The agent says: {words}", f"{words}\n\n{words} ", f"{words}valid"):
            assert isinstance(votes.read(question, Reply(reply)), str)


def test_there_are_enough_of_them() -> None:
    """Thirty different ones at the least."""
    assert len(set(hostile_answers.ANSWERS)) >= 30
