"""The installed command, started from nothing: what other tests fork does just the same."""

import json
import os
from pathlib import Path

import pytest

from tests.project import Project, case, expected, scripted, turn

CASES = [case(name, turn("hello", f"hi from {name}")) for name in ("paris", "rome")]
SET = "evals/basic.evalset.json"
TURN = turn("hello", "hi from paris")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A pull request that breaks one of two cases, evaluated by the installed command."""
    made = scripted(tmp_path_factory.mktemp("installed") / "repo", CASES)
    made.git("switch", "-qc", "change")
    made.answers({"paris": expected(CASES[0]), "rome": {"text": "no"}})
    done = made.installed("run", "--out", "../out")
    assert done.returncode == 1, done.stderr
    assert "The agent got worse" in done.stdout
    runs = [{"eval_set": SET, "eval_id": "paris", "run": 1, "invocations": [TURN]}]
    made.put("../traces.json", json.dumps({"schema": "gradegate/traces/v1", "cases": runs}))
    return made


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("--version", 0),
        ("", 2),
        ("rnu", 2),
        ("--debug run --suite dsk", 2),
        ("run --dry-run", 0),
        ("check", 0),
        ("criteria", 0),
        ("schema report", 0),
        ("init --diff", 0),
        ("score --evals evals/basic.evalset.json --traces ../traces.json --out ../results.json", 3),
        ("compare ../out/base.results.json ../out/head.results.json", 1),
        ("merge ../out/head.results.json", 0),
        ("render ../out/report.json --format comment", 0),
        ("publish ../out/report.json", 2),
        ("action", 2),
        ("record --agent nowhere --evals evals/basic.evalset.json", 2),
        ("baseline --suite dsk", 2),
    ],
)
def test_a_fork_ends_as_the_installed_command_does(project: Project, words: str, code: int) -> None:
    """In exit code and in every word on both streams, but for where a traceback passed."""
    environ = {"GITHUB_SERVER_URL": "file:///nowhere"}
    installed = project.installed(*words.split(), **environ)
    forked = project.gradegate(*words.split(), **environ)
    assert installed.returncode == forked.returncode == code, installed.stderr
    assert installed.stdout == forked.stdout
    assert _told(installed.stderr) == _told(forked.stderr)


def _told(text: str) -> str:
    return text.splitlines()[-1] if "Traceback" in text else text


def test_a_fork_is_a_process_of_its_own(project: Project, tmp_path: Path) -> None:
    """Nothing that one call was given is left for the next."""
    here = os.getcwd()  # noqa: PTH109 - the process's
    first = project.gradegate("render", "no.json", COLUMNS="40")
    assert "no.json" in first.stderr
    other = Project.at(project.root)
    other.environ["XDG_CACHE_HOME"] = str(tmp_path / "other")
    assert other.gradegate("baseline").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
    assert os.getcwd() == here  # noqa: PTH109 - the process's
