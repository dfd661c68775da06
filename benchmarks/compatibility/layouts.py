"""Small projects of our own with the layouts that real ones have, each with a planted regression.

The agent calls a tool because its instructions say so. Head takes that out, and the model of the
stand-in no longer calls it, nor knows the answer.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ANSWER = "It is sunny in Paris, 24 degrees."
ASKED = "What is the weather in Paris?"
CALL = {"name": "get_weather", "args": {"city": "Paris"}}
RUBRIC = "The answer tells the weather."

_TOLD, _FORGOTTEN = "Call get_weather before you answer.", "Answer briefly."
_AGENT = """from google.adk.agents import Agent


def get_weather(city: str) -> dict:
    \"\"\"The weather of a city.\"\"\"
    return {{"city": city, "sky": "sunny", "degrees": 24}}


root_agent = Agent(
    name="{name}",
    model="gemini-3.5-flash-lite",
    instruction="{told}",
    tools=[get_weather],
)
"""
_PROJECT = """[project]
name = "{name}"
version = "0.1.0"
requires-python = ">=3.10"
dependencies = ["google-adk"]
"""
_POETRY = """[tool.poetry]
name = "weather"
version = "0.1.0"
description = "Tells the weather."
authors = ["a <a@example.com>"]
packages = [{ include = "weather" }]

[tool.poetry.dependencies]
python = ">=3.10,<4"
google-adk = "*"

[build-system]
requires = ["poetry-core>=1"]
build-backend = "poetry.core.masonry.api"
"""
_WORKSPACE = """[project]
name = "everything"
version = "0.1.0"
requires-python = ">=3.10"

[tool.uv.workspace]
members = ["packages/*"]
"""
_YAML = """metrics_to_run:
  - final_response_quality
  - names_the_sky
custom_metrics:
  - name: names_the_sky
    threshold: 1.0
    custom_function: |
      def evaluate(instance):
          return 1.0 if "sunny" in str(instance["response"]) else 0.0
"""


@dataclass(frozen=True)
class Layout:
    """A project, what of it the pull request changes, and what is to be found wrong."""

    name: str
    files: Mapping[str, str]
    changed: Mapping[str, str]
    suites: frozenset[str]
    """The suites that are to be found."""
    regressed: tuple[str, str]
    """The suite and one of the criteria that are to be blamed; no other suite is."""


def agent(name: str = "weather", told: str = _TOLD) -> str:
    """An agent's code."""
    return _AGENT.format(name=name, told=told)


def content(role: str, text: str) -> dict[str, Any]:
    """Something said."""
    return {"role": role, "parts": [{"text": text}]}


def eval_set() -> str:
    """As google-adk writes it today."""
    turn = {
        "user_content": content("user", ASKED),
        "final_response": content("model", ANSWER),
        "intermediate_data": {"tool_uses": [CALL]},
    }
    cases = [{"eval_id": name, "conversation": [turn]} for name in ("paris", "paris_again")]
    return json.dumps({"eval_set_id": "basic", "eval_cases": cases}, indent=1)


def old_set() -> str:
    """As its samples had it in 2025."""
    tool = {"tool_name": CALL["name"], "tool_input": CALL["args"]}
    return json.dumps(
        [{"query": ASKED, "expected_tool_use": [tool], "reference": ANSWER}], indent=1
    )


def config(**criteria: Any) -> str:
    """An EvalConfig."""
    return json.dumps({"criteria": criteria}, indent=1)


def _dataset() -> str:
    rubric = {"rubric_id": "weather", "content": {"property": {"description": RUBRIC}}}
    groups = {"rubric_groups": {"quality": {"rubrics": [rubric]}}}
    event = {"author": "user", "content": content("user", ASKED)}
    said = [
        {"author": "user", "content": content("user", "Hello!")},
        {"author": "app", "content": content("model", "Hello, which city?")},
    ]
    turns = [{"turn_index": 0, "events": said}, {"turn_index": 1, "events": [event]}]
    cases = [
        {"eval_case_id": "prompt", "prompt": content("user", ASKED), **groups},
        {"eval_case_id": "goes_on", "agent_data": {"turns": turns}, **groups},
    ]
    return json.dumps({"eval_cases": cases}, indent=1)


def _rubrics() -> str:
    rubric = {"rubric_id": "weather", "rubric_content": {"text_property": RUBRIC}}
    name = "rubric_based_final_response_quality_v1"
    return config(**{name: {"threshold": 0.8, "rubrics": [rubric]}})


_INIT = "from . import agent\n"
_STRICT = config(tool_trajectory_avg_score=1.0, response_match_score=0.6)


def _one(
    name: str, folder: str, files: Mapping[str, str], criterion: str, suite: str | None = None
) -> Layout:
    """A layout with one agent, in this folder."""
    own = suite or folder.rpartition("/")[2]
    code = f"{folder}/agent.py"
    made = {code: agent(own), f"{folder}/__init__.py": _INIT, **files}
    changed = {code: agent(own, _FORGOTTEN)}
    return Layout(name, made, changed, frozenset({own}), (own, criterion))


def layouts() -> tuple[Layout, ...]:
    """All of them."""
    two = {
        f"agents/{name}/{file}": text
        for name in ("hotels", "weather")
        for file, text in {
            "__init__.py": _INIT,
            "agent.py": agent(name),
            "requirements.txt": "google-adk\n",
            "evals/basic.evalset.json": eval_set(),
            "evals/test_config.json": _STRICT,
        }.items()
    }
    return (
        _one(
            "Agent Starter Pack",
            "app",
            {
                "pyproject.toml": _PROJECT.format(name="starter"),
                "tests/eval/eval_config.json": _rubrics(),
                "tests/eval/evalsets/basic.evalset.json": eval_set(),
            },
            "rubric_based_final_response_quality_v1",
        ),
        _one(
            "adk-samples, 2025",
            "agents/weather/weather",
            {
                "agents/weather/pyproject.toml": _POETRY,
                "agents/weather/eval/data/basic.test.json": old_set(),
                "agents/weather/eval/data/test_config.json": _STRICT,
            },
            "tool_trajectory_avg_score",
        ),
        _one(
            "adk-samples, 2026",
            "python/agents/weather/weather",
            {
                "python/agents/weather/pyproject.toml": _PROJECT.format(name="weather"),
                "python/agents/weather/eval/basic.evalset.json": eval_set(),
                "python/agents/weather/eval/test_config.json": _STRICT,
            },
            "tool_trajectory_avg_score",
        ),
        _one(
            "agents-cli",
            "app",
            {
                "pyproject.toml": _PROJECT.format(name="cli"),
                "tests/eval/eval_config.yaml": _YAML,
                "tests/eval/datasets/basic-dataset.json": _dataset(),
            },
            "names_the_sky",
        ),
        Layout(
            "monorepo",
            two,
            {"agents/weather/agent.py": agent("weather", _FORGOTTEN)},
            frozenset({"hotels", "weather"}),
            ("weather", "tool_trajectory_avg_score"),
        ),
        _one(
            "Poetry",
            "weather",
            {
                "pyproject.toml": _POETRY,
                "evals/basic.evalset.json": eval_set(),
                "evals/test_config.json": _STRICT,
            },
            "tool_trajectory_avg_score",
        ),
        _one(
            "uv workspace",
            "packages/weather/weather",
            {
                "pyproject.toml": _WORKSPACE,
                "packages/weather/pyproject.toml": _PROJECT.format(name="weather"),
                "packages/weather/tests/basic.evalset.json": eval_set(),
                "packages/weather/tests/test_config.json": _STRICT,
            },
            "tool_trajectory_avg_score",
        ),
        _one(
            "requirements.txt alone",
            "weather",
            {
                "requirements.txt": "google-adk\n",
                "weather/basic.evalset.json": eval_set(),
            },
            "tool_trajectory_avg_score",
        ),
    )
