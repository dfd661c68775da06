"""The action without Docker: started as the runner starts it, on a pull request."""

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.standins.github import JOB_TOKEN, GitHubStandIn
from tests.workflow_step import breaking, pull_request

ROOT = Path(__file__).parents[2]
START: dict[str, Any] = runpy.run_path(str(ROOT / "composite" / "start.py"))


@pytest.mark.slow
def test_it_installs_itself_and_grades(tmp_path: Path, github: GitHubStandIn) -> None:
    """Every dependency by its hash; then the same comment and check as from the container."""
    change = breaking(tmp_path, github)
    event = tmp_path / "event.json"
    event.write_text(json.dumps(pull_request(change.head, change.base)))
    output = tmp_path / "output"
    inputs = {"github-token": JOB_TOKEN, "check-name": "gradegate", "mode": "auto", "suite": ""}
    environ = {
        **os.environ,
        "GRADEGATE_INPUTS": json.dumps(inputs),
        "RUNNER_TEMP": str(tmp_path),
        "RUNNER_TOOL_CACHE": str(tmp_path),
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": github.url,
        "GITHUB_SERVER_URL": github.url,
        "GITHUB_REPOSITORY": "octo/agents",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_WORKSPACE": str(change.project.root),
        "GITHUB_RUN_ID": "77",
        "GITHUB_OUTPUT": str(output),
    }
    words = [sys.executable, str(ROOT / "composite" / "start.py")]
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    (comment,) = github.comments(1)
    assert "paris" in comment.body
    (check,) = github.check_runs(change.head)
    assert check.conclusion == "failure"
    assert re.search(r"decision<<\S+\nfail\n", output.read_text(encoding="utf-8"))
    assert ("no root and no sudo" in done.stdout) == (os.geteuid() != 0)
    assert (tmp_path / "gradegate-composite" / START["key"]() / "bin" / "gradegate").is_file()


def test_another_version_is_installed_beside_the_old(tmp_path: Path) -> None:
    """On a runner of one's own both stay."""
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "vertex.lock").write_text("a==1\n")
    (tmp_path / "pyproject.toml").write_text("")
    before = START["key"](tmp_path)
    assert START["key"](tmp_path) == before
    (tmp_path / "requirements" / "vertex.lock").write_text("a==2\n")
    assert START["key"](tmp_path) != before


def test_inputs_get_the_names_that_a_container_gets() -> None:
    """Hyphens stay."""
    assert START["variables"]('{"fail-on": "regression", "runs": ""}') == {
        "INPUT_FAIL-ON": "regression",
        "INPUT_RUNS": "",
    }
