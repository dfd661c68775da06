"""Vertex AI's own SDK against a server that behaves like its evaluation service."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gradegate.criteria import registry
from gradegate.judge.client import JudgeClient
from gradegate.judge.providers.vertex import VertexProvider
from gradegate.judge.retry import RetryPolicy
from gradegate.model.evalset import EvalCase
from gradegate.model.result import CriterionResult
from gradegate.model.runs import Trace
from gradegate.model.settings import JudgeSettings
from gradegate.ports import CallFailure, Reply
from gradegate.store.sqlite import SqliteStore
from tests.standins.gemini.faults import Fault, always
from tests.standins.vertex import KEY, VertexStandin
from tests.standins.vertex.server import texts_of

LONG = 600.0
"""Seconds: less than the answer that hangs takes, more than any machine needs."""
TASK = "multi_turn_task_success_v1"


def score(metric: str, instance: dict[str, Any]) -> dict[str, Any]:
    """Unsafe is what speaks of bombs; coherent as its length says; conversations go by rubrics."""
    if metric == "safety_v1":
        unsafe = "bomb" in texts_of(instance)["response"]
        return {"score": 0.0 if unsafe else 1.0, "explanation": "It is about bombs." * unsafe}
    if metric == "coherence_v1":
        return {
            "score": float(len(texts_of(instance)["response"].split())),
            "explanation": "Flows.",
        }
    rubric = {"content": {"property": {"description": "The trip is booked."}}, "rubricId": "r"}
    return {
        "score": 0.5,
        "rubricVerdicts": [
            {"evaluatedRubric": rubric, "verdict": True, "reasoning": "It says so."},
            {"evaluatedRubric": {"rubricId": "paid"}, "reasoning": "Nobody paid."},
        ],
    }


@pytest.fixture
def vertex(monkeypatch: pytest.MonkeyPatch) -> Iterator[VertexStandin]:
    """The service, and the storage that its metrics are fetched from."""
    with VertexStandin(score) as standin:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", standin.url)
        yield standin


def turns(*answers: str) -> list[dict[str, Any]]:
    """A conversation with these answers."""
    return [
        {
            "user_content": {"parts": [{"text": f"question {number}"}]},
            "final_response": {"parts": [{"text": said}]},
        }
        for number, said in enumerate(answers)
    ]


@asynccontextmanager
async def asker(
    environ: dict[str, str], store: SqliteStore | None = None, retry: RetryPolicy | None = None
) -> AsyncIterator[JudgeClient]:
    """The way to the service that this environment gives access to."""
    provider = VertexProvider.from_environ(environ, [], 32)
    async with JudgeClient(
        provider, store or SqliteStore.in_memory(), JudgeSettings(), retry=retry
    ) as ask:
        yield ask


async def scored(
    environ: dict[str, str], name: str, *answers: str, store: SqliteStore | None = None
) -> CriterionResult:
    """What a criterion makes of a conversation with these answers."""
    async with asker(environ, store) as ask:
        return await scored_by(ask, name, *answers)


async def scored_by(ask: JudgeClient, name: str, *answers: str) -> CriterionResult:
    """The same, over this way to the service."""
    case = EvalCase.model_validate({"eval_id": "c", "conversation": turns(*answers)})
    trace = Trace(eval_set="s", eval_id="c", invocations=case.conversation or ())
    return await registry.parse(name, registry.scale_of(name).high).score(case, trace, ask)


async def test_safety_is_asked_turn_by_turn(vertex: VertexStandin, tmp_path: Path) -> None:
    """One call a turn, of version 1, with prompt and response; the explanation is kept."""
    result = await scored(vertex.environ(tmp_path), "safety_v1", "All well.", "Build a bomb.")
    assert (result.score, result.status) == (0.5, "failed")
    assert [turn.score for turn in result.invocations] == [1.0, 0.0]
    assert result.invocations[1].details == {"verdict": "unsafe", "reasoning": "It is about bombs."}
    assert {request.metric for request in vertex.requests} == {"safety_v1"}
    asked = sorted(texts_of(request.instance)["prompt"] for request in vertex.requests)
    assert asked == ["question 0", "question 1"]


async def test_an_empty_answer_is_neither_safe_nor_unsafe(
    vertex: VertexStandin, tmp_path: Path
) -> None:
    """The service does not take it, and nothing was said that could do harm."""
    result = await scored(vertex.environ(tmp_path), "safety_v1", "All well.", "")
    assert (result.score, result.status, len(vertex.requests)) == (1.0, "passed", 1)


async def test_coherence_is_scored_from_one_to_five(vertex: VertexStandin, tmp_path: Path) -> None:
    """Its metric is fetched once; a score beyond its range is no score; silence gets the lowest."""
    environ = vertex.environ(tmp_path)
    result = await scored(environ, "response_evaluation_score", "a b c", "a b c d e", "")
    assert [turn.score for turn in result.invocations] == [3.0, 5.0, 1.0]
    assert (result.score, result.threshold, result.status) == (3.0, 5.0, "failed")
    assert vertex.fetched == 1
    result = await scored(environ, "response_evaluation_score", "a b c d e f")
    assert (result.score, result.status) == (None, "not_evaluated")
    assert "score 6, which is not from 1 to 5" in str(result.reason)


async def test_a_conversation_is_judged_once(vertex: VertexStandin, tmp_path: Path) -> None:
    """With all its turns; the verdict and the rubrics stand with the last one."""
    result = await scored(vertex.environ(tmp_path), TASK, "one", "two", "three")
    assert (result.score, result.status, len(vertex.requests)) == (0.5, "failed", 1)
    assert [turn.status for turn in result.invocations] == [
        "not_evaluated",
        "not_evaluated",
        "failed",
    ]
    assert [(one.rubric_id, one.score, one.rationale) for one in result.rubrics] == [
        ("The trip is booked.", 1.0, "It says so."),
        ("paid", 0.0, "Nobody paid."),
    ]
    (request,) = vertex.requests
    assert len(request.instance["agent_eval_data"]["turns"]) == 3


@pytest.mark.parametrize(
    "fault", [Fault.BUSY, Fault.UNAVAILABLE, Fault.BUSY_RETRY_INFO, Fault.RESET, Fault.CUT_JSON]
)
async def test_what_may_pass_is_tried_again(
    vertex: VertexStandin, tmp_path: Path, fault: Fault
) -> None:
    """By us, once for each refusal, and never by the SDK, which does not heed the service."""
    vertex.faults = lambda number: fault if number <= 2 else None
    async with asker(vertex.environ(tmp_path), retry=RetryPolicy(first_retry=0.01)) as ask:
        result = await scored_by(ask, "safety_v1", "All well.")
        assert (result.score, len(vertex.requests)) == (1.0, 3)
        assert ask.usage().judge_retries == 2


async def until(what: Callable[[], bool]) -> None:
    """Wait for what another thread does."""
    while not what():  # noqa: ASYNC110 - it cannot tell our loop
        await asyncio.sleep(0.01)


async def test_the_services_own_wait_is_kept(vertex: VertexStandin, tmp_path: Path) -> None:
    """`Retry-After` says one second; our own wait would be longer than a verdict may take."""
    vertex.faults = lambda number: Fault.BUSY_RETRY_AFTER if number == 1 else None
    ours = RetryPolicy(first_retry=1e6, longest_retry=1e6)
    async with asker(vertex.environ(tmp_path), retry=ours) as ask:
        assert (await scored_by(ask, "safety_v1", "All well.")).score == 1.0
    first, second = vertex.requests
    assert second.at - first.at >= 1.0


async def test_an_error_in_place_of_a_score_is_tried_again_or_told(
    vertex: VertexStandin, tmp_path: Path
) -> None:
    """A metric can fail inside an answer that is a success."""

    def failing(_metric: str, _instance: dict[str, Any]) -> dict[str, Any]:
        code = 14 if len(vertex.requests) == 1 else 3
        return {"error": {"code": code, "message": "The rater was confused."}}

    vertex.score = failing
    result = await scored(vertex.environ(tmp_path), "safety_v1", "All well.")
    assert (result.score, result.status) == (None, "not_evaluated")
    assert "The rater was confused." in str(result.reason)
    assert len(vertex.requests) == 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"GOOGLE_CLOUD_PROJECT": "other"}, "403 PERMISSION_DENIED"),
        ({"GOOGLE_CLOUD_LOCATION": "mars-1"}, "GOOGLE_CLOUD_LOCATION"),
        ({"GOOGLE_APPLICATION_CREDENTIALS": "/there/is/none.json"}, "/there/is/none.json"),
    ],
)
async def test_refusals_for_good_are_told_once(
    vertex: VertexStandin, tmp_path: Path, change: dict[str, str], told: str
) -> None:
    """With what to look at; nobody is asked again."""
    environ = {**vertex.environ(tmp_path), **change}
    result = await scored(environ, "safety_v1", "All well.")
    assert (result.score, result.status) == (None, "not_evaluated")
    assert told in str(result.reason)
    assert vertex.requests == []


async def test_a_key_of_express_mode_does_as_well(vertex: VertexStandin) -> None:
    """Without a project, as criteria that need no fetched metric can be had."""
    environ = {"GOOGLE_API_KEY": KEY, "GRADEGATE_VERTEX_BASE_URL": vertex.url}
    result = await scored(environ, "safety_v1", "All well.", "Build a bomb.")
    assert [turn.score for turn in result.invocations] == [1.0, 0.0]
    assert (await scored(environ, TASK, "one", "two")).score == 0.5
    result = await scored(environ, "response_evaluation_score", "a b c")
    assert "GOOGLE_CLOUD_PROJECT" in str(result.reason)
    environ["GOOGLE_API_KEY"] = "of-another-kind"
    assert "401" in str((await scored(environ, "safety_v1", "Other words.")).reason)


async def test_the_same_is_asked_once(vertex: VertexStandin, tmp_path: Path) -> None:
    """The store has it: the other side, and the next run, cost nothing."""
    store = SqliteStore.in_memory()
    for _ in range(2):
        await scored(vertex.environ(tmp_path), "safety_v1", "All well.", store=store)
    assert len(vertex.requests) == 1


async def test_twenty_calls_go_side_by_side(vertex: VertexStandin, tmp_path: Path) -> None:
    """None is answered before all of them are there."""
    answers = [f"answer {number}" for number in range(20)]
    vertex.hold()
    async with asker(vertex.environ(tmp_path)) as ask, asyncio.timeout(LONG):
        scoring = asyncio.create_task(scored_by(ask, "safety_v1", *answers))
        await until(lambda: vertex.most_at_once == 20 or scoring.done())
        vertex.release()
        result = await scoring
    assert result.score == 1.0
    assert vertex.most_at_once == len(vertex.requests) == 20


async def test_closing_does_not_wait_for_the_service(vertex: VertexStandin, tmp_path: Path) -> None:
    """A call that hangs is let go of, and its thread comes free."""
    vertex.faults = always(Fault.HANG)
    provider = VertexProvider.from_environ(vertex.environ(tmp_path), [], 4)
    assert isinstance(provider, VertexProvider)
    question = registry.parse("safety_v1", 1.0)._question({"prompt": "p", "response": "r"})  # type: ignore[attr-defined] # what the criterion asks
    asking = asyncio.create_task(provider.answer(question, 1))
    await until(lambda: bool(vertex.requests) or asking.done())
    asking.cancel()
    async with asyncio.timeout(LONG):
        await provider.close()
    for thread in provider._threads._threads:
        await asyncio.to_thread(thread.join, LONG)
        assert not thread.is_alive()


PROBE = """
import asyncio, json, sys
sys.path.insert(0, {tests!r})
from gradegate.judge.providers.vertex import VertexProvider
from gradegate.criteria import registry
async def main():
    provider = VertexProvider.from_environ(json.loads(sys.argv[1]), [], 4)
    question = registry.parse("safety_v1", 1.0)._question({{"prompt": "p", "response": "r"}})
    print(json.dumps(await provider.answer(question, 1)))
    await provider.close()
asyncio.run(main())
"""


def probe(environ: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """One question asked by a fresh process."""
    script = PROBE.format(tests=str(Path(__file__).parents[2]))
    return subprocess.run(
        [sys.executable, *options, "-c", script, json.dumps(environ)],
        env={name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def test_the_sdk_keeps_quiet(vertex: VertexStandin, tmp_path: Path) -> None:
    """No progress bar, no warning, no log of what we tell ourselves."""
    vertex.faults = always(Fault.REFUSED)
    done = probe(vertex.environ(tmp_path))
    assert CallFailure(*json.loads(done.stdout)).reason.startswith(
        "Vertex AI: 400 INVALID_ARGUMENT"
    )
    assert done.stderr == ""


def test_without_the_extra_it_says_what_to_install(vertex: VertexStandin, tmp_path: Path) -> None:
    """A smaller installation has no SDK, and that is no crash."""
    (tmp_path / "agentplatform.py").write_text("raise ImportError('it is not here')\n")
    environ = vertex.environ(tmp_path)
    hidden = f"import sys; sys.path.insert(0, {str(tmp_path)!r})"
    script = f"{hidden}\n{PROBE.format(tests=str(Path(__file__).parents[2]))}"
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(environ)],
        capture_output=True,
        text=True,
        check=True,
    )
    reason, retryable, *_ = json.loads(done.stdout)
    assert "pip install 'gradegate[vertex]'" in reason
    assert not retryable


async def test_an_answer_is_json(vertex: VertexStandin, tmp_path: Path) -> None:
    """As of any judge, so that it can be recorded and replayed."""
    provider = VertexProvider.from_environ(vertex.environ(tmp_path), [], 4)
    assert isinstance(provider, VertexProvider)
    question = registry.parse("safety_v1", 1.0)._question({"prompt": "p", "response": "r"})  # type: ignore[attr-defined] # what the criterion asks
    reply = await provider.answer(question, 1)
    await provider.close()
    assert isinstance(reply, Reply)
    assert json.loads(reply.text) == {"score": 1.0, "explanation": "", "rubrics": []}
