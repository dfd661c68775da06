"""What an agent did with a case: a trace, or why there is none."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from gradegate.model.base import Value
from gradegate.model.case import CaseKey
from gradegate.model.evalset import Invocation


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
