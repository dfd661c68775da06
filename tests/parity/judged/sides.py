"""The same cases scored by google-adk and by us, each with its own judge."""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from gradegate.criteria import registry
from gradegate.judge.client import JudgeClient
from gradegate.judge.providers.gemini import GeminiProvider
from gradegate.model.evalset import EvalCase
from gradegate.model.result import CriterionResult, Status
from gradegate.model.runs import Trace
from gradegate.model.settings import JudgeSettings
from gradegate.ports import Ask
from gradegate.store.sqlite import SqliteStore
from tests.parity.against import INTERPRETER
from tests.parity.judged.cases import Batch

CLOSE = 1e-9

Scored = dict[str, CriterionResult]
"""A case by criterion."""


def google_adks(batch: Batch, environ: Mapping[str, str]) -> dict[str, Any]:
    """google-adk's results for a batch, judged where the environment says, and its seconds."""
    assert INTERPRETER.exists(), "google-adk is not installed: run `make test-parity`"
    script = Path(__file__).with_name("service.py")
    found = subprocess.run(
        [INTERPRETER, script],
        input=json.dumps(batch.as_json()),
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **environ},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    results: dict[str, Any] = json.loads(found.stdout)
    return results


async def ours(batch: Batch, ask: Ask) -> list[Scored]:
    """Our results for a batch: all cases and criteria side by side."""
    return await asyncio.gather(*(_case(each, batch.criteria, ask) for each in batch.cases))


async def _case(each: dict[str, Any], criteria: Mapping[str, Any], ask: Ask) -> Scored:
    scored = (_score(name, entry, each, ask) for name, entry in criteria.items())
    return dict(zip(criteria, await asyncio.gather(*scored), strict=True))


async def _score(name: str, entry: Any, each: dict[str, Any], ask: Ask) -> CriterionResult:
    case = EvalCase.model_validate(each["case"])
    trace = Trace.model_validate(
        {"eval_set": "parity", "eval_id": case.eval_id, "invocations": each["actual"]}
    )
    return await registry.parse(name, entry).score(case, trace, ask)


@asynccontextmanager
async def asker(environ: Mapping[str, str], store: Path) -> AsyncIterator[JudgeClient]:
    """Everything that stands behind `ask`, on a store file."""
    answerer = GeminiProvider.from_environ(environ)
    with SqliteStore(store) as kept:
        async with JudgeClient(answerer, kept, JudgeSettings()) as ask:
            yield ask


def disagreement(mine: CriterionResult, theirs: dict[str, Any]) -> str | None:
    """How a result differs from google-adk's, turn by turn and in all."""
    scores = [mine.score, *(turn.score for turn in mine.invocations)]
    others = [theirs["score"], *theirs["invocations"]]
    same = len(scores) == len(others) and all(map(_close, scores, others))
    told = mine.status in {Status.NOT_EVALUATED, Status.INFORMATIONAL}
    if same and (told or mine.status.value == theirs["status"]):
        return None
    return f"ours {mine.status} {scores}, google-adk's {theirs['status']} {others}"


def _close(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= CLOSE
