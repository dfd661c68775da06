"""What an agent did with a case: a trace, or why there is none.

One run of one case on one side: what the agent did and how it was scored.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from pydantic import Field

from gradegate.model.base import Value
from gradegate.model.evalset import CaseKey, Invocation
from gradegate.model.result import CaseResult


class Trace(Value):
    """One run of one case. `error` is the agent's own failure: it counts as failing."""

    suite: str = ""
    eval_set: str
    eval_id: str
    run: int = Field(default=1, ge=1)
    invocations: tuple[Invocation, ...] = ()
    error: str | None = None

    @property
    def key(self) -> CaseKey:
        """Which case this is a run of."""
        return CaseKey(self.suite, self.eval_set, self.eval_id)


@dataclass(frozen=True)
class NotRun:
    """No trace, through no fault of the agent: nothing recorded, or our own limits."""

    reason: str


class Traces(Value):
    """The `traces.json` file."""

    schema_: Literal["gradegate/traces/v1"] = Field(default="gradegate/traces/v1", alias="schema")
    cases: tuple[Trace, ...] = ()

    @classmethod
    def of(cls, traces: Iterable[Trace]) -> "Traces":
        """The file for these traces, in stable order."""
        return cls(cases=tuple(sorted(traces, key=lambda t: (*t.key, t.run))))


class Role(StrEnum):
    """What a run was made for; a run made for one purpose never counts for another."""

    FIRST = "first"
    AGAIN = "again"
    """Another full pass, bought where a criterion's mean looks close."""
    RECHECK = "recheck"
    SCREEN = "screen"
    CONFIRM = "confirm"


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run and its scores."""

    role: Role
    outcome: Trace | NotRun
    result: CaseResult


Runs = Mapping[CaseKey, Sequence[ScoredRun]]
"""All runs of one side by case, in the order made."""
