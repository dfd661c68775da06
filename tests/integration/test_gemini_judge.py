"""The real google-genai client against a server that behaves like the service."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from gradegate.judge.providers.gemini import GeminiProvider
from gradegate.model.question import PlainText, no_ballot
from gradegate.ports import CallFailure, Reply
from tests.standins.gemini import Fault, GeminiStandin, always
from tests.standins.gemini.faults import REFUSAL
from tests.standins.judging import question

SAID = '{"reasoning": "r", "verdict": "yes"}'


@pytest.fixture
def gemini() -> Iterator[GeminiStandin]:
    """The service, saying yes to everything."""
    with GeminiStandin(lambda _: SAID) as standin:
        yield standin


@asynccontextmanager
async def judge(environ: dict[str, str]) -> AsyncIterator[GeminiProvider]:
    """The judge that this environment gives access to."""
    provider = GeminiProvider.from_environ(environ)
    assert isinstance(provider, GeminiProvider), provider
    try:
        yield provider
    finally:
        await provider.close()


async def answer(environ: dict[str, str], **changes: Any) -> Reply | CallFailure:
    """What comes of one question."""
    async with judge(environ) as provider:
        return await provider.answer(question(**changes), 1)


async def test_an_answer_is_asked_for_in_the_form_of_its_type(gemini: GeminiStandin) -> None:
    """JSON with our schema, the user's settings kept, a fence of its own for each request."""
    async with judge(gemini.environ) as provider:
        asked = question(model_config={"temperature": 0.25, "maxOutputTokens": 900})
        replies = [await provider.answer(asked, sample) for sample in (1, 2)]
    assert [reply.text for reply in replies if isinstance(reply, Reply)] == [SAID, SAID]
    first, second = (request.body for request in gemini.requests)
    config = first["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"]["propertyOrdering"] == ["reasoning", "verdict"]
    assert (config["temperature"], config["maxOutputTokens"]) == (0.25, 900)
    fences = [body["contents"][0]["parts"][0]["text"].splitlines()[0] for body in (first, second)]
    assert fences[0] != fences[1]
    assert all(len(fence) == 32 for fence in fences)


async def test_tokens_are_counted(gemini: GeminiStandin) -> None:
    """What was read, and what was written with what was thought."""
    gemini.answer = lambda _: {
        "candidates": [{"content": {"parts": [{"text": SAID}]}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": 7,
            "candidatesTokenCount": 3,
            "thoughtsTokenCount": 40,
        },
    }
    assert await answer(gemini.environ) == Reply(SAID, 7, 43)


async def test_thoughts_are_not_part_of_the_answer(gemini: GeminiStandin) -> None:
    """A thought that looks like a verdict is none."""
    parts = [{"text": '{"verdict": "no"}', "thought": True}, {"text": SAID}]
    gemini.answer = lambda _: {"content": {"parts": parts}, "finishReason": "STOP"}
    reply = await answer(gemini.environ)
    assert isinstance(reply, Reply)
    assert reply.text == SAID


async def test_plain_text_is_asked_for_without_a_schema(gemini: GeminiStandin) -> None:
    """A simulated user speaks, and fills in no form."""
    gemini.answer = lambda _: "Hello there."
    reply = await answer(gemini.environ, answer=PlainText, ballot=no_ballot)
    assert isinstance(reply, Reply)
    assert reply.text == "Hello there."
    assert not gemini.requests[0].body["generationConfig"]


@pytest.mark.parametrize("said", ["not JSON at all", "[1, 2", ""])
async def test_text_of_any_kind_comes_back_as_it_is(gemini: GeminiStandin, said: str) -> None:
    """Reading it is not the client's business."""
    gemini.answer = lambda _: said
    reply = await answer(gemini.environ)
    assert isinstance(reply, Reply)
    assert reply.text == said
    assert (reply.unusable is None) == bool(said)


@pytest.mark.parametrize(
    ("fault", "words", "retry_after", "throttled"),
    [
        (Fault.UNAVAILABLE, "503 UNAVAILABLE: The model is overloaded.", None, True),
        (Fault.UNAVAILABLE_RETRY_AFTER, "503", 1.0, True),
        (Fault.BUSY, "429 RESOURCE_EXHAUSTED", None, True),
        (Fault.BUSY_RETRY_AFTER, "429", 1.0, True),
        (Fault.BUSY_RETRY_INFO, "429", 0.3, True),
        (Fault.BROKEN, "500 INTERNAL", None, False),
        (Fault.BAD_GATEWAY, "502 Bad Gateway", None, False),
        (Fault.RESET, "the connection broke", None, False),
        (Fault.CUT_BODY, "the connection broke", None, False),
        (Fault.CUT_JSON, "unreadable", None, False),
    ],
)
async def test_trouble_on_the_way_may_pass(
    gemini: GeminiStandin, fault: Fault, words: str, retry_after: float | None, *, throttled: bool
) -> None:
    """Each comes back at once, from one request: trying again is not the client's business."""
    gemini.faults = always(fault)
    failure = await answer(gemini.environ)
    assert isinstance(failure, CallFailure)
    assert words in failure.reason
    assert (failure.retryable, failure.retry_after, failure.throttled) == (
        True,
        retry_after,
        throttled,
    )
    assert len(gemini.requests) == 1


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.EMPTY, "without a candidate"),
        (Fault.BLOCKED, "PROHIBITED_CONTENT"),
        (Fault.SAFETY, "SAFETY"),
        (Fault.CUT_OFF, "`max_output_tokens`"),
    ],
)
async def test_a_withheld_answer_is_unusable(
    gemini: GeminiStandin, fault: Fault, words: str
) -> None:
    """It spends its sample, and says why."""
    gemini.faults = always(fault)
    reply = await answer(gemini.environ)
    assert isinstance(reply, Reply)
    assert words in (reply.unusable or "")


@pytest.mark.parametrize(
    ("fault", "for_all"),
    [(Fault.REFUSED, False), (Fault.FORBIDDEN, True), (Fault.DAILY_QUOTA, True)],
)
async def test_a_refusal_stays_one(gemini: GeminiStandin, fault: Fault, *, for_all: bool) -> None:
    """With the service's own message."""
    gemini.faults = always(fault)
    failure = await answer(gemini.environ)
    assert isinstance(failure, CallFailure)
    assert (failure.retryable, failure.for_all) == (False, for_all)
    assert fault == Fault.DAILY_QUOTA or REFUSAL in failure.reason


async def test_a_refusal_names_what_the_config_sets(gemini: GeminiStandin) -> None:
    """All of it where the service names nothing; without settings there is nothing to name."""
    gemini.faults = always(Fault.REFUSED)
    settings = {"thinking_config": {"thinking_budget": 0}, "top_k": 3}
    failure = await answer(gemini.environ, model_config=settings)
    assert isinstance(failure, CallFailure)
    assert failure.reason.endswith(
        "(`judge_model_config` sets `thinking_config.thinking_budget`, `top_k`: "
        "remove what `gemini-2.5-flash` does not take)"
    )
    bare = await answer(gemini.environ, model_config={})
    assert isinstance(bare, CallFailure)
    assert "judge_model_config" not in bare.reason


async def test_a_wrong_key_is_refused_for_all(gemini: GeminiStandin) -> None:
    """And never shown."""
    failure = await answer({**gemini.environ, "GOOGLE_API_KEY": "API key not"})
    assert isinstance(failure, CallFailure)
    assert (failure.retryable, failure.for_all) == (False, True)
    assert failure.reason == "400 INVALID_ARGUMENT: *** valid. Please pass a valid API key."


async def test_a_model_that_is_gone_is_named_with_what_to_write(gemini: GeminiStandin) -> None:
    """As the documentation's own `gemini-1.5-flash` is; the message says which file and field."""
    failure = await answer(gemini.environ, model="gemini-1.5-flash")
    assert isinstance(failure, CallFailure)
    words = (
        "no model `gemini-1.5-flash`",
        "`gemini-3.5-flash-lite`",
        "eval config",
        "`judge_model`",
    )
    for said in words:
        assert said in failure.reason
    assert (failure.retryable, failure.for_all) == (False, True)


@pytest.mark.parametrize(
    "config",
    [
        {"http_options": {"base_url": "http://127.0.0.1:9"}},
        {"httpOptions": {"headers": {"x": "y"}}},
        {"tools": [{"url_context": {}}]},
        {"temprature": 0.5},
        {"temperature": "hot"},
    ],
)
async def test_settings_of_a_repository_cannot_reach_beyond_the_model(
    gemini: GeminiStandin, config: dict[str, Any]
) -> None:
    """Endpoints and tools are not theirs to set; a slip is named, and nothing is sent."""
    failure = await answer(gemini.environ, model_config=config)
    assert isinstance(failure, CallFailure)
    assert not failure.retryable
    assert "judge_model_config" in failure.reason
    assert gemini.requests == []


async def test_the_process_environment_does_not_redirect_the_judge(
    gemini: GeminiStandin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what is handed in counts, whatever google-genai would read by itself."""
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("GOOGLE_API_KEY", "another")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    assert isinstance(await answer(gemini.environ), Reply)
    assert len(gemini.requests) == 1


async def test_half_a_surrogate_pair_does_not_stop_a_question(gemini: GeminiStandin) -> None:
    """It is replaced, and everything else arrives as it is."""
    reply = await answer(gemini.environ, text="caf\u00e9 \ud800 \U0001f600")
    assert isinstance(reply, Reply)
    assert "caf\u00e9 ? \U0001f600" in gemini.requests[0].prompt


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, "set GOOGLE_API_KEY"),
        ({"GOOGLE_API_KEY": " "}, "set GOOGLE_API_KEY"),
        ({"GOOGLE_CLOUD_PROJECT": "p"}, "GOOGLE_GENAI_USE_VERTEXAI=true"),
        ({"GOOGLE_GENAI_USE_VERTEXAI": "true"}, "GOOGLE_CLOUD_PROJECT is not"),
    ],
)
def test_without_access_the_variable_to_set_is_named(environ: dict[str, str], words: str) -> None:
    """And where to set it."""
    reason = GeminiProvider.from_environ(environ)
    assert isinstance(reason, str)
    assert words in reason


def service_account(folder: Path, url: str) -> Path:
    """A service account's key file whose tokens come from the stand-in."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file = folder / "key.json"
    account = {
        "type": "service_account",
        "project_id": "p",
        "private_key_id": "1",
        "private_key": pem.decode(),
        "client_email": "judge@p.iam.gserviceaccount.com",
        "token_uri": f"{url}/token",
    }
    file.write_text(json.dumps(account))
    return file


def vertex(gemini: GeminiStandin) -> dict[str, str]:
    """What points a client at a Vertex project."""
    return {
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_CLOUD_PROJECT": "p",
        "GOOGLE_CLOUD_LOCATION": "europe-west4",
        "GOOGLE_VERTEX_BASE_URL": gemini.url,
    }


async def test_a_vertex_project_judges_as_well(
    gemini: GeminiStandin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a service account, over its own token."""
    file = service_account(tmp_path, gemini.url)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    reply = await answer(vertex(gemini))
    assert isinstance(reply, Reply), reply
    assert reply.text == SAID
    assert gemini.requests[0].model == "gemini-2.5-flash"


async def test_credentials_that_do_not_open_are_refused_for_all(
    gemini: GeminiStandin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason names the variable that points at them."""
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere.json")
    failure = await answer(vertex(gemini))
    assert isinstance(failure, CallFailure)
    assert (failure.retryable, failure.for_all) == (False, True)
    assert "GOOGLE_APPLICATION_CREDENTIALS" in failure.reason
    assert gemini.requests == []
