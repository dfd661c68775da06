"""One shard's part of an evaluation: the runs it made, for another job to decide by."""

from operator import not_
from typing import Final, Literal

from pydantic import Field

from gradegate.model.base import Value
from gradegate.model.evalset import CaseKey
from gradegate.model.notice import Notice
from gradegate.model.overrides import Shard
from gradegate.model.result import CaseResult, Usage
from gradegate.model.runs import NotRun, Role, ScoredRun, SideName, Trace

SHARD_SCHEMA: Final = "gradegate/shard/v1"


class SideOfShard(Value):
    """Which files a side was."""

    commit: str = ""
    fingerprint: str = ""


class Origin(Value):
    """What a shard is a part of; those of one evaluation have the same."""

    head: SideOfShard
    base: SideOfShard | None = None
    configuration: str
    """A digest of the settings and inputs that hold."""
    version: str
    """Of gradegate."""


class RunOfShard(Value):
    """One run and its scores."""

    side: SideName
    role: Role = Role.FIRST
    result: CaseResult
    trace: Trace | None = None
    """What the agent did; None where it was not run, for the reason that the result gives."""
    of_another_job: bool = Field(default=False, exclude_if=not_)
    verdicts_known: tuple[str, ...] = Field(default=(), exclude_if=not_)
    """Criteria whose judge was not asked, because the store knew what it says."""
    asked: tuple[str, ...] = Field(default=(), exclude_if=not_)
    """The digests of the questions that the run put, so that a rerun asks anew."""

    def scored(self) -> ScoredRun:
        """The same as it was in the job that made it."""
        why = self.result.why or Notice(text="")
        outcome = self.trace if self.trace is not None else NotRun.because(why)
        return ScoredRun(
            self.role,
            outcome,
            self.result,
            of_another_job=self.of_another_job,
            verdicts_known=frozenset(self.verdicts_known),
        )


class ShardFile(Value):
    """The file that a shard hands to the merge."""

    schema_: Literal["gradegate/shard/v1"] = Field(default=SHARD_SCHEMA, alias="schema")
    shard: Shard
    origin: Origin
    confirms: bool = Field(default=False, exclude_if=not_)
    """Whether it made what a merge asked for, and no part of the first pass."""
    cases: tuple[CaseKey, ...] = ()
    """Those that are this shard's to run."""
    runs: tuple[RunOfShard, ...] = ()
    answers: dict[str, str] = Field(default_factory=dict)
    """What judges said to it, as the store keeps it."""
    ran: tuple[SideName, ...] = ()
    """Sides whose agents really ran, and were not all read from the store."""
    usage: Usage = Usage()
    notices: tuple[Notice, ...] = ()
    """What a reader should know of how its agents were run."""

    @property
    def name(self) -> str:
        """What the file is called."""
        kind = "confirm" if self.confirms else "shard"
        return f"{kind}-{self.shard.number}-of-{self.shard.total}.json"
