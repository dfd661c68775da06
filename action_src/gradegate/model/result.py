"""Scores of one side: the `results.json` file."""

from enum import StrEnum
from operator import not_
from typing import Any, Final, Literal

from pydantic import Field

from gradegate.model.base import Value
from gradegate.model.evalset import CaseKey
from gradegate.model.notice import Notice, as_notice, as_notices, is_none, text_beside

RESULTS_SCHEMA: Final = "gradegate/results/v1"


class Status(StrEnum):
    """How a case, a criterion or an invocation came out."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_EVALUATED = "not_evaluated"
    ERRORED = "errored"
    INFORMATIONAL = "informational"


class Scale(Value):
    """Between which scores a criterion moves, and which end is the good one."""

    low: float = 0.0
    high: float = 1.0
    lower_is_better: bool = False

    @property
    def best(self) -> float:
        """The score nothing can beat."""
        return self.low if self.lower_is_better else self.high

    @property
    def worst(self) -> float:
        """The score of a run that the agent failed."""
        return self.high if self.lower_is_better else self.low

    @property
    def width(self) -> float:
        """How far apart the two are."""
        return self.high - self.low


UNIT = Scale()
"""From 0 to 1, higher is better: what nearly all criteria have."""


class RubricScore(Value):
    """A judge's answer to one rubric."""

    rubric_id: str
    score: float | None = None
    rationale: str | None = None


class InvocationResult(Value):
    """One criterion's score of one turn; None with a reason where it could not be had."""

    score: float | None = None
    status: Status = Status.NOT_EVALUATED
    notice: Notice | None = Field(default=None, exclude_if=is_none)
    reason: str | None = Field(default_factory=text_beside)
    rubrics: tuple[RubricScore, ...] = ()
    details: dict[str, Any] = Field(default_factory=dict)

    @property
    def why(self) -> Notice | None:
        """The reason, in whose words it is."""
        return as_notice(self.reason, self.notice)


class CriterionResult(Value):
    """One criterion's score of one case."""

    score: float | None = None
    threshold: float | None = None
    status: Status = Status.NOT_EVALUATED
    notice: Notice | None = Field(default=None, exclude_if=is_none)
    reason: str | None = Field(default_factory=text_beside)
    invocations: tuple[InvocationResult, ...] = ()
    rubrics: tuple[RubricScore, ...] = ()
    applies: bool = True
    """False where the case has nothing that the criterion could go by, on either side: that is
    not evaluated, but nothing was lost by it."""
    scale: Scale | None = None
    """Of a custom metric, which nobody else knows; None: the criterion's own."""
    breakdown: dict[str, float] = Field(default_factory=dict)
    """What an informational score is made of, such as tokens read and written."""

    @property
    def why(self) -> Notice | None:
        """The reason, in whose words it is."""
        return as_notice(self.reason, self.notice)


class CaseResult(Value):
    """One run of one case, scored by every configured criterion."""

    suite: str = ""
    eval_set: str
    eval_id: str
    run: int = Field(default=1, ge=1)
    line: int = 1
    status: Status
    notice: Notice | None = Field(default=None, exclude_if=is_none)
    reason: str | None = Field(default_factory=text_beside)
    criteria: dict[str, CriterionResult] = Field(default_factory=dict)

    @property
    def why(self) -> Notice | None:
        """The reason, in whose words it is."""
        return as_notice(self.reason, self.notice)

    @property
    def key(self) -> CaseKey:
        """Which case this is a result of."""
        return CaseKey(self.suite, self.eval_set, self.eval_id)


class CriterionUsage(Value):
    """What one criterion asked of its judge."""

    judge_calls: int = 0
    """Calls that were answered, usably or not."""
    judge_retries: int = 0
    """Calls that failed on the way and were made again, or given up."""
    judge_calls_saved_by_voting: int = 0
    judge_cache_hits: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class Usage(CriterionUsage):
    """What a run cost."""

    seconds: float = 0.0
    by_criterion: dict[str, CriterionUsage] = Field(default_factory=dict)


class Results(Value):
    """The `results.json` file: one side, every case, every run."""

    schema_: Literal["gradegate/results/v1"] = Field(default=RESULTS_SCHEMA, alias="schema")
    commit: str = ""
    fingerprint: str = ""
    shard: str | None = None
    """Which part of the cases this is, such as `2/8`; None: all of them."""
    configuration: str = Field(default="", exclude_if=not_)
    """Of a part: a digest of the settings and inputs that held, the same for all parts."""
    cases: tuple[CaseResult, ...] = ()
    usage: Usage = Usage()
    warnings: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = Field(default=(), exclude_if=not_)
    """The warnings, one by one, as they can be told in another language."""

    @property
    def told(self) -> tuple[Notice, ...]:
        """The warnings, as notices where the file has them."""
        return as_notices(self.warnings, self.notices)
