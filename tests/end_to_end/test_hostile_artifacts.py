"""What a fork's artifact tries where it is read: in a job that has a token."""

import json
import os
from pathlib import Path

import pytest

from tests.standins.github import GitHubStandIn
from tests.workflow_step import Change, breaking, finished, from_fork

pytestmark = pytest.mark.trust

HIDDEN = "hunter2-hunter2-hunter2"


def of_fork(folder: Path, github: GitHubStandIn) -> tuple[Change, Path]:
    """A fork's pull request, and the report that its own job left."""
    change = breaking(folder, github)
    change.runner.run("pull_request", from_fork(change))
    return change, change.runner.written("report")


@pytest.mark.parametrize("what", ["link to a secret", "link to a device", "folder", "pipe", "deep"])
def test_an_artifact_that_is_no_report_is_refused(
    tmp_path: Path, github: GitHubStandIn, what: str
) -> None:
    """In place of a report: links to a secret and to a device without end, a pipe, brackets."""
    change, file = of_fork(tmp_path, github)
    (tmp_path / "secret").write_text(HIDDEN)
    file.unlink()
    match what:
        case "link to a secret":
            file.symlink_to(tmp_path / "secret")
        case "link to a device":
            file.symlink_to("/dev/zero")
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case "deep":
            file.write_text("[" * 100_000)
    posted = change.runner.run("workflow_run", finished(change))
    assert posted.returncode == 2, posted.stderr
    assert "internal error" not in posted.stderr
    (check,) = github.check_runs(change.head)
    assert check.conclusion == "failure"
    told = json.dumps([str(one.body) for one in github.requests]) + posted.stderr + posted.stdout
    assert HIDDEN not in told
    assert github.comments(1) == []
