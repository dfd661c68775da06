"""What the runs of one case say about one criterion on one side."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from gradegate.criteria import registry
from gradegate.model.evaluation import Role, Scored
from gradegate.model.result import UNIT, CriterionResult, Scale, Status

_PASSED = {Status.PASSED: True, Status.INFORMATIONAL: True, Status.FAILED: False}
Standing = Literal["passed", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class Observed:
    """First-pass runs of one side: how many passed, of how many that could be evaluated."""

    passed: int
    evaluated: int
    planned: int
    values: tuple[float, ...]
    threshold: float | None
    reason: str | None
    """Why scores are missing, where they are."""
    scale: Scale = UNIT

    @property
    def standing(self) -> Standing:
        """Passed or failed by the majority of the runs; unknown where the missing ones matter."""
        missing = self.planned - self.evaluated
        if 2 * self.passed > self.planned:
            return "passed"
        return "failed" if 2 * (self.passed + missing) <= self.planned else "unknown"

    @property
    def mean(self) -> float | None:
        """The mean of what was scored."""
        return fmean(self.values) if self.values else None


def observe(runs: Iterable[Scored], criterion: str) -> Observed:
    """What the first pass says."""
    found = [
        run.result.criteria[criterion]
        for run in runs
        if run.role is Role.FIRST and criterion in run.result.criteria
    ]
    results = [passed(one) for one in found]
    missing = [one.reason for one in found if passed(one) is None]
    return Observed(
        passed=results.count(True),
        evaluated=len(results) - results.count(None),
        planned=max(len(results), 1),
        values=tuple(v for one in found if (v := value_of(one, criterion)) is not None),
        threshold=next((one.threshold for one in found if one.threshold is not None), None),
        reason=next((reason for reason in missing if reason), None),
        scale=scale_of(criterion, found[0] if found else None),
    )


def fresh(runs: Sequence[Scored], criterion: str, role: Role) -> tuple[bool | None, ...]:
    """The outcomes of runs made for one purpose, in the order made; None: not evaluated."""
    return tuple(
        passed(run.result.criteria[criterion])
        for run in runs
        if run.role is role and criterion in run.result.criteria
    )


def passed(one: CriterionResult) -> bool | None:
    """Whether the run met its threshold; None where that could not be told.

    A run that the criterion does not apply to has nothing to be held against it.
    """
    return _PASSED.get(one.status)


def full_passes(
    runs: Iterable[Scored], criterion: str, *, missing: float | None = None
) -> tuple[float, ...]:
    """The scores of all full passes; runs made because of how a case had done do not count.

    `missing` stands in for a score that could not be had; None leaves it out.
    """
    found = (
        _value_or(run.result.criteria.get(criterion), criterion, missing)
        for run in runs
        if run.role in (Role.FIRST, Role.AGAIN)
    )
    return tuple(value for value in found if value is not None)


def _value_or(one: CriterionResult | None, name: str, missing: float | None) -> float | None:
    if one is None or one.status is Status.NOT_EVALUATED:
        return missing
    return value_of(one, name)


def value_of(one: CriterionResult, criterion: str) -> float | None:
    """The run's score for a mean.

    A run that the agent failed has no score and counts as the worst: left out, crashes would
    raise the mean. One that could not be evaluated, or that the criterion does not apply to,
    counts nowhere, also where some turns have a score.
    """
    if one.status in (Status.NOT_EVALUATED, Status.INFORMATIONAL):
        return None
    return scale_of(criterion, one).worst if one.score is None else one.score


def scale_of(criterion: str, one: CriterionResult | None) -> Scale:
    """Between which scores a criterion moves; a custom metric says so itself."""
    return (one and one.scale) or registry.scale_of(criterion)
