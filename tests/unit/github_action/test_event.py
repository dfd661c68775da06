import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gradegate.github_action.event import (
    Dispatch,
    Event,
    IssueComment,
    MergeGroup,
    PullRequest,
    PullRequestTarget,
    Push,
    Reviewed,
    Schedule,
    WorkflowRun,
    event_of,
    read_event,
)
from gradegate.model.errors import InputError

REPOSITORY = {"full_name": "team/desk", "default_branch": "main"}


def pull_request(**changes: Any) -> dict[str, Any]:
    """A payload as GitHub sends it, cut down to what is near the fields that count."""
    pull = {
        "number": 7,
        "state": "open",
        "head": {"sha": "b" * 40, "ref": "feature", "repo": {"full_name": "team/desk"}},
        "base": {"sha": "a" * 40, "ref": "main", "repo": {"full_name": "team/desk"}},
        "labels": [],
    }
    return {"action": "synchronize", "pull_request": pull | changes, "repository": REPOSITORY}


MONA = {"login": "mona"}
QUEUED = f"refs/heads/gh-readonly-queue/release/1.x/pr-104-{'a' * 40}"
FORK = {"sha": "b" * 40, "ref": "feature", "repo": {"full_name": "guest/desk"}}
GONE = {"sha": "b" * 40, "ref": "feature", "repo": None}
WORKFLOW_RUN = {
    "event": "pull_request",
    "head_sha": "b" * 40,
    "head_branch": "feature",
    "head_repository": {"owner": {"login": "guest"}},
}
PLAIN = PullRequest(number=7, head_sha="b" * 40, base_sha="a" * 40, base_branch="main")


@pytest.mark.parametrize(
    ("name", "payload", "event"),
    [
        ("pull_request", pull_request(), PLAIN),
        (
            "pull_request",
            pull_request(head=FORK),
            PLAIN.model_copy(update={"from_fork": True}),
        ),
        (
            "pull_request",
            pull_request(head=GONE),
            PLAIN.model_copy(update={"from_fork": True}),
        ),
        (
            "pull_request",
            pull_request(labels=[{"name": "bug"}, {"name": "gradegate-accept"}]),
            PLAIN.model_copy(update={"labels": ("bug", "gradegate-accept")}),
        ),
        (
            "pull_request",
            pull_request() | {"action": "labeled", "label": {"name": "bug"}, "sender": MONA},
            PLAIN.model_copy(update={"labeled": "bug", "sender": "mona"}),
        ),
        (
            "pull_request",
            pull_request() | {"action": "unlabeled", "label": {"name": "bug"}, "sender": MONA},
            PLAIN.model_copy(update={"sender": "mona"}),
        ),
        (
            "pull_request",
            pull_request() | {"before": "c" * 40, "sender": None},
            PLAIN.model_copy(update={"before": "c" * 40}),
        ),
        (
            "pull_request",
            pull_request() | {"action": "closed"},
            PLAIN.model_copy(update={"closed": True}),
        ),
        ("pull_request_target", pull_request(), PullRequestTarget(number=7)),
        (
            "push",
            {"ref": "refs/heads/main", "deleted": False, "repository": REPOSITORY},
            Push(ref="refs/heads/main", default_branch="main"),
        ),
        (
            "push",
            {"ref": "refs/heads/old", "deleted": True, "repository": REPOSITORY},
            Push(ref="refs/heads/old", default_branch="main", deleted=True),
        ),
        (
            "merge_group",
            {"merge_group": {"head_sha": "c" * 40, "base_sha": "a" * 40, "head_ref": "gh-queue"}},
            MergeGroup(head_sha="c" * 40, base_sha="a" * 40),
        ),
        (
            "merge_group",
            {
                "merge_group": {
                    "head_sha": "c" * 40,
                    "base_sha": "a" * 40,
                    "base_ref": "refs/heads/main",
                    "head_ref": QUEUED,
                }
            },
            MergeGroup(head_sha="c" * 40, base_sha="a" * 40, base_branch="main", pull_request=104),
        ),
        (
            "workflow_run",
            {"workflow_run": WORKFLOW_RUN},
            WorkflowRun(
                event="pull_request",
                head_sha="b" * 40,
                head_branch="feature",
                head_owner="guest",
            ),
        ),
        (
            "workflow_run",
            {"workflow_run": WORKFLOW_RUN | {"head_repository": None, "head_branch": None}},
            WorkflowRun(event="pull_request", head_sha="b" * 40, head_branch="", head_owner=""),
        ),
        (
            "workflow_dispatch",
            {"inputs": None, "repository": REPOSITORY},
            Dispatch(ref="refs/heads/main", default_branch="main"),
        ),
        ("schedule", {"schedule": "0 3 * * *"}, Schedule(ref="refs/heads/main")),
    ],
)
def test_a_payload_becomes_a_typed_event(
    name: str, payload: Mapping[str, Any], event: Event
) -> None:
    """What GitHub sends is read once, into what the plan goes by."""
    assert event_of(name, payload, "refs/heads/main") == event


@pytest.mark.parametrize(
    ("name", "payload", "named"),
    [
        ("pull_request", {}, "'pull_request'"),
        ("pull_request", {"pull_request": {"number": 7}}, "'head'"),
        ("pull_request_target", {"pull_request": {}}, "'number'"),
        ("push", {"ref": "refs/heads/main"}, "'repository'"),
        ("merge_group", {"merge_group": {"head_sha": "c"}}, "'base_sha'"),
        ("workflow_run", {"workflow_run": {"event": "push"}}, "'head_sha'"),
        ("workflow_dispatch", {}, "'repository'"),
        ("pull_request", {"pull_request": None}, "not as GitHub writes it"),
        ("pull_request", pull_request() | {"action": "labeled"}, "'label'"),
        ("pull_request", pull_request(head=["sha"]), "not as GitHub writes it"),
        ("pull_request", pull_request(number="seven"), "not as GitHub writes it"),
    ],
)
def test_a_payload_that_lacks_something_is_the_users_to_mend(
    name: str, payload: Mapping[str, Any], named: str
) -> None:
    """The message names what is missing and the variable to look at."""
    with pytest.raises(InputError) as refused:
        event_of(name, payload)
    assert named in str(refused.value)
    assert "GITHUB_EVENT_PATH" in str(refused.value)


def test_an_event_with_nothing_to_evaluate_says_which_ones_have() -> None:
    """A star is no reason to run an agent."""
    with pytest.raises(InputError, match=r"`watch`.*pull_request.*workflow_run"):
        event_of("watch", {})


def test_a_comment_says_whose_it_is_and_where() -> None:
    """On a pull request or an issue, just written or edited, by a person or a bot."""
    comment = {"id": 7, "body": "/gradegate rerun", "user": {"login": "mona", "type": "User"}}
    issue = {"number": 3, "pull_request": {}}
    event = event_of("issue_comment", {"action": "created", "issue": issue, "comment": comment})
    assert event == IssueComment(number=3, comment=7, author="mona", body="/gradegate rerun")
    ghost = {"id": 7, "body": None, "user": None}
    edited = {"action": "edited", "issue": {"number": 3}, "comment": ghost}
    assert event_of("issue_comment", edited) == IssueComment(
        number=3, comment=7, author="", body="", on_pull_request=False, written=False
    )


def test_the_event_is_read_from_the_file_that_github_names(tmp_path: Path) -> None:
    """Name, payload and ref come from the environment handed in."""
    file = tmp_path / "event.json"
    file.write_text(json.dumps({"repository": REPOSITORY}), encoding="utf-8")
    environ = {
        "GITHUB_EVENT_NAME": "workflow_dispatch",
        "GITHUB_EVENT_PATH": str(file),
        "GITHUB_REF": "refs/heads/feature",
    }
    assert read_event(environ) == Dispatch(ref="refs/heads/feature", default_branch="main")


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
def test_an_event_file_that_holds_no_event_is_refused(tmp_path: Path, text: str) -> None:
    """Also one that is JSON but no object."""
    file = tmp_path / "event.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="holds no event"):
        read_event({"GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": str(file)})


def test_outside_a_workflow_the_command_for_people_is_named() -> None:
    """Whoever runs the entry point at a terminal is told what to run instead."""
    with pytest.raises(InputError, match="gradegate run"):
        read_event({})
    with pytest.raises(InputError, match="GITHUB_EVENT_PATH"):
        read_event({"GITHUB_EVENT_NAME": "push"})


def dispatch(**inputs: str) -> Event:
    """A workflow that was started by hand, with these inputs."""
    named = {name.replace("_", "-"): value for name, value in inputs.items()}
    payload = {"inputs": named or None, "repository": REPOSITORY}
    return event_of("workflow_dispatch", payload, "refs/heads/main")


def test_a_workflow_is_started_for_a_commit_that_was_reviewed() -> None:
    """Inputs that are left empty are none."""
    plain = Dispatch(ref="refs/heads/main", default_branch="main")
    assert dispatch() == dispatch(pull_request="", head_sha="") == plain
    reviewed = Reviewed(pull_request=7, head_sha="b" * 40)
    assert dispatch(pull_request=" 7", head_sha="b" * 40) == plain.model_copy(
        update={"reviewed": reviewed}
    )


@pytest.mark.parametrize(
    ("number", "sha", "why"),
    [
        ("7", "", "`head-sha` cannot be ''"),
        ("7", "b" * 12, "all 40 digits"),
        ("7", "main", "the full sha"),
        ("", "b" * 40, "`pull-request` cannot be ''"),
        ("7; rm", "b" * 40, "the number of the pull request"),
    ],
)
def test_half_of_what_was_reviewed_is_refused(number: str, sha: str, why: str) -> None:
    """The message names the input and says what to write."""
    with pytest.raises(InputError, match=why):
        dispatch(pull_request=number, head_sha=sha)
