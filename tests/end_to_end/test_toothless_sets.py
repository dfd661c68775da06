"""`gradegate audit`: sets that cannot go red are named, and nobody is asked unless told to."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from gradegate.demo.repository import make_repository
from tests.project import WEATHER, AgentLog, Project, case, eval_set, scripted, turn
from tests.standins.gemini import GeminiStandin, prompt_of

TOOLS, MATCH = "tool_trajectory_avg_score", "response_match_score"
RUBRICS = "rubric_based_final_response_quality_v1"
CASES = [
    case("paris", turn("Weather in Paris?", "It is sunny in Paris, take a hat.", WEATHER)),
    case("trains", turn("Trains to Lyon?", "There are three trains tomorrow.", WEATHER)),
]
STARTER_PACK = """
[[suite]]
name = "app"
agent = "app"
evals = ["tests/eval/evalsets"]
eval_config = "tests/eval/eval_config.json"
"""


def config(**criteria: Any) -> str:
    """A config's file."""
    return json.dumps({"criteria": criteria})


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A scripted agent, and two cases."""
    return scripted(tmp_path / "repo", CASES)


@pytest.fixture
def log(project: Project) -> AgentLog:
    """What the agent was asked."""
    return project.listen()


def found(project: Project, *arguments: str, **environ: str) -> Any:
    """What the audit finds, as JSON."""
    done = project.gradegate("audit", "--json", *arguments, **environ)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def ids(keys: list[dict[str, str]]) -> list[str]:
    """Of cases."""
    return [key["eval_id"] for key in keys]


def test_a_toothless_set_is_named_and_a_good_one_is_not(project: Project, log: AgentLog) -> None:
    """Beside each other, case by case and criterion by criterion; no agent is run."""
    project.put("evals/test_config.json", config(**{TOOLS: 1.0, MATCH: 0.8}))
    project.put("loose/basic.evalset.json", eval_set(*CASES, name="loose"))
    project.put("loose/test_config.json", config(**{MATCH: 0.0}))
    settings = (project.root / "gradegate.toml").read_text(encoding="utf-8")
    project.put("gradegate.toml", settings.replace('"]\nenv', '", "loose"]\nenv'))
    project.commit()
    done = project.gradegate("audit")
    assert done.returncode == 0, done.stderr
    assert "evals/basic.evalset.json" not in done.stdout.replace("cases that are equal", "")
    assert f"{MATCH} ≥ 0 passes an empty answer in 2 of 2 cases" in done.stdout
    assert "2 of 4 cases pass without an answer: paris, trains" in done.stdout
    assert "2 of 4 cases pass with another case's answer: paris, trains" in done.stdout
    assert project.gradegate("audit", "--strict").returncode == 1
    weak = found(project)["weaknesses"]
    assert {one["place"]["eval_set"] for one in weak} == {"loose/basic.evalset.json"}
    assert log.runs() == []


def test_a_good_set_passes_though_it_is_strict(project: Project, log: AgentLog) -> None:
    """In one line."""
    project.put("evals/test_config.json", config(**{TOOLS: 1.0, MATCH: 0.8}))
    project.commit()
    done = project.gradegate("audit", "--strict")
    assert (done.returncode, done.stdout) == (0, "2 cases audited: no planted run passes\n")
    assert log.runs() == []


def test_the_demos_sets_can_go_red(tmp_path: Path) -> None:
    """All of its cases and criteria, without its recorded judge."""
    root = tmp_path / "repo"
    make_repository(root, os.environ)
    audited = found(Project.at(root), "--strict")
    assert audited["cases"] == 10
    assert audited["weaknesses"] == []
    assert (audited["without_an_answer"], audited["undecided"]) == ([], [])
    assert not audited["toothless"]


def judge(body: dict[str, Any]) -> str:
    """Finds every answer polite, and only the expected ones to the point."""
    prompt = prompt_of(body)
    good = any(
        one["conversation"][0]["final_response"]["parts"][0]["text"] in prompt for one in CASES
    )
    asked = [name for name in ("polite", "to_the_point") if f'"{name}"' in prompt]
    verdicts = {"polite": "yes", "to_the_point": "yes" if good else "no"}
    return json.dumps(
        {"rubrics": [{"rubric_id": n, "reasoning": "so", "verdict": verdicts[n]} for n in asked]}
    )


@pytest.fixture
def starter_pack(tmp_path: Path) -> Project:
    """The layout of Agent Starter Pack: rubrics that a judge is to ask, one of them for show."""
    made = Project.create(tmp_path / "starter")
    made.put("app/agent.py", "root_agent = None\n")
    made.put("pyproject.toml", '[project]\nname = "app"\nversion = "0.1"\n')
    made.put("gradegate.toml", STARTER_PACK)
    made.put("tests/eval/evalsets/basic.evalset.json", eval_set(*CASES))
    rubrics = [
        {"rubric_id": name, "rubric_content": {"text_property": f"The answer is {name}."}}
        for name in ("polite", "to_the_point")
    ]
    options = {"num_samples": 1}
    entry = {"threshold": 0.5, "judge_model_options": options, "rubrics": rubrics}
    made.put("tests/eval/eval_config.json", config(**{RUBRICS: entry}))
    made.commit()
    return made


def test_rubrics_are_asked_about_only_where_that_is_wanted(starter_pack: Project) -> None:
    """Without `--judge` the cases stay open; with it the toothless rubric is named, and counted."""
    with GeminiStandin(judge) as gemini:
        said = starter_pack.gradegate("audit", **gemini.environ)
        assert gemini.requests == []
        assert "2 cases could pass" in said.stdout
        assert "add `--judge` to ask" in said.stdout
        asked = starter_pack.gradegate("audit", "--judge", "--strict", **gemini.environ)
        made = len(gemini.requests)
    assert asked.returncode == 1, asked.stderr
    foreseen = re.search(r"judge calls: (\d+) to (\d+), and 200 at most", asked.stderr)
    assert foreseen is not None
    assert int(foreseen[1]) <= made <= int(foreseen[2])
    assert "every planted answer meets the rubric `polite`" in asked.stdout
    assert "`to_the_point`" not in asked.stdout
    assert "2 of 2 cases pass without an answer: paris, trains" in asked.stdout


def test_the_judge_is_not_asked_more_often_than_allowed(starter_pack: Project) -> None:
    """What is left out stays open."""
    with GeminiStandin(judge) as gemini:
        done = starter_pack.gradegate("audit", "--judge", "--max-calls", "2", **gemini.environ)
        assert len(gemini.requests) == 2
    assert "could pass" in done.stdout


def test_thresholds_are_held_against_bases_own_runs(project: Project) -> None:
    """As far as the store has them."""
    project.put("evals/test_config.json", config(**{TOOLS: 1.0, MATCH: 0.1}))
    project.commit()
    assert project.gradegate("baseline").returncode == 0
    said = project.gradegate("audit").stdout
    assert f"{MATCH}: base's 4 runs in the store would have met a threshold of 1.00" in said


def test_dry_run_report_and_init_say_it_in_a_line(project: Project) -> None:
    """Before, after and at the start."""
    line = "ases that pass without an answer: 2 of 2"
    project.put("evals/test_config.json", config(**{MATCH: 0.0}))
    project.commit()
    assert line in project.gradegate("run", "--base", "none", "--dry-run").stdout
    outcome = project.evaluate("--base", "none")
    assert line in outcome.warnings
    assert line in (outcome.folder / "comment.md").read_text(encoding="utf-8")
    assert line in project.gradegate("init", GITHUB_SERVER_URL="file:///nowhere").stderr
