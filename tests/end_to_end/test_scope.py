"""Agents that are made of a part of the repository: who is run again after which change."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.project import AGENT, Project, case, eval_set, expected, turn

NAMES = [f"agent-{n}" for n in range(10)]
SUITE = """
[[suite]]
name = "{name}"
command = ["python3", "{name}/agent.py"]
evals = ["{name}/basic.evalset.json"]
env = ["AGENT_LOG"]
paths = {paths}
"""
STARTS = 'open(os.environ["AGENT_LOG"], "a").write("started {name}\\n")\n'


def agent(name: str) -> str:
    """The scripted agent with files of its own, which notes that it was started."""
    own = AGENT.replace('"answers.json"', f'"{name}/answers.json"')
    return own.replace("cases, turns", STARTS.format(name=name) + "cases, turns", 1)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Ten agents; the first two share a folder."""
    made = Project.create(tmp_path / "repo")
    suites = []
    for name in NAMES:
        one = case(f"case-{name}", turn("Hello", f"Hello from {name}, how are you?"))
        made.put(f"{name}/agent.py", agent(name))
        made.put(f"{name}/basic.evalset.json", eval_set(one))
        table = {"default": {"text": "?"}, "cases": {one["eval_id"]: expected(one)}}
        made.put(f"{name}/answers.json", json.dumps(table))
        shared = ["shared"] if name in NAMES[:2] else []
        suites.append(SUITE.format(name=name, paths=json.dumps([name, *shared])))
    made.put("shared/words.py", "HELLO = 'Hello'\n")
    made.put("README.md", "Ten agents.\n")
    made.put("gradegate.toml", "".join(suites))
    made.commit("base")
    return made


def run_after(project: Project, changed: str, text: str) -> set[str]:
    """The agents that were started for a pull request that changes a file."""
    log = project.listen()
    assert project.gradegate("baseline").returncode == 0
    project.git("switch", "-qc", "change")
    project.put(changed, text)
    project.commit("change")
    log.fresh()
    outcome = project.evaluate("--base", "main")
    assert outcome.state == "pass", outcome.stdout + outcome.stderr
    return started(log.runs())


def started(lines: Iterable[str]) -> set[str]:
    """Of the log's lines, the starts."""
    return {line.split()[1] for line in lines if line.startswith("started")}


def test_a_change_in_one_agent_runs_that_agent_alone(project: Project) -> None:
    """The nine others are not even started."""
    assert run_after(project, "agent-4/agent.py", agent("agent-4") + "# mended\n") == {"agent-4"}


def test_a_change_in_what_is_shared_runs_those_that_share_it(project: Project) -> None:
    """And nobody else."""
    assert run_after(project, "shared/words.py", "HELLO = 'Hi'\n") == {"agent-0", "agent-1"}


def test_a_change_outside_every_scope_changes_nothing(project: Project) -> None:
    """Both sides are the same then."""
    assert run_after(project, "README.md", "Ten good agents.\n") == set()


def test_what_is_not_in_the_scope_is_missed_loudly(project: Project) -> None:
    """The failure says what to add."""
    project.put("agent-9/agent.py", "from shared import words\n" + agent("agent-9"))
    project.commit("uses what it may not")
    project.listen()
    outcome = project.evaluate("--base", "none", "--suite", "agent-9")
    told = json.dumps(outcome.report)
    assert "No module named 'shared'" in told
    assert "shared is in the repository and not in the suite's scope: add it to `paths`" in told


@pytest.mark.parametrize(
    ("paths", "complaint"),
    [('["../other"]', "leads outside the project"), ('["nowhere"]', "there is no `nowhere`")],
)
def test_a_path_that_is_wrong_is_named(project: Project, paths: str, complaint: str) -> None:
    """Exit 2, as for every wrong input."""
    project.put("gradegate.toml", SUITE.format(name="agent-0", paths=paths))
    done = project.gradegate("run", "--base", "none")
    assert done.returncode == 2
    assert complaint in done.stderr
