"""Base's records on a branch of their own: baselines write them, pull requests read them."""

import json
import shutil
from pathlib import Path

import pytest

from gradegate.files.history_json import read_history_text
from tests.project import AgentLog, Project, expected, scripted
from tests.standins.github import GitHubStandIn
from tests.workflow_step import CASES, Change, Runner

SETTINGS = """
[[suite]]
name = "desk"
command = ["python3", "agent.py"]
evals = ["evals/*.evalset.json"]
env = ["AGENT_LOG"]

[gate]
rule = "memory"
"""
CONFIG = json.dumps({"criteria": {"tool_trajectory_avg_score": 1.0}})
BRANCH, FILE = "gradegate-data", "main.json"
SCHEDULED = {"schedule": "23 4 * * 1"}
PUSH = {"ref": "refs/heads/main", "repository": {"default_branch": "main"}}


@pytest.fixture
def project(tmp_path: Path, github: GitHubStandIn) -> Project:
    """A desk whose gate goes by base's history, and whose base job may write to the repository."""
    made = scripted(tmp_path / "repo", CASES)
    made.put("gradegate.toml", SETTINGS)
    made.put("evals/test_config.json", CONFIG)
    made.commit()
    github.allow(contents="write")
    github.add_branch("main", made.git("rev-parse", "HEAD"))
    return made


@pytest.fixture
def log(project: Project) -> AgentLog:
    """Where the agent notes its runs."""
    return project.listen()


def measure(project: Project, github: GitHubStandIn, folder: Path, times: int = 3) -> str:
    """Base jobs on a schedule, each without the cache of the one before; what the last one said."""
    said = ""
    for _ in range(times):
        runner = Runner(project, github, folder)
        runner.ref = "refs/heads/main"
        done = runner.run("schedule", SCHEDULED)
        assert done.returncode == 0, done.stderr
        said = done.stderr
        shutil.rmtree(project.root / ".gradegate")
    return said


def a_change(project: Project, github: GitHubStandIn, folder: Path) -> Change:
    """A pull request that changes nothing of how the agent answers."""
    project.git("switch", "-qc", "change")
    project.answers({**{one["eval_id"]: expected(one) for one in CASES}, "extra": []})
    return Change(project, github, folder)


def test_a_pull_request_knows_base_without_any_cache(
    tmp_path: Path, project: Project, log: AgentLog, github: GitHubStandIn
) -> None:
    """Three scheduled jobs wrote it; the pull request runs no base, and may only read."""
    measure(project, github, tmp_path / "runner")
    records = read_history_text(github.data(BRANCH, FILE) or "", FILE).records.values()
    assert {len(one.outcomes) for one in records} == {6}
    assert len(records) == len(CASES)
    assert len(github.asked("POST", "/git/commits")) == 3
    log.fresh()
    github.allow(contents="read")
    change = a_change(project, github, tmp_path / "runner")
    done = change.run()
    assert done.returncode == 0, done.stderr
    report = json.loads(change.runner.written("report").read_text())
    assert report["base"]["source"] == "history"
    assert sorted(log.fresh()) == sorted(f"{one['eval_id']} 1" for one in CASES)


def test_records_of_other_commits_are_left_out(
    tmp_path: Path, project: Project, github: GitHubStandIn
) -> None:
    """What is not on the base branch says nothing of it: base is run."""
    measure(project, github, tmp_path / "runner")
    github.add_branch("main", "f" * 40)
    change = a_change(project, github, tmp_path / "runner")
    done = change.run()
    assert done.returncode == 0, done.stderr
    assert "records of 1 commit not on main: they are left out" in done.stderr
    report = json.loads(change.runner.written("report").read_text())
    assert report["base"]["source"] == "run"


def test_a_damaged_file_is_named_ignored_and_written_anew(
    tmp_path: Path, project: Project, github: GitHubStandIn
) -> None:
    """By a pull request it is ignored, by the next baseline replaced."""
    measure(project, github, tmp_path / "runner", times=1)
    github.put_data(BRANCH, FILE, b"<<<<<<< HEAD")
    change = a_change(project, github, tmp_path / "runner")
    done = change.run()
    assert done.returncode == 0, done.stderr
    assert "gradegate-data:main.json" in done.stderr
    assert "written anew by the next baseline" in done.stderr
    project.git("switch", "-q", "main")
    said = measure(project, github, tmp_path / "runner", times=1)
    assert "gradegate-data:main.json" in said
    records = read_history_text(github.data(BRANCH, FILE) or "", FILE).records
    assert len(records) == len(CASES)


def test_without_the_permission_the_log_says_what_is_lost(
    tmp_path: Path, project: Project, github: GitHubStandIn
) -> None:
    """Once; the baseline is kept all the same."""
    github.allow(contents="read")
    done = Runner(project, github, tmp_path / "runner").run("push", PUSH)
    assert done.returncode == 0, done.stderr
    assert "kept the baseline" in done.stderr
    assert done.stderr.count("they last as long as the cache does") == 1
    assert "add `contents: write`" in done.stderr
    assert github.data(BRANCH, FILE) is None


@pytest.mark.parametrize(
    ("event", "payload"),
    [("pull_request", None), ("push", {**PUSH, "ref": "refs/tags/v1"})],
)
def test_nobody_else_writes(
    tmp_path: Path,
    project: Project,
    github: GitHubStandIn,
    event: str,
    payload: dict[str, object] | None,
) -> None:
    """A baseline that a workflow asks for on a pull request or a tag speaks for no branch."""
    change = a_change(project, github, tmp_path / "runner")
    done = change.runner.run(event, payload or change.payload(), {"mode": "baseline"})
    assert done.returncode == 0, done.stderr
    assert [one for one in github.requests if one.method != "GET"] == []


def test_it_can_be_renamed_and_switched_off(
    tmp_path: Path, project: Project, github: GitHubStandIn
) -> None:
    """`none` asks GitHub for nothing; the branch of the code is refused."""
    runner = Runner(project, github, tmp_path / "runner")
    assert runner.run("push", PUSH, {"data-branch": "none"}).returncode == 0
    assert github.requests == []
    assert runner.run("push", PUSH, {"data-branch": "memory/of-base"}).returncode == 0
    assert github.data("memory/of-base", FILE)
    refused = runner.run("push", PUSH, {"data-branch": "main"})
    assert refused.returncode == 2
    assert "input `data-branch` cannot be `main`" in refused.stderr
