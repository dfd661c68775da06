"""What is told to, and heard from, the place where pull requests live."""

from datetime import datetime
from typing import Literal, NamedTuple


class Posted(NamedTuple):
    """Something now visible on GitHub."""

    url: str
    warning: str = ""
    """What the workflow's author should know of it."""


class Skipped(NamedTuple):
    """Something not posted, and why; never a reason to fail the job."""

    reason: str
    """Empty where it was said before."""
    needs: str = ""
    """The permission that the token lacks, as a workflow writes it."""


class LabelSet(NamedTuple):
    """A label on a pull request: who set it, and the event's number."""

    who: str
    event: int


class ReportedRun(NamedTuple):
    """The run of the workflow behind a commit's newest completed check of ours."""

    run: int
    completed_at: datetime


class CommentNow(NamedTuple):
    """A comment as it stands at this moment."""

    author: str
    body: str
    written_at: datetime


Reaction = Literal["+1", "confused", "-1"]


class PullRequestNow(NamedTuple):
    """What GitHub says of a pull request at this moment."""

    head_sha: str
    base_branch: str


class Annotation(NamedTuple):
    """A remark on one line of a file, shown in the pull request's diff."""

    path: str
    line: int
    level: Literal["notice", "warning", "failure"]
    title: str
    message: str


class CheckOutput(NamedTuple):
    """A completed check as GitHub shows it, already rendered and within its limits."""

    conclusion: Literal["success", "failure", "neutral", "action_required", "cancelled"]
    title: str
    summary: str
    text: str = ""
    annotations: tuple[Annotation, ...] = ()


class Audience(NamedTuple):
    """Who is told: a commit's check, and a pull request's comment where there is one."""

    sha: str
    check_name: str
    pull_request: int | None = None
    may_write: bool = True
    """Whether the token may post; a fork's may not, and the second workflow does."""
