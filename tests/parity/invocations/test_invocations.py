"""What we record of an agent equals what google-adk's evaluation records, field by field."""

import asyncio
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gradegate.model.evalset import Invocation
from gradegate.model.runs import Trace
from gradegate.model.settings import Suite
from tests.integration.adk import EXAMPLES, adk_agent, case, run_all, travel_cases
from tests.parity.invocations import model
from tests.standins import travel_model
from tests.standins.gemini import GeminiStandin

PYTHON = Path(__file__).parents[3] / ".parity-venv" / "bin" / "python"
SERVICE = Path(__file__).parent / "service.py"
ZOO = Path(__file__).parent / "zoo"
CALL_ID = re.compile(r"adk-[0-9a-f-]{36}")
MEASURED = ("invocation_id", "creation_timestamp", "duration", "model_duration", "tool_duration")


def theirs(root: Path, name: str, eval_set: Mapping[str, Any], environ: Mapping[str, str]) -> Any:
    """What google-adk records, by eval id."""
    done = subprocess.run(
        [PYTHON, SERVICE, root, name],
        input=json.dumps(eval_set),
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def ours(
    root: Path, suite: Suite, cases: list[Any], cache: Path, environ: Mapping[str, str]
) -> list[Trace]:
    """What we record, one after the other as they do."""

    async def run() -> list[Trace]:
        async with adk_agent(root, cache, environ, suite, str(PYTHON)) as runner:
            return [(await run_all(runner, [each]))[0] for each in cases]

    return asyncio.run(run())


def comparable(turns: list[Any]) -> list[dict[str, Any]]:
    """The turns as JSON; what is random is numbered, what is measured only has to be there."""
    text = json.dumps(turns, sort_keys=True)
    for number, found in enumerate(dict.fromkeys(CALL_ID.findall(text))):
        text = text.replace(found, f"call {number}")
    return [
        {key: key if key in MEASURED else value for key, value in turn.items()}
        for turn in json.loads(text)
    ]


def dumped(turns: Any) -> list[dict[str, Any]]:
    """Turns read and written by our model."""
    return [t.model_dump(mode="json", exclude_none=True) for t in turns]


def compare(theirs: Any, trace: Trace) -> None:
    """Every field of every turn, and whether it failed."""
    read = dumped(Invocation.model_validate(turn) for turn in theirs["invocations"])
    assert comparable(dumped(trace.invocations)) == comparable(read)
    assert (trace.error is None) == (theirs["error"] is None)


@pytest.fixture(scope="module")
def same(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Any, list[Trace]]]:
    """Runs the same agent and cases with both."""

    def run(
        folder: Path, answer: Callable[..., Any], suite: Suite, cases: list[Any]
    ) -> tuple[Any, list[Trace]]:
        place = tmp_path_factory.mktemp("side")
        root = place / "export"
        shutil.copytree(folder, root / folder.name)
        eval_cases = [c.definition.model_dump(mode="json", exclude_none=True) for c in cases]
        eval_set = {"eval_set_id": "set", "eval_cases": eval_cases}
        with GeminiStandin(answer) as standin:
            reference = theirs(root, folder.name, eval_set, standin.environ)
            return reference, ours(root, suite, cases, place / "cache", standin.environ)

    return run


def test_the_travel_desk(same: Callable[..., tuple[Any, list[Trace]]]) -> None:
    """Tools, state, several turns, a sub-agent, Japanese."""
    suite, cases = travel_cases(EXAMPLES)
    reference, traces = same(EXAMPLES / "travel_desk", travel_model.answer, suite, list(cases))
    assert len(traces) == 7
    for trace in traces:
        compare(reference[trace.eval_id], trace)


WORDS = [*model.PARTS, "grounded", "blocked", "guarded"]


@pytest.fixture(scope="module")
def zoo(same: Callable[..., tuple[Any, list[Trace]]]) -> tuple[Any, dict[str, Trace]]:
    """Every kind of turn, with one more after it, by its word."""
    cases = [case(f"{w} one", "plain two", eval_id=w, state={"looked_at": "moon"}) for w in WORDS]
    reference, traces = same(ZOO, model.answer, Suite(name="zoo", agent="zoo"), cases)
    return reference, {trace.eval_id: trace for trace in traces}


@pytest.mark.parametrize("word", WORDS)
def test_the_zoo(zoo: tuple[Any, dict[str, Trace]], word: str) -> None:
    """An app's plugin, thoughts, parallel calls, agents as tools, agents that run agents."""
    reference, traces = zoo
    compare(reference[word], traces[word])
