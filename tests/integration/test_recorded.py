"""Recorded runs played back."""

import pytest

from gradegate.agents.recorded import RecordedAgent
from gradegate.model.errors import InputError
from gradegate.model.evalset import Case, EvalCase, EvalConfig
from gradegate.model.runs import NotRun, Trace, Traces


def case(eval_id: str = "paris", suite: str = "weather") -> Case:
    """A case of the weather set."""
    return Case(
        suite=suite,
        eval_set="weather/basic.evalset.json",
        eval_set_id="basic",
        eval_id=eval_id,
        line=1,
        definition=EvalCase(eval_id=eval_id, conversation=()),
        config=EvalConfig(),
        digest=eval_id,
    )


def recorded(*traces: Trace, suite: str = "weather") -> RecordedAgent:
    """An agent that has these traces."""
    return RecordedAgent(Traces(cases=traces), suite, "evals/traces.json")


def trace(
    eval_set: str = "weather/basic.evalset.json", run: int = 1, error: str = "", suite: str = ""
) -> Trace:
    """A trace of the case `paris`."""
    return Trace(suite=suite, eval_set=eval_set, eval_id="paris", run=run, error=error)


@pytest.mark.parametrize(
    "eval_set", ["weather/basic.evalset.json", "./weather/basic.evalset.json", "basic"]
)
async def test_a_run_is_found_by_path_or_by_id(eval_set: str) -> None:
    """It comes back under the case's own names."""
    found = await recorded(trace(eval_set, error="x")).run(case(), 1)
    assert isinstance(found, Trace)
    assert found.key == case().key
    assert found.error == "x"


async def test_the_path_goes_before_the_id() -> None:
    """Two sets may share an id."""
    agent = recorded(trace("basic", error="by id"), trace(error="by path"))
    found = await agent.run(case(), 1)
    assert isinstance(found, Trace)
    assert found.error == "by path"


async def test_runs_are_counted_and_told_apart() -> None:
    """Each run has its own trace."""
    agent = recorded(trace(run=2, error="two"), trace(run=1, error="one"))
    assert agent.runs_of(case()) == 2
    assert agent.runs_of(case("rome")) == 1
    second = await agent.run(case(), 2)
    assert isinstance(second, Trace)
    assert second.error == "two"
    assert not agent.rerunnable


async def test_another_suites_traces_are_not_ours() -> None:
    """A suite that is named must be the one that runs."""
    agent = recorded(trace(suite="travel"))
    assert isinstance(await agent.run(case(), 1), NotRun)
    assert isinstance(await recorded(trace(suite="weather")).run(case(), 1), Trace)


async def test_a_missing_run_names_file_and_case() -> None:
    """So that one knows what to record."""
    agent = recorded(trace(run=1), trace(run=3))
    assert agent.runs_of(case()) == 3
    missing, other = await agent.run(case(), 2), await agent.run(case("rome"), 1)
    assert missing == NotRun(
        "evals/traces.json holds no run 2 of case 'paris' of weather/basic.evalset.json, only: 1, 3"
    )
    assert other == NotRun(
        "evals/traces.json holds no trace of case 'rome' of weather/basic.evalset.json"
    )


def test_a_run_recorded_twice_is_refused() -> None:
    """Which of the two is meant cannot be known."""
    with pytest.raises(InputError, match=r"run 1 of case 'paris'.*recorded twice"):
        recorded(trace(), trace())
