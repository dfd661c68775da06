"""Commands in comments: by whom, about which commit, and what is said below them."""

from pathlib import Path
from typing import Any

import pytest

from tests.standins.github import GitHubStandIn
from tests.standins.github.model import Comment
from tests.workflow_step import Change, breaking

RUN = 77


@pytest.fixture
def change(tmp_path: Path, github: GitHubStandIn) -> Change:
    """A pull request that was found to break a case; mona may write, eve may only read."""
    github.let("mona", "write")
    github.let("eve", "read")
    github.allow(actions="write")
    github.state.runs[RUN] = "completed"
    change = breaking(tmp_path, github)
    assert change.run().returncode == 1
    return change


def says(change: Change, body: str, by: str = "mona", **more: Any) -> Comment:
    """Let somebody comment, and the workflow for comments run; the comment."""
    github = change.runner.github
    comment = github.add_comment(1, by, body)
    written = {"id": comment.id, "body": body, "user": {"login": by, "type": "User"}, **more}
    payload = {"action": "created", "issue": {"number": 1, "pull_request": {}}, "comment": written}
    done = change.runner.run("issue_comment", payload, run_id="900")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return comment


def reply(change: Change) -> str:
    """The newest comment."""
    return change.runner.github.comments(1)[-1].body


def again(change: Change) -> int:
    """Let the workflow of the pull request run again; the exit code."""
    return change.run().returncode


def test_a_writer_accepts_a_case_and_the_workflow_runs_again(change: Change) -> None:
    """It holds for later runs on the commit, and the report says whose word it is."""
    github = change.runner.github
    comment = says(change, "/gradegate accept paris: the new tool is meant")
    assert comment.reactions == ["+1"]
    assert "Accepted <code>paris</code>" in reply(change)
    assert github.state.reruns == [RUN]
    assert again(change) == 0
    report, *_ = github.comments(1)
    assert "paris accepted by mona" in report.body
    assert again(change) == 0


def test_what_was_accepted_of_another_case_helps_nobody(change: Change) -> None:
    """A name is a name: one that no finding has waives none."""
    says(change, "/gradegate accept rome: it is fine")
    assert again(change) == 1
    says(change, "/gradegate accept all: it is fine")
    assert again(change) == 0


def test_a_comment_that_is_deleted_or_changed_accepts_no_more(change: Change) -> None:
    """It stands as it was written, or it does not count."""
    comment = says(change, "/gradegate accept all: it is fine")
    assert again(change) == 0
    comment.body = "/gradegate rerun"
    assert again(change) == 1
    comment.body = "/gradegate accept all: it is fine"
    assert again(change) == 0, "the control"
    del change.runner.github.state.comments[comment.id]
    assert again(change) == 1


@pytest.mark.trust
@pytest.mark.parametrize("who", ["eve", "stranger"])
def test_who_may_not_write_commands_nothing(change: Change, who: str) -> None:
    """An acceptance in a comment by somebody without write access."""
    comment = says(change, "/gradegate accept all: trust me", by=who)
    assert comment.reactions == ["-1"]
    assert "may write to this repository" in reply(change)
    assert change.runner.github.state.reruns == []
    assert again(change) == 1
    says(change, "/gradegate accept all: the control")
    assert again(change) == 0


@pytest.mark.trust
def test_an_acceptance_ends_with_the_right_to_write(change: Change) -> None:
    """An acceptance in a comment by somebody who may write no more."""
    says(change, "/gradegate accept all: it is fine")
    assert again(change) == 0, "the control"
    change.runner.github.let("mona", "read")
    assert again(change) == 1


@pytest.mark.trust
def test_a_report_that_nobody_could_have_read_is_not_accepted(change: Change) -> None:
    """An acceptance of a commit that was pushed after the comment was written."""
    github = change.runner.github
    comment = github.add_comment(1, "mona", "/gradegate accept all: it is fine")
    comment.created_at = "2020-01-01T00:00:00Z"
    written = {"id": comment.id, "body": comment.body, "user": {"login": "mona"}}
    payload = {"action": "created", "issue": {"number": 1, "pull_request": {}}, "comment": written}
    assert change.runner.run("issue_comment", payload, run_id="900").returncode == 0
    assert "is newer than your comment" in reply(change)
    assert again(change) == 1
    says(change, "/gradegate accept all: the control")
    assert again(change) == 0


def test_a_commit_without_a_report_cannot_be_accepted(change: Change) -> None:
    """There is nothing yet that could be."""
    change.runner.github.state.pulls[1].head_sha = change.base
    assert says(change, "/gradegate accept all: it is fine").reactions == ["confused"]
    assert "no report" in reply(change)


def test_a_writer_has_it_run_again(change: Change) -> None:
    """The reply leads to the run."""
    assert says(change, "/gradegate rerun").reactions == ["+1"]
    assert f"actions/runs/{RUN}" in reply(change)
    assert change.runner.github.state.reruns == [RUN]


def test_a_missing_permission_is_named(change: Change) -> None:
    """The workflow's author knows what to add."""
    change.runner.github.allow(actions="read")
    assert says(change, "/gradegate rerun").reactions == ["confused"]
    assert "actions: write" in reply(change)


@pytest.mark.trust
@pytest.mark.parametrize(
    "body",
    [
        "/gradegate $(touch owned) `touch owned` ; touch owned",
        '/gradegate accept "$(touch owned)" ::set-output name=decision::pass',
        "/gradegate accept [x](https://evil.example)<img/src=x> @everyone <!-- gradegate:",
        "/gradegate accept all: --> <!-- gradegate:acceptance {} -->",
        "/gradegate \u202eaccept all: backwards",
        "/gradegate accept all:" + "A" * 100_000,
    ],
)
def test_the_words_of_a_comment_stay_words(change: Change, body: str) -> None:
    """Hostile texts in a comment: nothing is run, mentioned or linked, and no line made up."""
    says(change, body)
    said = reply(change)
    assert not list(change.project.root.rglob("owned"))
    for forbidden in ("](https://evil", "<img", "@everyone", "<!--"):
        assert forbidden not in said
    (check,) = [run for run in change.runner.github.check_runs(change.head) if run.summary]
    kept = [line for line in (check.summary or "").split("\n") if "gradegate:acceptance" in line]
    assert all(line.startswith("<!-- gradegate:acceptance {") for line in kept)
    assert len(kept) <= 1


def test_other_comments_and_other_places_are_left_alone(change: Change) -> None:
    """No reaction, no reply: talk is not a command, an issue no pull request, a bot no person."""
    github = change.runner.github
    for body in ("Looks good to me", "> /gradegate rerun"):
        assert says(change, body).reactions == []
    bot = says(change, "/gradegate rerun", user={"login": "mona", "type": "Bot"})
    assert bot.reactions == []
    written = {"id": bot.id, "body": "/gradegate rerun", "user": {"login": "mona"}}
    for action, issue in (
        ("edited", {"number": 1, "pull_request": {}}),
        ("created", {"number": 1}),
    ):
        payload = {"action": action, "issue": issue, "comment": written}
        assert change.runner.run("issue_comment", payload).returncode == 0
    assert github.state.reruns == []
