"""A model plays the user of a real ADK agent, until it is done, is stopped, or the agent fails."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.integration.adk import side, write
from tests.places import open_place
from tests.standins.gemini import GeminiStandin, prompt_of
from tests.standins.travel_model import answer
from tests.starter import STARTER

START = "What is the weather in Paris?"
PLANS = {
    "trip": "Ask for the weather in Oslo, then for flights, then stop.",
    "endless": "Always ask for one thing more.",
    "nowhere": "Ask for the weather in Oslo, then for flights to Atlantis.",
}
OSLO = "What is the weather in Oslo?"
QUESTIONS = {
    "trip": (OSLO, "Flights from Paris to Oslo, please."),
    "nowhere": (OSLO, "Flights from Paris to Atlantis, please."),
}
SCENARIOS = {
    "eval_set_id": "simulated",
    "eval_cases": [
        {
            "eval_id": eval_id,
            "conversation_scenario": {"starting_prompt": START, "conversation_plan": plan},
        }
        for eval_id, plan in PLANS.items()
    ],
}
LIMIT = {"criteria": {}, "user_simulator_config": {"max_allowed_invocations": 4}}
SEARCH = "    found = _FLIGHTS.get("
BREAKS = '    if destination == "Atlantis":\n        raise RuntimeError("the airline is gone")\n'


def plays_both(body: dict[str, Any]) -> str | dict[str, Any]:
    """The agent's model where there are tools, else a user with one of the plans."""
    if "tools" in body:
        return answer(body)
    said = prompt_of(body)
    (eval_id,) = (eval_id for eval_id, plan in PLANS.items() if plan in said)
    if eval_id == "endless":
        return f"And now? {OSLO}"
    return next((each for each in QUESTIONS[eval_id] if each not in said), "</finished>")


@pytest.fixture(scope="module")
def traces(cache: Path) -> Mapping[str, Any]:
    """What was recorded of each scenario, by its id."""
    with open_place() as place, GeminiStandin(plays_both) as gemini:
        root = side(place)
        tools = root / "travel_desk" / "tools.py"
        tools.write_text(tools.read_text().replace(SEARCH, BREAKS + SEARCH))
        sets = {"sim.evalset.json": json.dumps(SCENARIOS), "test_config.json": json.dumps(LIMIT)}
        evals = write(place / "sets", sets)
        out, store = place / "traces.json", place / "store.sqlite"
        command = ["record", "--agent", root / "travel_desk", "--evals", evals]
        words = [*map(str, command), "--out", str(out), "--store", str(store)]
        environ = {**os.environ, **gemini.environ, "XDG_CACHE_HOME": str(cache)}
        done = STARTER.run(words, place, environ)
        assert done.returncode == 0, done.stderr
        return {trace["eval_id"]: trace for trace in json.loads(out.read_text())["cases"]}


def asked(trace: dict[str, Any]) -> list[str]:
    """What the user said, turn by turn."""
    return [turn["user_content"]["parts"][0]["text"] for turn in trace["invocations"]]


def test_the_user_goes_through_the_plan_and_stops(traces: Mapping[str, Any]) -> None:
    """Three turns, and the agent answered each from its tools."""
    trace = traces["trip"]
    assert asked(trace) == [START, *QUESTIONS["trip"]]
    assert trace.get("error") is None
    calls = json.dumps(trace["invocations"])
    assert calls.count('"get_weather"') >= 2
    assert '"find_flights"' in calls


def test_a_user_without_end_is_stopped_by_the_limit(traces: Mapping[str, Any]) -> None:
    """As many turns as `max_allowed_invocations` allows."""
    assert len(asked(traces["endless"])) == 4


def test_an_agent_that_fails_in_the_middle_ends_it(traces: Mapping[str, Any]) -> None:
    """The turns that were had are kept, and the failure is the agent's."""
    trace = traces["nowhere"]
    assert "the airline is gone" in trace["error"]
    assert len(trace["invocations"]) == 2
