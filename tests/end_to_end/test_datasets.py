"""A project of google-agents-cli, evaluated as it is: both shapes, rubrics, functions, state."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.project import Outcome, Project
from tests.standins.gemini import GeminiStandin

AGENT = '''
"""Answers from the session: what was said before, and its state."""

from google.adk.agents import BaseAgent
from google.adk.events import Event
from google.genai import types

MANNERS = "please"


class Desk(BaseAgent):
    async def _run_async_impl(self, ctx):
        said = [
            f"{event.author}={event.content.parts[0].text}"
            for event in ctx.session.events
            if event.content and event.content.parts
        ]
        city = ctx.session.state.get("city", "nowhere")
        text = f"{MANNERS}: {city}; {' | '.join(said)}"
        content = types.Content(role="model", parts=[types.Part(text=text)])
        yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content)


root_agent = Desk(name="root_agent")
'''
CONFIG = """
metrics_to_run:
  - final_response_quality
  - final_response_match
  - polite
custom_metrics:
  - name: final_response_quality
    metric_spec_parameters:
      rubric_group_key: answer
  - name: polite
    custom_function_file: polite.py
    threshold: 1
"""
POLITE = """
def evaluate(instance):
    text = instance["response"]["parts"][0]["text"]
    turns = instance["agent_data"]["turns"]
    assert len(turns) == 1 and instance["topic"] == "desks"
    return {"score": float("please" in text), "explanation": f"it says {text}"}
"""


def said(role: str, text: str) -> dict[str, Any]:
    """A content."""
    return {"role": role, "parts": [{"text": text}]}


RUBRICS = {"answer": {"rubrics": [
    {"rubric_id": "kind", "content": {"property": {"description": "It is kind."}}}
]}}  # fmt: skip
CASES = [
    {
        "eval_case_id": "asked_once",
        "prompt": said("user", "Where am I?"),
        "reference": {"response": said("model", "In Paris.")},
        "session_inputs": {"user_id": "kim", "state": {"city": "Paris"}},
        "rubric_groups": RUBRICS,
        "topic": "desks",
    },
    {
        "eval_case_id": "goes_on",
        "agent_data": {
            "turns": [
                {
                    "turn_index": 0,
                    "events": [
                        {"author": "user", "content": said("user", "Take me to Oslo")},
                        {
                            "author": "agent",
                            "content": said("model", "We are there."),
                            "state_delta": {"city": "Oslo"},
                        },
                        {"author": "user", "content": said("user", "Where am I?")},
                    ],
                }
            ]
        },
        "reference": {"response": said("model", "In Oslo.")},
        "rubric_groups": RUBRICS,
        "topic": "desks",
    },
]


def judge(body: dict[str, Any]) -> str:
    """Finds every answer valid and kind."""
    if "rubrics" in body["generationConfig"]["responseJsonSchema"]["properties"]:
        verdict = {"rubric_id": "kind", "reasoning": "it is", "verdict": "yes"}
        return json.dumps({"rubrics": [verdict]})
    return json.dumps({"reasoning": "same", "verdict": "valid"})


@pytest.fixture
def project(place: Path, warm_adk: Path) -> Project:
    """The layout of `agents-cli create`, and a pull request that forgets its manners."""
    made = Project.create(place / "repo")
    made.put("pyproject.toml", '[project]\nname = "desk"\nversion = "1"\n')
    made.put(
        "gradegate.toml",
        f"""
[[suite]]
name = "app"
agent = "app"
python = "{warm_adk}"
evals = ["tests/eval/datasets"]
""",
    )
    made.put("app/__init__.py", "from . import agent\n")
    made.put("app/agent.py", AGENT)
    made.put("tests/eval/eval_config.yaml", CONFIG)
    made.put("tests/eval/polite.py", POLITE)
    made.put("tests/eval/datasets/basic-dataset.json", json.dumps({"eval_cases": CASES}, indent=1))
    made.commit("base")
    made.git("switch", "-qc", "change")
    made.put("app/agent.py", AGENT.replace('"please"', '"now"'))
    made.commit("change")
    return made


def evaluated(project: Project, *arguments: str) -> Outcome:
    """`gradegate run` with a judge."""
    with GeminiStandin(judge) as gemini:
        return project.evaluate(*arguments, **gemini.environ)


def test_a_project_of_agents_cli_is_evaluated_as_it_is(project: Project) -> None:
    """The planted change is found by the function; rubrics and references go to the judge."""
    outcome = evaluated(project)
    assert outcome.code == 1, outcome.stdout + outcome.stderr
    blamed = {reason["criterion"] for reason in outcome.report["decision"]["reasons"]}
    assert blamed == {"polite"}
    cases = {case["eval_id"]: case for case in outcome.read("base.results.json")["cases"]}
    for case in cases.values():
        scores = {name: one["score"] for name, one in case["criteria"].items()}
        assert scores["rubric_based_final_response_quality_v1"] == 1.0
        assert scores["final_response_match_v2"] == 1.0
        assert scores["polite"] == 1.0
    told = {
        name: case["criteria"]["polite"]["invocations"][0]["details"]["reasoning"]
        for name, case in cases.items()
    }
    assert told["asked_once"] == "it says please: Paris; user=Where am I?"
    assert told["goes_on"] == (
        "it says please: Oslo; user=Take me to Oslo | root_agent=We are there. | user=Where am I?"
    )


def test_a_function_that_fails_is_not_evaluated_with_its_reason(project: Project) -> None:
    """Like any metric of the user's own."""
    project.git("switch", "-q", "main")
    project.put("tests/eval/polite.py", POLITE.replace('"desks"', '"chairs"'))
    outcome = evaluated(project, "--base", "none")
    assert outcome.code == 3
    (reason, *_) = [
        case["criteria"]["polite"]["reason"] for case in outcome.read("head.results.json")["cases"]
    ]
    assert reason.startswith("AssertionError")
