"""Pull requests from forks: what their own reports are worth, and how the real check is had."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project, expected, scripted
from tests.standins.github import GitHubStandIn
from tests.workflow_step import BROKEN, CASES, Change, Runner, breaking, finished, from_fork

FORK = "gradegate (fork)"


@pytest.fixture
def change(tmp_path: Path, github: GitHubStandIn) -> Change:
    """A fork's pull request that breaks a case, and whose own job has ended."""
    change = breaking(tmp_path, github)
    change.runner.run("pull_request", from_fork(change))
    return change


def forge(change: Change, **parts: Any) -> None:
    """Have the fork's report say something else."""
    file = change.runner.written("report")
    report = json.loads(file.read_text())
    file.write_text(json.dumps({**report, **parts}))


def posted(change: Change) -> tuple[str, str]:
    """Let the second workflow run; name and conclusion of the one check."""
    done = change.runner.run("workflow_run", finished(change))
    assert "Traceback" not in done.stderr
    (check,) = change.runner.github.check_runs(change.head)
    return check.name, str(check.conclusion)


@pytest.mark.trust
@pytest.mark.parametrize(
    ("forged", "conclusion"),
    [({}, "failure"), ({"decision": {"state": "pass"}, "cases": [], "criteria": []}, "neutral")],
    ids=["control", "forged"],
)
def test_no_report_of_a_fork_is_the_required_check(
    change: Change, forged: dict[str, Any], conclusion: str
) -> None:
    """A forged report of a fork that is free of contradictions."""
    forge(change, **forged)
    assert posted(change) == (FORK, conclusion)


@pytest.mark.trust
@pytest.mark.parametrize("which", ["base", "nothing", "made up", "a merge of another"])
def test_a_report_of_another_commit_is_not_taken_for_this_one(change: Change, which: str) -> None:
    """A green report of a commit that GitHub does not name."""
    github = change.runner.github
    sha = {"base": change.base, "nothing": "", "made up": "f" * 40}.get(which, "e" * 40)
    github.add_commit("e" * 40, change.head, change.base)
    forge(change, decision={"state": "pass"}, cases=[], criteria=[], head={"commit": sha})
    assert posted(change) == (FORK, "failure")
    (check,) = github.check_runs(change.head)
    assert "neither" in str(check.summary)


def test_a_forks_job_that_broke_has_a_check_that_says_so(change: Change) -> None:
    """Its artifact is not there."""
    change.runner.written("report").unlink()
    assert posted(change) == (FORK, "failure")
    (check,) = change.runner.github.check_runs(change.head)
    assert "own job ended without a report" in str(check.summary)


class Fork:
    """A fork's pull request, and a checkout of the default branch as a dispatched job has it."""

    def __init__(self, tmp_path: Path, github: GitHubStandIn, paris: Any) -> None:
        theirs = scripted(tmp_path / "theirs", CASES)
        origin = tmp_path / "origin.git"
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", origin], check=True)
        theirs.git("push", "-q", str(origin), "main")
        theirs.git("switch", "-qc", "change")
        theirs.answers({one["eval_id"]: expected(one) for one in CASES} | {"paris": paris})
        self.head = theirs.commit("the change")
        theirs.git("push", "-q", str(origin), "change:refs/pull/1/head")
        clone = ["git", "clone", "-q", "--depth=1", f"file://{origin}", str(tmp_path / "ours")]
        subprocess.run(clone, check=True)
        github.add_commit(theirs.git("rev-parse", "main"))
        github.add_pull_request(1, head_sha=self.head, owner="stranger")
        self.github = github
        self.runner = Runner(Project.at(tmp_path / "ours"), github, tmp_path / "runner")

    def dispatch(self, head_sha: str, number: str = "1") -> subprocess.CompletedProcess[str]:
        """Start the workflow by hand."""
        payload = {
            "ref": "refs/heads/main",
            "inputs": {"pull-request": number, "head-sha": head_sha},
            "repository": {"full_name": "octo/agents", "default_branch": "main"},
        }
        return self.runner.run("workflow_dispatch", payload)


@pytest.mark.parametrize(
    ("paris", "conclusion"), [(BROKEN, "failure"), (expected(CASES[0]), "success")]
)
def test_a_maintainer_has_a_reviewed_commit_evaluated(
    tmp_path: Path, github: GitHubStandIn, paris: Any, conclusion: str
) -> None:
    """Under the required name, on that very commit, with a comment on its pull request."""
    fork = Fork(tmp_path, github, paris)
    done = fork.dispatch(fork.head)
    (check,) = github.check_runs(fork.head)
    assert (check.name, check.conclusion) == ("gradegate", conclusion), done.stderr
    assert len(github.comments(1)) == 1


@pytest.mark.trust
def test_a_commit_that_nobody_reviewed_is_not_evaluated(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """A push between the review and the start of the workflow, and a sha that is cut off."""
    fork = Fork(tmp_path, github, BROKEN)
    for sha, number, why in (
        (fork.head[:12], "1", "all 40 digits"),
        (fork.head, "", "`pull-request` cannot be"),
    ):
        done = fork.dispatch(sha, number)
        assert (done.returncode, why in done.stderr) == (2, True), done.stderr
    github.state.pulls[1].head_sha = "d" * 40
    done = fork.dispatch(fork.head)
    assert (done.returncode, "review what is there now" in done.stderr) == (2, True), done.stderr
    assert [check.conclusion for check in github.check_runs(fork.head)] != ["success"]
