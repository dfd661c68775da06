"""GitHub's event payload as a typed event."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradegate.model.base import Value
from gradegate.model.errors import InputError

BRANCH = "refs/heads/"
_QUEUED = re.compile(r"refs/heads/gh-readonly-queue/.+/pr-(\d+)-[0-9a-f]+")


class PullRequest(Value):
    """A pull request was opened or changed."""

    number: int
    head_sha: str
    base_sha: str
    base_branch: str
    from_fork: bool = False
    labels: tuple[str, ...] = ()
    closed: bool = False
    labeled: str | None = None
    """The label that was set just now, where that is the event."""
    sender: str = ""
    """Whose doing the event is."""
    before: str | None = None
    """The commit that a push has replaced."""


class PullRequestTarget(Value):
    """The same, with base's secrets and token: not for running the pull request's code."""

    number: int


class Push(Value):
    """Commits arrived on a branch or a tag."""

    ref: str
    default_branch: str
    deleted: bool = False


class MergeGroup(Value):
    """A merge queue asks whether a group of pull requests may go in."""

    head_sha: str
    base_sha: str
    base_branch: str = ""
    pull_request: int | None = None
    """The one that joined the queue, by the name of the group's branch."""


class WorkflowRun(Value):
    """Another workflow of this repository has ended."""

    event: str
    head_sha: str
    head_branch: str
    head_owner: str


class Reviewed(Value):
    """A commit of a pull request that somebody has reviewed and wants to see evaluated."""

    pull_request: int
    head_sha: str


class IssueComment(Value):
    """Somebody wrote a comment on a pull request, or on an issue."""

    number: int
    comment: int
    author: str
    body: str
    on_pull_request: bool = True
    written: bool = True
    """Just now; not edited or deleted."""
    by_bot: bool = False


class Dispatch(Value):
    """Someone started the workflow by hand."""

    ref: str
    default_branch: str
    reviewed: Reviewed | None = None


class Schedule(Value):
    """The clock started the workflow."""

    ref: str = ""


class Local(Value):
    """Nobody did: a person at a terminal."""


Event = (
    PullRequest
    | PullRequestTarget
    | Push
    | MergeGroup
    | WorkflowRun
    | IssueComment
    | Dispatch
    | Schedule
    | Local
)


def read_event(environ: Mapping[str, str]) -> Event:
    """The event that GitHub tells of in the environment and its event file.

    Raises:
        InputError: there is none, or it is one this action has nothing to do with.
    """
    name = environ.get("GITHUB_EVENT_NAME", "")
    if not name:
        raise InputError(
            "GITHUB_EVENT_NAME is not set: `gradegate action` is what a workflow runs; "
            "at a terminal use `gradegate run`"
        )
    return event_of(name, _payload(environ), environ.get("GITHUB_REF", ""))


def event_of(name: str, payload: Mapping[str, Any], ref: str = "") -> Event:
    """The typed event for a payload."""
    try:
        return _typed(name, payload, ref)
    except KeyError as missing:
        raise InputError(
            f"the event file of `{name}` has no {missing}: is GITHUB_EVENT_PATH the one GitHub set?"
        ) from missing
    except (TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"the event file of `{name}` is not as GitHub writes it: is GITHUB_EVENT_PATH the one "
            "GitHub set?"
        ) from error


def _typed(name: str, payload: Mapping[str, Any], ref: str) -> Event:
    match name:
        case "pull_request":
            return _pull_request(payload)
        case "pull_request_target":
            return PullRequestTarget(number=payload["pull_request"]["number"])
        case "push":
            return Push(
                ref=payload["ref"],
                default_branch=payload["repository"]["default_branch"],
                deleted=payload.get("deleted", False),
            )
        case "merge_group":
            return _merge_group(payload["merge_group"])
        case "workflow_run":
            return _workflow_run(payload["workflow_run"])
        case "issue_comment":
            return _issue_comment(payload)
        case "workflow_dispatch":
            return Dispatch(
                ref=ref,
                default_branch=payload["repository"]["default_branch"],
                reviewed=_reviewed(payload.get("inputs") or {}),
            )
        case "schedule":
            return Schedule(ref=ref)
    raise InputError(
        f"the event `{name}` has nothing to evaluate: let the workflow start on pull_request, "
        "push, merge_group, workflow_run, issue_comment, workflow_dispatch or schedule"
    )


def _pull_request(payload: Mapping[str, Any]) -> PullRequest:
    pull = payload["pull_request"]
    head, base = pull["head"], pull["base"]
    head_repo = (head.get("repo") or {}).get("full_name")  # gone where a fork was deleted
    return PullRequest(
        number=pull["number"],
        head_sha=head["sha"],
        base_sha=base["sha"],
        base_branch=base["ref"],
        from_fork=head_repo != base["repo"]["full_name"],
        labels=tuple(label["name"] for label in pull.get("labels", ())),
        closed=payload.get("action") == "closed",
        labeled=payload["label"]["name"] if payload.get("action") == "labeled" else None,
        sender=(payload.get("sender") or {}).get("login", ""),
        before=payload.get("before"),
    )


def _merge_group(group: Mapping[str, Any]) -> MergeGroup:
    queued = _QUEUED.fullmatch(group.get("head_ref") or "")
    return MergeGroup(
        head_sha=group["head_sha"],
        base_sha=group["base_sha"],
        base_branch=(group.get("base_ref") or "").removeprefix(BRANCH),
        pull_request=int(queued[1]) if queued else None,
    )


def _workflow_run(run: Mapping[str, Any]) -> WorkflowRun:
    owner = ((run.get("head_repository") or {}).get("owner") or {}).get("login", "")
    return WorkflowRun(
        event=run["event"],
        head_sha=run["head_sha"],
        head_branch=run["head_branch"] or "",
        head_owner=owner,
    )


def _reviewed(inputs: Mapping[str, Any]) -> Reviewed | None:
    """What the workflow was started for, where its inputs say."""
    number, sha = (str(inputs.get(name) or "").strip() for name in ("pull-request", "head-sha"))
    if not number and not sha:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,9}", number):
        raise InputError(
            f"the workflow's input `pull-request` cannot be {number!r}: write the number of the "
            "pull request that `head-sha` is the head of"
        )
    if not re.fullmatch(r"[0-9a-f]{40}", sha):
        raise InputError(
            f"the workflow's input `head-sha` cannot be {sha!r}: write the full sha of the commit "
            "that you reviewed, all 40 digits, so that no later one takes its place"
        )
    return Reviewed(pull_request=int(number), head_sha=sha)


def _issue_comment(payload: Mapping[str, Any]) -> IssueComment:
    comment = payload["comment"]
    author = comment.get("user") or {}  # gone where an account was deleted
    return IssueComment(
        number=payload["issue"]["number"],
        comment=comment["id"],
        author=author.get("login", ""),
        body=comment.get("body") or "",
        on_pull_request="pull_request" in payload["issue"],
        written=payload["action"] == "created",
        by_bot=author.get("type") == "Bot",
    )


def _payload(environ: Mapping[str, str]) -> Mapping[str, Any]:
    path = environ.get("GITHUB_EVENT_PATH", "")
    try:
        payload = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"GITHUB_EVENT_PATH ({path!r}) holds no event: {error}; GitHub sets it for every job"
        ) from error
    if not isinstance(payload, dict):
        raise InputError(f"GITHUB_EVENT_PATH ({path!r}) holds no event: it is not a JSON object")
    return payload
