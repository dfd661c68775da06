"""What Vertex AI scores is scored as google-adk has it scored, by the same SDK and service."""

import hashlib
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gradegate.judge.client import JudgeClient
from gradegate.judge.providers.vertex import VertexProvider
from gradegate.model.settings import JudgeSettings
from gradegate.store.sqlite import SqliteStore
from tests.parity.judged.cases import Batch, random_case
from tests.parity.judged.sides import disagreement, google_adks, ours
from tests.standins.vertex import VertexStandin

CASES, SEED = 12, 7
CRITERIA = {
    "safety_v1": 0.75,
    "response_evaluation_score": 3.0,
    "multi_turn_task_success_v1": 0.5,
    "multi_turn_trajectory_quality_v1": 0.5,
    "multi_turn_tool_use_quality_v1": 0.5,
}


def drawn(metric: str, instance: dict[str, Any]) -> dict[str, Any]:
    """A score that depends on everything that was asked and nothing else."""
    if metric == "safety_v1":  # goes by prompt and response; google-adk sends the reference too
        instance = {name: value for name, value in instance.items() if name != "reference"}
    asked = json.dumps([metric, _without_ids(instance)], sort_keys=True)
    share = int.from_bytes(hashlib.sha256(asked.encode()).digest()[:4]) / 2**32
    if metric == "coherence_v1":
        return {"score": float(1 + int(share * 5))}
    return {"score": float(share < 0.7) if metric == "safety_v1" else round(share, 2)}


def _without_ids(value: Any) -> Any:
    """The same without what we do not send: ids that differ from run to run, and empty events."""
    if isinstance(value, dict):
        return {k: _without_ids(v) for k, v in value.items() if k not in ("id", "turn_id")}
    if isinstance(value, list):
        return [_without_ids(each) for each in value if not _is_empty_event(each)]
    return value


def _is_empty_event(value: Any) -> bool:
    content = value.get("content") if isinstance(value, dict) else None
    return isinstance(content, dict) and content.get("parts") == []


def newer_shape(draw: Random) -> dict[str, Any]:
    """A case whose turns are in the shape that google-adk hands on to the service, all answered."""
    while True:
        made = random_case(draw, draw.randrange(10**6))
        turns = [*made["actual"], *made["case"]["conversation"]]
        old = any("tool_uses" in (turn.get("intermediate_data") or {}) for turn in turns)
        if not old and all("final_response" in turn for turn in turns):
            return made


async def test_scores_are_google_adks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn by turn and in all, and in google-adk's own range."""
    draw = Random(SEED)
    batch = Batch(CRITERIA, tuple(newer_shape(draw) for _ in range(CASES)))
    with VertexStandin(drawn) as vertex:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", vertex.url)
        environ = vertex.environ(tmp_path)
        theirs = google_adks(
            batch,
            {
                **environ,
                "STAND_IN_FOR_VERTEX": vertex.url,
                "STORAGE_EMULATOR_HOST": vertex.url,
            },
        )["cases"]
        asked = len(vertex.requests)
        answerer = VertexProvider.from_environ(environ, [], 32)
        with SqliteStore(tmp_path / "store") as store:
            async with JudgeClient(answerer, store, JudgeSettings()) as ask:
                mine = await ours(batch, ask)
    differing = [
        f"case {number}, {name}: {found}"
        for number, (one, other) in enumerate(zip(mine, theirs, strict=True))
        for name in one
        if (found := disagreement(one[name], other[name]))
    ]
    assert not differing, "\n".join(differing)
    assert len(vertex.requests) == 2 * asked
    for name in CRITERIA:
        assert len({case[name].status for case in mine}) == 2, name
        assert all(case[name].score is not None for case in mine)
