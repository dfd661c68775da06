"""What an agent did with a case, how it was scored, and which runs to have."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import not_
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self

from pydantic import Field

from gradegate.model.base import Value
from gradegate.model.evalset import CaseKey, Invocation
from gradegate.model.notice import Notice, as_notice, is_none, with_code
from gradegate.model.result import CaseResult
from gradegate.model.tool_recording import ToolAnswer, ToolRecording

TRACES_SCHEMA: Final = "gradegate/traces/v1"


class Trace(Value):
    """One run of one case. `error` is the agent's own failure: it counts as failing."""

    suite: str = ""
    eval_set: str
    eval_id: str
    run: int = Field(default=1, ge=1)
    invocations: tuple[Invocation, ...] = ()
    error: str | None = None
    seconds: float | None = Field(default=None, ge=0, exclude_if=is_none)
    """How long the agent took, if that was measured."""
    tools: tuple[ToolAnswer, ...] = Field(default=(), exclude_if=not_)
    """Where tools are not simply called: each call, in order."""
    toolsets: dict[str, tuple[dict[str, Any], ...]] = Field(default_factory=dict, exclude_if=not_)
    """The declarations of MCP servers' tools, where a recording is made."""

    @property
    def key(self) -> CaseKey:
        """Which case this is a run of."""
        return CaseKey(self.suite, self.eval_set, self.eval_id)


@dataclass(frozen=True)
class NotRun:
    """No trace, through no fault of the agent: nothing recorded, or our own limits."""

    reason: str
    notice: Notice | None = field(default=None, compare=False)

    @classmethod
    def because(cls, told: Notice) -> Self:
        """No trace, for a reason that is a sentence of ours."""
        return cls(told.text, with_code(told))

    @property
    def why(self) -> Notice:
        """The reason, in whose words it is."""
        return as_notice(self.reason, self.notice) or Notice(text=self.reason)


class Traces(Value):
    """The `traces.json` file."""

    schema_: Literal["gradegate/traces/v1"] = Field(default=TRACES_SCHEMA, alias="schema")
    cases: tuple[Trace, ...] = ()

    @classmethod
    def of(cls, traces: Iterable[Trace]) -> "Traces":
        """The file for these traces, in stable order."""
        return cls(cases=tuple(sorted(traces, key=lambda t: (*t.key, t.run))))


class Role(StrEnum):
    """What a run was made for; a run made for one purpose never counts for another."""

    FIRST = "first"
    REFRESH = "refresh"
    """Base's first pass made anew, where the stored one is of another day and looks close."""
    AGAIN = "again"
    """Another full pass, bought where a criterion's mean looks close."""
    RECHECK = "recheck"
    SCREEN = "screen"
    CONFIRM = "confirm"


FRESH = frozenset({Role.RECHECK, Role.SCREEN, Role.CONFIRM})
"""Made for a suspect."""


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run and its scores."""

    role: Role
    outcome: Trace | NotRun
    result: CaseResult
    of_another_job: bool = False
    """Read from the store, where another job left it: on another day, for all that we know."""
    verdicts_known: frozenset[str] = frozenset()
    """Criteria whose judge was not asked, because the store knew what it says of these answers."""


SideName = Literal["base", "head"]
SIDES: tuple[SideName, SideName] = ("base", "head")
SideRuns = Mapping[CaseKey, Sequence[ScoredRun]]
"""All runs of one side by case, in the order made."""


@dataclass(frozen=True)
class Side:
    """One side's files. `commit` is empty for files as they are in the work tree."""

    commit: str
    top: Path
    """The whole repository: an agent may read more than its project's folder."""
    root: Path
    """The project's folder in it."""
    recordings: Mapping[str, ToolRecording] = field(default_factory=dict, compare=False)
    """What its tools are to answer, by eval set; read before an agent could change it."""
    left_out: Mapping[str, str] = field(default_factory=dict, compare=False)
    """What the repository has and these files lack: files and modules by name, each with where."""


class RunRequest(NamedTuple):
    """Have so many runs of a case in a role, in all.

    A total and not so many more: asked twice, or by a job that goes on where a killed one
    was, it means the same.
    """

    side: SideName
    case: CaseKey
    role: Role
    total: int


class Runs:
    """All runs made so far. Of what an evaluation hands on, this alone grows."""

    def __init__(
        self,
        base: Mapping[CaseKey, Iterable[ScoredRun]] | None = None,
        head: Mapping[CaseKey, Iterable[ScoredRun]] | None = None,
    ) -> None:
        self._sides: dict[SideName, dict[CaseKey, list[ScoredRun]]] = {
            "base": {key: list(runs) for key, runs in (base or {}).items()},
            "head": {key: list(runs) for key, runs in (head or {}).items()},
        }

    @property
    def base(self) -> SideRuns:
        """Base's."""
        return self._sides["base"]

    @property
    def head(self) -> SideRuns:
        """Head's."""
        return self._sides["head"]

    def of(self, side: SideName, key: CaseKey, role: Role | None = None) -> Sequence[ScoredRun]:
        """A case's runs, in the order made; those of one role, where one is named."""
        runs = self._sides[side].get(key, ())
        return runs if role is None else [run for run in runs if run.role is role]

    def add(self, side: SideName, key: CaseKey, run: ScoredRun) -> None:
        """Take in one more."""
        self._sides[side].setdefault(key, []).append(run)

    def missing(self, requests: Iterable[RunRequest]) -> tuple[RunRequest, ...]:
        """The requests that are not met yet."""
        return tuple(one for one in requests if len(self.of(*one[:3])) < one.total)
