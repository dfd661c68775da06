"""A later step of the job posts the report again, with the address that it has by then."""

from pathlib import Path

import pytest

from gradegate.github_action.acceptance import Acceptance
from tests.project import scripted
from tests.standins.github import GitHubStandIn
from tests.workflow_step import CASES, Change, breaking

PAGE = "https://github.com/octo/agents/actions/runs/77/artifacts/5"


def test_comment_and_check_lead_to_the_page(tmp_path: Path, github: GitHubStandIn) -> None:
    """The same comment and the same check, neither twice; the second step passes by itself."""
    change = breaking(tmp_path, github)
    assert change.run().returncode == 1
    (first,) = github.comments(1)
    assert "/actions/runs/77)" in first.body
    assert (
        f"/blob/{change.project.git('rev-parse', 'HEAD')}/evals/basic.evalset.json#L" in first.body
    )
    assert PAGE not in first.body
    done = change.run(mode="publish", report_url=PAGE)
    assert done.returncode == 0, done.stderr
    (second,) = github.comments(1)
    assert second.id == first.id
    assert f"]({PAGE})" in second.body
    (check,) = github.check_runs(change.head)
    assert (check.conclusion, check.title) == ("failure", check.title)
    assert PAGE in str(check.summary)
    assert len(check.annotations) == 1
    assert change.runner.outputs["decision"] == "fail"
    assert change.runner.outputs["comment-url"]
    assert change.runner.summary == ""
    assert change.run(mode="publish", report_url=PAGE).returncode == 0
    assert len(github.comments(1)) == len(github.check_runs(change.head)) == 1


@pytest.mark.trust
def test_a_report_that_was_changed_in_between_is_not_posted(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """Whatever ran between the two steps could write to the workspace, but not to the check."""
    change = breaking(tmp_path, github)
    change.run()
    (before,) = github.comments(1)
    file = change.runner.written("report")
    file.write_text(file.read_text().replace("regressed", "unchanged").replace('"fail"', '"pass"'))
    done = change.run(mode="publish", report_url=PAGE)
    assert done.returncode == 2
    (check,) = github.check_runs(change.head)
    assert check.conclusion == "failure"
    (after,) = github.comments(1)
    assert after.body == before.body


@pytest.mark.trust
def test_the_report_of_another_run_is_not_posted(tmp_path: Path, github: GitHubStandIn) -> None:
    """Each workflow run has a check of its own."""
    change = breaking(tmp_path, github)
    change.run()
    payload = change.payload()
    inputs = {"mode": "publish", "report-url": PAGE}
    done = change.runner.run("pull_request", payload, inputs, run_id="78")
    assert done.returncode == 2
    assert "this workflow run has no check" in done.stderr
    assert PAGE not in github.comments(1)[0].body


def test_no_comment_is_written_where_none_was_wanted(tmp_path: Path, github: GitHubStandIn) -> None:
    """Only the check is there, and gets the address."""
    change = breaking(tmp_path, github)
    change.run(comment="never")
    assert change.run(mode="publish", report_url=PAGE).returncode == 0
    assert github.comments(1) == []
    (check,) = github.check_runs(change.head)
    assert PAGE in str(check.summary)


def test_an_address_that_is_none_is_refused(tmp_path: Path, github: GitHubStandIn) -> None:
    """It would end up in a link."""
    change = Change(scripted(tmp_path / "repo", CASES), github, tmp_path / "runner")
    done = change.run(mode="publish", report_url="javascript:alert(1)")
    assert done.returncode == 2
    assert "input `report-url` cannot be 'javascript:alert(1)'" in done.stderr


def test_an_acceptance_stays_in_the_check(tmp_path: Path, github: GitHubStandIn) -> None:
    """It is the check's first line, which a rerun goes by."""
    change = breaking(tmp_path, github)
    change.run()
    (check,) = github.check_runs(change.head)
    line = Acceptance(sha=change.head, who="mona", pull_request=1, event=9).line()
    check.summary = f"{line}\n\n{check.summary}"
    assert change.run(mode="publish", report_url=PAGE).returncode == 0
    (check,) = github.check_runs(change.head)
    assert str(check.summary).startswith(f"{line}\n")
