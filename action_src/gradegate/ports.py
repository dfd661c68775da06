"""The few protocols between what decides and what touches the outside world."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from pydantic import BaseModel

from gradegate.model.evalset import Case, Content, Invocation
from gradegate.model.history import History, Record
from gradegate.model.notice import Notice
from gradegate.model.posting import (
    CheckOutput,
    CommentNow,
    LabelSet,
    Posted,
    PullRequestNow,
    Reaction,
    ReportedRun,
    Skipped,
)
from gradegate.model.question import Question, Votes
from gradegate.model.result import Usage
from gradegate.model.runs import NotRun, Trace

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class Machine:
    """This computer: its environment, and what a user chose of it."""

    environ: Mapping[str, str] = field(repr=False)
    repository: Path
    """What agents must not look into."""
    cache: Path
    """Where environments are kept between runs."""
    agent_python: str | None = None
    answers: Path | None = None
    """Recorded answers to judge with, in place of a model."""
    trusted: bool = False
    """The agents are our own, as in the demo: do not repeat isolation warnings."""


class Needs(NamedTuple):
    """What a criterion cannot do without."""

    reference: bool = False
    rubrics: bool = False
    judge: bool = False
    vertex: bool = False
    scenario: bool = False


class Ask(Protocol):
    """The only way from a criterion to a model."""

    async def __call__(self, question: Question[T], samples: int) -> Votes[T]:
        """Ask until the vote is decided, `samples` times at most."""
        ...


class Judge(Ask, Protocol):
    """A way to ask that keeps count, and is closed at the end."""

    def usage(self, seconds: float = 0.0) -> Usage:
        """What all questions cost so far."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...


class Reply(NamedTuple):
    """What a judge said to one question once, not yet read."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    unusable: str | None = None
    """Why there is nothing to read in it (blocked, empty); it spends its sample."""


class CallFailure(NamedTuple):
    """No answer, through nobody's fault but the service's or the network's."""

    reason: str
    retryable: bool
    """Whether asking again can help; a refused key or an unknown model stays refused."""
    retry_after: float | None = None
    """Seconds the service asks us to wait."""
    throttled: bool = False
    """Whether the service says that we ask too much (429, 503)."""
    for_all: bool = False
    """Whether every question to this model would meet the same refusal (key, model, quota)."""


class JudgeProvider(Protocol):
    """Answers one question once: a judge behind an API, or a recorded one."""

    async def answer(self, question: Question[Any], sample: int) -> Reply | CallFailure:
        """Answer; `sample` counts from 1 and tells repeated askings apart."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class MetricCaller(Protocol):
    """Calls a user's own metric where google-adk and the agent's code are."""

    async def __call__(self, request: dict[str, Any]) -> dict[str, Any] | str:
        """What the function returned, as JSON, or why there is nothing."""
        ...


class User(Protocol):
    """The one who talks to the agent: written down beforehand, or played by a model."""

    async def next_message(self, dialogue: Sequence[Invocation]) -> Content | NotRun | None:
        """What to say after the dialogue so far; None to end it.

        A user whose own model cannot be had is nothing the agent did: that run is not run.
        """
        ...


UserFactory = Callable[[Case, int], User]
"""The user of one run of a case; the run's number tells runs apart."""


class AgentRunner(Protocol):
    """Runs the agent of one suite on one side."""

    rerunnable: bool
    """Whether a fresh run can be had; a recording has only the runs it has."""

    async def prepare(self) -> Notice | None:
        """Make ready what a run needs, such as an environment; why that cannot be had."""
        ...

    def runs_of(self, case: Case, asked: int) -> int:
        """How many runs the first pass is to make of a case, where so many are asked for."""
        ...

    async def run(self, case: Case, run: int) -> Trace | NotRun:
        """Run one case from the start. The agent's failure is a trace with an error."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...


class Store(Protocol):
    """Finished units by content, written as they are finished."""

    def get(self, kind: str, key: str) -> str | None:
        """The unit's value, or None where it is not finished."""
        ...

    def put(self, kind: str, key: str, value: str) -> None:
        """Keep a finished unit. The same key again changes nothing."""
        ...

    def forget(self, kind: str, keys: Iterable[str]) -> None:
        """Drop units that must not be taken for finished by the next job."""
        ...

    def news(self, kind: str) -> dict[str, str]:
        """The units of a kind that this job has put."""
        ...


class HistoryStore(Protocol):
    """Base's earlier outcomes, by key."""

    def records(self, keys: Iterable[str]) -> Mapping[str, Record]:
        """Those that there are."""
        ...

    def all(self) -> History:
        """Everything."""
        ...

    def add(self, history: History) -> None:
        """Take these in; a job whose runs are known adds nothing."""
        ...


class Forge(Protocol):
    """Where the outcome is shown: one check and one comment per check name."""

    def start_check(self, sha: str) -> Posted | Skipped:
        """Show the check as in progress."""
        ...

    def complete_check(self, sha: str, output: CheckOutput) -> Posted | Skipped:
        """Show the outcome, with annotations; a commit status where checks are forbidden."""
        ...

    def summary_of_check(self, sha: str) -> str | Skipped | None:
        """What this workflow run's own completed check of a commit says; None: there is none."""
        ...

    def close_left_behind(self, sha: str, output: CheckOutput) -> None:
        """Complete the checks that killed jobs left in progress on a commit."""
        ...

    def comment(self, pull_request: int, body: str, *, create: bool) -> Posted | Skipped:
        """Edit our sticky comment, or write it where there is none and `create` is set."""
        ...

    def find_pull_request(
        self, head_repo_owner: str, head_branch: str, head_sha: str
    ) -> int | Skipped | None:
        """The pull request whose head is this commit, for events that do not name it."""
        ...

    def pull_request(self, number: int) -> PullRequestNow | Skipped:
        """The pull request as it is now."""
        ...

    def file(self, path: str, branch: str) -> str | Skipped | None:
        """A file's text as a branch has it, or None where it has none."""
        ...

    def parents(self, sha: str) -> tuple[str, ...] | Skipped:
        """The parents of a commit; none where the repository does not know it."""
        ...

    def among_ancestors(self, branch: str, commits: Collection[str]) -> frozenset[str] | Skipped:
        """Those of the commits that are on a branch; ones far back may be missing."""
        ...

    def data(self, branch: str, path: str) -> str | Skipped | None:
        """A file's text on a branch that only keeps data, or None where it has none."""
        ...

    def change_data(
        self, branch: str, path: str, change: Callable[[str | None], str], message: str
    ) -> Posted | Skipped:
        """Put there what `change` makes of what is there, whoever else does so meanwhile."""
        ...

    def label_set(self, pull_request: int, label: str) -> LabelSet | Skipped | None:
        """Who set the label last, or None where it is not on the pull request (any more)."""
        ...

    def may_write(self, login: str) -> bool | Skipped:
        """Whether somebody may push to the repository."""
        ...

    def remember(self, sha: str, line: str) -> Posted | Skipped:
        """Keep a line in our check of a commit, for later jobs on it."""
        ...

    def remembered(self, sha: str) -> tuple[str, ...] | Skipped:
        """The lines that earlier checks of ours on the commit keep, and nobody else's."""
        ...

    def reported(self, sha: str) -> ReportedRun | Skipped | None:
        """The run that reported on a commit last; None where there is no report yet."""
        ...

    def rerun(self, run: int) -> Posted | Skipped:
        """Have a run of a workflow made again."""
        ...

    def read_comment(self, number: int, comment: int) -> CommentNow | Skipped | None:
        """A comment on a pull request; None where it is gone."""
        ...

    def answer(self, number: int, comment: int, reaction: Reaction, body: str) -> Posted | Skipped:
        """React to a comment, and reply below it."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
