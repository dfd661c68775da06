"""Base's history through the whole job: kept by baselines, used by pull requests."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.project import WEATHER, AgentLog, Project, case, expected, scripted, turn

CASES = [
    case("greeting", turn("hello", "hello and welcome")),
    case("weather", turn("weather in Paris?", "it is sunny in Paris", WEATHER)),
]
SETTINGS = """
[[suite]]
name = "desk"
command = ["python3", "agent.py"]
evals = ["evals/*.evalset.json"]
env = ["AGENT_LOG"]

[gate]
rule = "memory"
"""
ONLY_TOOLS = json.dumps({"criteria": {"tool_trajectory_avg_score": 1.0}})


MANY = [*CASES, *(case(f"hello-{n}", turn("hello", "hello and welcome")) for n in range(10))]
"""Enough that one case which fails is no bad day."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A desk whose gate goes by base's history."""
    return desk(tmp_path, CASES)


def desk(tmp_path: Path, cases: list[dict[str, Any]]) -> Project:
    """The same with these cases."""
    made = scripted(tmp_path / "repo", cases)
    made.put("gradegate.toml", SETTINGS)
    made.put("evals/test_config.json", ONLY_TOOLS)
    made.commit()
    return made


@pytest.fixture
def log(project: Project) -> AgentLog:
    """Where the agent notes its runs."""
    return project.listen()


def measured(project: Project, times: int) -> None:
    """Base jobs that ignore what is stored."""
    for _ in range(times):
        done = project.gradegate("baseline", "--fresh")
        assert done.returncode == 0, done.stderr
    project.git("switch", "-qc", "change")


def answer(project: Project, **changed: object) -> None:
    """All as expected, but for these."""
    project.answers({**{one["eval_id"]: expected(one) for one in CASES}, **changed})


def test_base_is_not_run_once_its_history_is_known(project: Project, log: AgentLog) -> None:
    """Three fresh baselines of two runs make six outcomes of each case."""
    measured(project, 3)
    assert len(log.fresh()) == 12
    answer(project, extra={"text": "never asked for"})
    done = project.evaluate()
    assert (done.code, done.report["base"]["source"]) == (0, "history")
    assert sorted(log.fresh()) == ["greeting 1", "weather 1"]


def test_a_stored_base_counts_once_however_often_it_is_measured(
    project: Project, log: AgentLog
) -> None:
    """Without `--fresh` the same runs are the same runs: two outcomes are too few to go by."""
    for _ in range(4):
        assert project.gradegate("baseline").returncode == 0
    assert len(log.fresh()) == 4
    project.git("switch", "-qc", "change")
    answer(project, extra={"text": "never asked for"})
    assert project.evaluate().report["base"]["source"] == "store"


def test_a_case_that_broke_is_found_by_its_history(tmp_path: Path) -> None:
    """Base is run only to see that it does today what it did before."""
    project = desk(tmp_path, MANY)
    log = project.listen()
    measured(project, 3)
    log.fresh()
    answers = {one["eval_id"]: expected(one) for one in MANY}
    project.answers({**answers, "weather": {"text": "no idea"}})
    done = project.evaluate()
    assert done.code == 1
    (reason,) = done.report["decision"]["reasons"]
    assert (reason["kind"], reason["eval_id"]) == ("regression", "weather")
    told = {one["eval_id"]: one["criteria"] for one in done.report["cases"]}
    broken = told["weather"]["tool_trajectory_avg_score"]
    assert broken["confirmed"] is True
    assert broken["earlier"] == [6, 6]
    assert broken["bayes_factor"] > 200
    assert not [one for one in log.fresh() if one.startswith("greeting") and one != "greeting 1"]


def test_exact_takes_no_notice_of_the_history(project: Project, log: AgentLog) -> None:
    """The rule that assumes nothing runs both sides."""
    project.put("gradegate.toml", SETTINGS.replace("memory", "exact"))
    project.commit()
    measured(project, 3)
    log.fresh()
    answer(project, extra={"text": "never asked for"})
    assert project.evaluate().report["base"]["source"] == "run"
    assert len(log.fresh()) == 4


def test_the_history_tells_how_steady_each_case_is(project: Project) -> None:
    """One case that fails always, one that never does; the worse first."""
    nothing = project.gradegate("history")
    assert (nothing.returncode, nothing.stdout) == (0, "")
    assert "no history yet" in nothing.stderr
    answer(project, weather={"text": "no idea"})
    project.commit()
    measured(project, 2)
    told = project.gradegate("history")
    head, worst, best = told.stdout.splitlines()
    assert head.split()[:3] == ["case", "criterion", "passed"]
    assert worst.split()[:3] == ["weather", "tool_trajectory_avg_score", "0/4"]
    assert worst.endswith("▁▁▁▁")
    assert best.split()[2] == "4/4"
    assert best.endswith("████")
    (one,) = json.loads(project.gradegate("history", "--json", "--worst", "1").stdout)
    assert (one["eval_id"], one["passed"], one["runs"], one["changed"]) == ("weather", 0, 4, False)
    assert 0.0 <= one["interval"][0] < one["interval"][1] < 0.6
    assert one["passes_every_time"] < 0.1
