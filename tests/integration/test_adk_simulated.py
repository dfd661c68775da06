"""A model plays the user of a real ADK agent, until it is done, is stopped, or the agent fails."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.integration.adk import side, write
from tests.standins.gemini import GeminiStandin, prompt_of
from tests.standins.travel_model import answer

GRADEGATE = Path(sys.executable).parent / "gradegate"
SCENARIO = {
    "eval_set_id": "simulated",
    "eval_cases": [
        {
            "eval_id": "trip",
            "conversation_scenario": {
                "starting_prompt": "What is the weather in Paris?",
                "conversation_plan": "Ask for the weather in Oslo, then for flights, then stop.",
            },
        }
    ],
}
QUESTIONS = ("What is the weather in Oslo?", "Flights from Paris to Oslo, please.")


def plays_both(body: dict[str, Any]) -> str | dict[str, Any]:
    """The agent's model where there are tools, else a user who goes through the plan."""
    if "tools" in body:
        return answer(body)
    said = prompt_of(body)
    return next((question for question in QUESTIONS if question not in said), "</finished>")


def never_done(body: dict[str, Any]) -> str | dict[str, Any]:
    """A user who always wants to know one thing more."""
    return answer(body) if "tools" in body else "And what is the weather in Oslo?"


def recorded(place: Path, model: Any, **files: str) -> dict[str, Any]:
    """The one trace of the scenario."""
    root = write(side(place), {f"travel_desk/{name}": text for name, text in files.items()})
    sets = write(place / "sets", {"sim.evalset.json": json.dumps(SCENARIO)})
    limit = {"criteria": {}, "user_simulator_config": {"max_allowed_invocations": 4}}
    write(sets, {"test_config.json": json.dumps(limit)})
    out = place / "traces.json"
    with GeminiStandin(model) as gemini:
        done = subprocess.run(
            [GRADEGATE, "record", "--agent", root / "travel_desk", "--evals", sets, "--out", out],
            env={**os.environ, **gemini.environ, "XDG_CACHE_HOME": str(place / "cache")},
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    (trace,) = json.loads(out.read_text())["cases"]
    return dict(trace)


def asked(trace: dict[str, Any]) -> list[str]:
    """What the user said, turn by turn."""
    return [turn["user_content"]["parts"][0]["text"] for turn in trace["invocations"]]


def test_the_user_goes_through_the_plan_and_stops(place: Path) -> None:
    """Three turns, and the agent answered each from its tools."""
    trace = recorded(place, plays_both)
    assert asked(trace) == ["What is the weather in Paris?", *QUESTIONS]
    assert trace.get("error") is None
    calls = json.dumps(trace["invocations"])
    assert calls.count('"get_weather"') >= 2
    assert '"find_flights"' in calls


def test_a_user_without_end_is_stopped_by_the_limit(place: Path) -> None:
    """As many turns as `max_allowed_invocations` allows."""
    assert len(asked(recorded(place, never_done))) == 4


def test_an_agent_that_fails_in_the_middle_ends_it(place: Path) -> None:
    """The turns that were had are kept, and the failure is the agent's."""
    tools = (Path(__file__).parents[2] / "examples/travel_desk/tools.py").read_text()
    broken = (
        tools
        + "\n\ndef find_flights(origin: str, destination: str) -> dict:\n"
        + ('    """Find flights."""\n    raise RuntimeError("the airline is gone")\n')
    )
    trace = recorded(place, plays_both, **{"tools.py": broken})
    assert "the airline is gone" in trace["error"]
    assert len(trace["invocations"]) == 2
