"""Reruns of agents that keep their answers: each comes from a process that has given none."""

import asyncio
from pathlib import Path

import pytest

from gradegate.model.evalset import Case
from gradegate.model.runs import Trace
from gradegate.model.settings import Suite
from tests.integration.adk import NEEDS, adk_agent, case, texts, write

KEEPER = Path(__file__).parents[1] / "standins" / "adk_agents" / "keeper.py"
SUITE = Suite(name="keeper", agent="keeper", env=("KEEPS",))
ROUNDS = (1, 2, 3)


async def answers(place: Path, environments: Path, python: Path, keeps: str) -> list[list[str]]:
    """What it says to two cases in three runs: pid, its parent's, and a number, run by run."""
    root = write(place / "sides" / "export", {**NEEDS, "keeper/agent.py": KEEPER.read_text()})
    both = [case("one", eval_id="a"), case("two", eval_id="b")]
    async with adk_agent(root, environments, {"KEEPS": keeps}, SUITE, str(python)) as runner:

        async def said(each: Case, number: int) -> str:
            trace = await runner.run(each, number)
            assert isinstance(trace, Trace)
            assert trace.error is None
            return texts(trace)[0]

        return [await asyncio.gather(*(said(each, run) for each in both)) for run in ROUNDS]


@pytest.mark.parametrize(
    ("keeps", "started"), [("memory", 1), ("home at first", 3), ("dice", 3), ("thread", 3)]
)
async def test_nothing_of_an_earlier_run_is_left(
    place: Path, environments: Path, warm_adk: Path, keeps: str, started: int
) -> None:
    """The agent is copied, or started from the beginning where a copy would not be like new."""
    said = await answers(place, environments, warm_adk, keeps)
    processes, parents, drawn = zip(*(text.split() for run in said for text in run), strict=True)
    assert len(set(drawn)) == 6
    assert processes[::2] == processes[1::2]  # the cases of a run share one
    assert len(set(processes)) == 3
    assert len(set(parents)) == started
