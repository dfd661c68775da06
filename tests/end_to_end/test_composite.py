"""The action without Docker: started as the runner starts it, on a pull request."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.standins.github import JOB_TOKEN, GitHubStandIn
from tests.workflow_step import breaking, pull_request

ROOT = Path(__file__).parents[2]


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
