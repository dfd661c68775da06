"""What the tests of ADK agents share: folders of agents, and their traces."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from gradegate.agents.adk import AdkAgent
from gradegate.agents.requirements import Kind, Recipe
from gradegate.agents.sandbox import Sandbox
from gradegate.agents.uv import EnvironmentBuilder
from gradegate.evalsets.discover import discover_suites
from gradegate.evalsets.load import load_suite
from gradegate.model.evalset import Case, EvalCase, EvalConfig
from gradegate.model.runs import Trace
from gradegate.model.settings import Suite
from tests.places import open_place

EXAMPLES = Path(__file__).parents[2] / "examples"
NEEDS = {"requirements.txt": "google-adk==2.13.0\n"}
"""What an agent needs where the test is not about that: the same for all, so one environment."""


def case(*turns: str, eval_id: str = "case", **session: object) -> Case:
    """A case whose user says these things in a session that starts like this."""
    conversation = [{"user_content": {"parts": [{"text": text}]}} for text in turns]
    start = {"session_input": {"app_name": "app", "user_id": "kim", **session}} if session else {}
    return Case(
        suite="suite",
        eval_set="a.evalset.json",
        eval_set_id="a",
        eval_id=eval_id,
        line=1,
        definition=EvalCase.model_validate(
            {"eval_id": eval_id, "conversation": conversation, **start}
        ),
        config=EvalConfig(),
        digest=eval_id,
    )


def side(folder: Path) -> Path:
    """A side with the travel desk in it."""
    root = folder / "export"
    shutil.copytree(EXAMPLES, root, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def write(root: Path, files: Mapping[str, str]) -> Path:
    """Write files by their paths, and come back to their root."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


async def adk_python(environments: Path) -> Path:
    """The interpreter that agents get which need nothing special."""
    with open_place() as place:
        root = write(place / "sides" / "export", NEEDS)
        recipe = Recipe(Kind.REQUIREMENTS, root, root / "requirements.txt")
        with Sandbox.for_side(root, [environments]) as sandbox:
            apart = sandbox.user is not None
            found = await EnvironmentBuilder(environments, os.environ, {}, apart).build(recipe)
    assert isinstance(found, Path), found
    return found


@asynccontextmanager
async def adk_agent(
    root: Path, cache: Path, environ: Mapping[str, str], suite: Suite, python: str | None = None
) -> AsyncIterator[AdkAgent]:
    """The agent of a side, ready to be run."""
    with Sandbox.for_side(root, [cache]) as sandbox:
        runner = AdkAgent(
            suite,
            root,
            sandbox,
            cache=cache,
            environ={**os.environ, **environ},
            agent_python=python,
        )
        async with runner:
            assert await runner.prepare() is None
            yield runner


async def run_all(runner: AdkAgent, cases: Sequence[Case]) -> list[Trace]:
    """The traces of all cases, started together."""
    outcomes = await asyncio.gather(*(runner.run(each, 1) for each in cases))
    traces = [outcome for outcome in outcomes if isinstance(outcome, Trace)]
    assert len(traces) == len(cases), outcomes
    return traces


def travel_cases(root: Path) -> tuple[Suite, Sequence[Case]]:
    """The suite and the cases that are found in a side without any settings."""
    (suite,) = discover_suites(root)
    return suite, load_suite(root, suite).cases


def calls(trace: Trace) -> list[list[str | None]]:
    """The names of the tools called, turn by turn."""
    return [[call.name for call in turn.tool_calls] for turn in trace.invocations]


def texts(trace: Trace) -> list[str]:
    """What the agent answered, turn by turn."""
    return [turn.response_text for turn in trace.invocations]
