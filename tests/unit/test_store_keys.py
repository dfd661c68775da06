"""What a store is looked up by: with other keys everything would be run and asked again.

`store_keys.json` holds the keys that stores out there were written with. Where the meaning of a key
changes on purpose, its version is raised and this file written anew.
"""

import json
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

from gradegate.agents.requirements import Kind, Recipe
from gradegate.criteria import registry
from gradegate.model.evalset import EvalCase
from gradegate.model.question import Question, Votes
from gradegate.model.runs import Role, Side, Trace
from gradegate.model.settings import JudgeSettings, Settings, Suite
from gradegate.pipeline.journal import Journal
from gradegate.sides.identity import agent_identity, fingerprint
from gradegate.store.sqlite import SqliteStore
from tests.runs import a_case
from tests.standins.judging import question

T = TypeVar("T", bound=BaseModel)
KEYS = json.loads(Path(__file__).with_name("store_keys.json").read_text(encoding="utf-8"))
TURN = {
    "user_content": {"parts": [{"text": "Is it sunny in Paris?"}]},
    "final_response": {"parts": [{"text": "It is sunny. 24 degrees."}]},
    "intermediate_data": {
        "tool_uses": [{"name": "get_weather", "args": {"city": "Paris"}}],
        "tool_responses": [{"name": "get_weather", "response": {"sky": "sunny"}}],
    },
}


def rubric(rubric_id: str, text: str) -> dict[str, Any]:
    """A config with one rubric."""
    asked = {"rubricId": rubric_id, "rubricContent": {"textProperty": text}}
    return {"threshold": 0.8, "rubrics": [asked]}


CONFIGS: dict[str, dict[str, Any]] = {
    "final_response_match_v2": {"threshold": 0.8},
    "rubric_based_final_response_quality_v1": rubric("polite", "It is polite."),
    "rubric_based_tool_use_quality_v1": rubric("once", "One call."),
    "rubric_based_multi_turn_trajectory_quality_v1": rubric("done", "It is done."),
    "hallucinations_v1": {"threshold": 0.8},
    "safety_v1": {"threshold": 0.8},
    "response_evaluation_score": {"threshold": 3.0},
    "multi_turn_task_success_v1": {"threshold": 0.8},
}


class Noting:
    """Notes what is asked, and answers with a stand-in where a question leads to another."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    async def __call__(self, question: Question[T], samples: int) -> Votes[T]:
        del samples
        self.keys.append(question.by_default("gemini-2.5-flash").key(1))
        if question.stand_in is None:
            return Votes(failure="not asked")
        return Votes(answers=(question.stand_in(),))


def test_a_question_that_is_put_again_is_another_one() -> None:
    """The first time it has the key that it always had, so that old verdicts still serve."""
    asked = question("is it?")
    once, again = asked.key(1), asked.again(2).key(1)
    assert once == asked.again(1).key(1) == KEYS["once"]
    assert again == KEYS["again"]


@pytest.mark.parametrize("name", CONFIGS)
async def test_questions_are_found_where_they_were_kept(name: str) -> None:
    """By kind, version of the prompt, data, model and its config, and the sample's number."""
    definition = EvalCase.model_validate({"eval_id": "c", "conversation": [TURN]})
    trace = Trace(eval_set="s", eval_id="c", invocations=definition.conversation or ())
    noting = Noting()
    await registry.parse(name, CONFIGS[name]).score(definition, trace, noting)
    assert noting.keys == KEYS["questions"][name]


def test_runs_are_found_where_they_were_kept() -> None:
    """First passes by agent and case; fresh ones for their comparison alone."""
    journal, case = Journal(SqliteStore.in_memory(), "job"), a_case()
    assert journal._key("agent", case, 1, Role.FIRST) == KEYS["first"]
    assert journal._key("agent", case, 4, Role.CONFIRM) == KEYS["confirm"]


def test_agents_sides_and_environments_are_the_same_as_ever(tmp_path: Path) -> None:
    """An agent by its files and how it runs, an environment by what is installed."""
    place = tmp_path / "side" / "agents" / "desk"
    place.mkdir(parents=True)
    (place / "agent.py").write_text("root_agent = None\n")
    (place / "requirements.txt").write_text("google-adk==2.13.0\n")
    side = Side("c", tmp_path / "side", tmp_path / "side")
    suite = Suite(name="desk", agent="agents/desk", evals=("evals",), env=("KEY",))
    identity = agent_identity(suite, side, ["evals/a.json"])
    assert identity == KEYS["identity"]
    settings = Settings(judge=JudgeSettings(model="gemini-2.5-flash"))
    assert fingerprint([identity], [a_case()], settings) == KEYS["fingerprint"]
    recipe = Recipe(Kind.REQUIREMENTS, place, place / "requirements.txt")
    assert recipe.key("3.11 uv") == KEYS["environment"]
