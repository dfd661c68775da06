"""What the stand-in remembers: plain values, changed only under its lock."""

import itertools
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

JOB_TOKEN = "ghs_the_job"  # noqa: S105 - opens nothing but the stand-in
PERSONAL_TOKEN = "ghp_a_person"  # noqa: S105 - same

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

Level = Literal["none", "read", "write"]
LEVELS: tuple[Level, ...] = ("none", "read", "write")


def now() -> str:
    """The time as GitHub writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Actor:
    """Whose token it is: a person, or an App that writes as its bot."""

    login: str
    app_slug: str | None = None


@dataclass(frozen=True)
class Event:
    """Something happened, such as `labeled`; the actor is None once their account is deleted."""

    id: int
    kind: str
    actor: str | None
    label: str | None = None


@dataclass
class PullRequest:
    """A pull request, with its labels and what happened to it."""

    number: int
    head_sha: str
    head_branch: str
    head_owner: str
    state: Literal["open", "closed"]
    base_branch: str = "main"
    base_sha: str = "0" * 40
    labels: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)


@dataclass
class Comment:
    """A comment on a pull request; the author is None once their account is deleted."""

    id: int
    pull_request: int
    author: str | None
    body: str
    created_at: str = field(default_factory=now)
    updated_at: str = field(default_factory=now)
    reactions: list[str] = field(default_factory=list)


@dataclass
class CheckRun:
    """A check run; annotations add up over updates."""

    id: int
    name: str
    head_sha: str
    app_slug: str
    status: str = "queued"
    conclusion: str | None = None
    details_url: str | None = None
    external_id: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Status:
    """A commit status."""

    id: int
    sha: str
    state: str
    context: str
    description: str | None
    target_url: str | None
    creator: str


@dataclass
class GitData:
    """The git database, as far as it was written through the API; of a branch the last commit."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    trees: dict[str, dict[str, str]] = field(default_factory=lambda: {EMPTY_TREE: {}})
    """Blobs by path, of the trees there are."""
    tree_of: dict[str, str] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)


@dataclass
class State:
    """One repository and who may do what in it."""

    repository: str
    lock: threading.RLock = field(default_factory=threading.RLock)
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(1001))
    actors: dict[str, Actor] = field(
        default_factory=lambda: {
            JOB_TOKEN: Actor("github-actions[bot]", app_slug="github-actions"),
            PERSONAL_TOKEN: Actor("octo-tester"),
        }
    )
    permissions: dict[str, Level] = field(
        default_factory=lambda: {
            "actions": "read",
            "checks": "write",
            "contents": "read",
            "pull-requests": "write",
            "statuses": "write",
        }
    )
    roles: dict[str, str] = field(default_factory=dict)
    """What people may do in the repository: admin, write, read."""
    commits: set[str] = field(default_factory=set)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of the commits that have any."""
    git: GitData = field(default_factory=GitData)
    files: dict[tuple[str, str], str] = field(default_factory=dict)
    """Their text by branch or commit, and path."""
    runs: dict[int, str] = field(default_factory=dict)
    """Whether a workflow's run is `in_progress` or `completed`, by its id."""
    reruns: list[int] = field(default_factory=list)
    """The runs that somebody had run again, by their ids."""
    names_apps: bool = True
    """Whether a check run says which app made it: the description allows null."""
    completed_for_good: bool = False
    """Whether nothing of a completed check run's outcome can be changed any more."""
    pulls: dict[int, PullRequest] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    check_runs: dict[int, CheckRun] = field(default_factory=dict)
    statuses: list[Status] = field(default_factory=list)

    def allows(self, permission: str, needed: Level) -> bool:
        """Whether the token's `permissions:` in the workflow would let this through."""
        return LEVELS.index(self.permissions[permission]) >= LEVELS.index(needed)
