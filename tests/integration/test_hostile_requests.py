"""Hostile words in the requests that leave us, as the Gemini API gets them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gradegate.criteria import registry
from gradegate.judge.client import JudgeClient
from gradegate.judge.providers.gemini import GeminiProvider
from gradegate.model.settings import JudgeSettings
from gradegate.store.sqlite import SqliteStore
from tests.standins import hostile_answers
from tests.standins.gemini import GeminiStandin, prompt_of
from tests.standins.turns import call, case_of, event, response, rubric, trace_of, turn

# google-genai derives from aiohttp's session, which aiohttp discourages.

FENCE = re.compile(r"^`([0-9a-f]{32})`$", re.MULTILINE)
JUDGE = {"judge_model": "gemini-2.5-flash", "num_samples": 1}
ENTRY = {"threshold": 0.5, "judge_model_options": JUDGE, "rubrics": [rubric("a")]}
JUDGED = (
    "final_response_match_v2",
    "rubric_based_final_response_quality_v1",
    "rubric_based_tool_use_quality_v1",
    "hallucinations_v1",
)


def stern(body: dict[str, Any]) -> str:
    """Every answer is wrong; a text is one sentence."""
    properties = body["generationConfig"]["responseJsonSchema"]["properties"]
    _, inside = fenced(prompt_of(body))
    if "verdict" in properties:
        return json.dumps({"reasoning": "no", "verdict": "invalid"})
    if "rubrics" in properties:
        return json.dumps({"rubrics": [{"rubric_id": "a", "reasoning": "no", "verdict": "no"}]})
    if properties["sentences"]["items"]["type"] == "string":
        return json.dumps({"sentences": inside})
    found = [
        {"sentence": each, "reasoning": "no", "label": "unsupported"}
        for each in json.loads(inside[-1])
    ]
    return json.dumps({"sentences": found})


def fenced(prompt: str) -> tuple[str, list[str]]:
    """A prompt's fence, which it declares before anything else, and what stands inside."""
    declared = FENCE.search(prompt)
    assert declared
    return declared[1], prompt.split(f"\n{declared[1]}\n")[1::2]


def outside(prompt: str) -> list[str]:
    """What stands outside, with the fence's name left out."""
    fence, _ = fenced(prompt)
    pieces = prompt.split(f"\n{fence}\n")
    assert len(pieces) % 2 == 1
    return [piece.replace(fence, "FENCE") for piece in pieces[::2]]


async def requests(words: str, folder: Path) -> tuple[list[str], list[float | None]]:
    """The prompts that reach the service when everybody says these words, and the scores."""
    actual = turn(
        words,
        event({"text": words}, call("tool", words=words)),
        event(response("tool", words=words), grounding_metadata={"web": words}),
        prompt=words,
    )
    with GeminiStandin(stern) as standin, SqliteStore(folder / "store") as store:
        answerer = GeminiProvider.from_environ(standin.environ)
        async with JudgeClient(answerer, store, JudgeSettings()) as ask:
            scores = [
                (await registry.parse(name, ENTRY).score(case_of(actual), trace_of(actual), ask))
                for name in JUDGED
            ]
    return [request.prompt for request in standin.requests], [each.score for each in scores]


@pytest.mark.parametrize("words", hostile_answers.ANSWERS)
async def test_the_request_keeps_hostile_words_inside_its_fence(words: str, tmp_path: Path) -> None:
    """On the wire nothing outside the fences differs, and the judge's verdict stands."""
    (tmp_path / "hostile").mkdir()
    (tmp_path / "harmless").mkdir()
    hostile, scores = await requests(words, tmp_path / "hostile")
    harmless, _ = await requests("It rains.", tmp_path / "harmless")
    assert [outside(prompt) for prompt in hostile] == [outside(prompt) for prompt in harmless]
    assert len(hostile) == 5
    assert scores == [0.0] * 4
    assert all(words.strip() in "\n".join(fenced(prompt)[1]) for prompt in hostile[:1])


async def test_no_two_requests_share_a_fence(tmp_path: Path) -> None:
    """An agent that learnt one could not use it."""
    prompts, _ = await requests("It rains.", tmp_path)
    fences = [fenced(prompt)[0] for prompt in prompts]
    assert len(set(fences)) == len(fences) == 5
