"""What the runs of a case say about a criterion: on one side, and on both."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from gradegate import locales
from gradegate.compare.pairing import Pair
from gradegate.compare.screening import NO_RUNS, Confirmation, SuspectId
from gradegate.compare.stats.exact import Count
from gradegate.criteria import registry
from gradegate.model.notice import Notice, notice, with_code
from gradegate.model.report import CaseCriterion, Change, Verdict
from gradegate.model.result import UNIT, CriterionResult, Scale, Status
from gradegate.model.runs import Role, ScoredRun, SideRuns

_PASSED = {Status.PASSED: True, Status.INFORMATIONAL: True, Status.FAILED: False}
Standing = Literal["passed", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class SideSummary:
    """First-pass runs of one side: how many passed, of how many that could be evaluated."""

    passed: int
    evaluated: int
    planned: int
    values: tuple[float, ...]
    threshold: float | None
    why: Notice | None
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
    def count(self) -> Count:
        """The runs that could be evaluated."""
        return Count(self.passed, self.evaluated)

    @property
    def mean(self) -> float | None:
        """The mean of what was scored."""
        return fmean(self.values) if self.values else None

    @property
    def below_threshold(self) -> bool:
        """Whether the mean misses the threshold, whichever way is better."""
        if self.mean is None or self.threshold is None:
            return False
        if self.scale.lower_is_better:
            return self.mean > self.threshold
        return self.mean < self.threshold


def summarize(runs: Iterable[ScoredRun], criterion: str) -> SideSummary:
    """What the first pass says."""
    found = [
        run.result.criteria[criterion]
        for run in runs
        if run.role is Role.FIRST and criterion in run.result.criteria
    ]
    results = [passed(one) for one in found]
    missing = [one.why for one in found if passed(one) is None]
    return SideSummary(
        passed=results.count(True),
        evaluated=len(results) - results.count(None),
        planned=max(len(results), 1),
        values=tuple(v for one in found if (v := value_of(one, criterion)) is not None),
        threshold=next((one.threshold for one in found if one.threshold is not None), None),
        why=next((why for why in missing if why and why.text), None),
        scale=scale_of(criterion, found[0] if found else None),
    )


def outcomes(runs: Iterable[ScoredRun], criterion: str) -> tuple[bool | None, ...]:
    """Whether each run passed, in the order made; None: not evaluated."""
    results = (run.result.criteria.get(criterion) for run in runs)
    return tuple(passed(one) if one else None for one in results)


def passed(one: CriterionResult) -> bool | None:
    """Whether the run met its threshold; None where that could not be told.

    A run that the criterion does not apply to has nothing to be held against it.
    """
    return _PASSED.get(one.status)


def full_passes(
    runs: Iterable[ScoredRun], criterion: str, *, missing: float | None = None
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


Settled = Mapping[SuspectId, Confirmation]


@dataclass(frozen=True, slots=True)
class PairedResult:
    """One criterion of one case on both sides. `base` is None where there is nothing to compare."""

    pair: Pair
    criterion: str
    base: SideSummary | None
    head: SideSummary
    settled: Confirmation | None
    """What fresh runs, or an exact test of recorded ones, came to."""
    every_run: tuple[Count, Count] = (NO_RUNS, NO_RUNS)
    """Of base and of head, whatever each was made for, but for full passes bought later."""

    @property
    def id(self) -> SuspectId:
        """The case and the criterion."""
        return self.pair.key, self.criterion

    @property
    def is_added(self) -> bool:
        """Whether the case is new, so that it answers to its threshold alone."""
        return self.pair.change is Change.ADDED

    @property
    def verdict(self) -> Verdict:
        """How head compares with base."""
        if self.settled is not None and self.base is not None:
            return Verdict(self.settled.verdict)
        if self.base is None:
            return Verdict.NEW
        match self.base.standing, self.head.standing:
            case _, "unknown":
                return Verdict.UNCERTAIN
            case "unknown", "failed":
                return Verdict.UNCERTAIN
            case "passed", "failed":
                return Verdict.REGRESSED
            case "failed", "passed":
                return Verdict.IMPROVED
        return Verdict.UNCHANGED

    @property
    def falls_short(self) -> bool:
        """Whether head is below its threshold, and not only now and then."""
        return self.head.standing == "failed" and not self.is_flaky and not self.is_open

    @property
    def is_open(self) -> bool:
        """Whether scores that could not be had leave it open if head meets its threshold."""
        lost = self.settled is not None and self.settled.verdict is Verdict.UNCERTAIN
        return self.head.standing == "unknown" or (self.base is None and lost)

    @property
    def may_be_worse(self) -> bool:
        """Whether scores that could not be had leave it open if head is worse than base.

        Not where head passed every time, nor where base failed and nobody asked it again.
        """
        if self.verdict is not Verdict.UNCERTAIN or self.base is None:
            return False
        asked_again = self.head.standing == "failed"
        return self.head.passed < self.head.planned and (
            self.base.standing != "failed" or asked_again
        )

    @property
    def is_flaky(self) -> bool:
        """Whether fresh runs showed that it passes and fails without a change."""
        return self.settled is not None and self.settled.verdict == "flaky"

    @property
    def why(self) -> Notice | None:
        """Why scores are missing, where they are: head's, or else base's; or why none tells."""
        if self.settled is not None and self.settled.unsteady:
            failed = self.settled.base.runs - self.settled.base.passed
            return notice(
                "undecided.unsteady",
                failed=locales.count(failed),
                runs=locales.count(self.settled.base.runs),
            )
        return self.head.why or (self.base.why if self.base else None)

    @property
    def is_confirmed(self) -> bool:
        """Whether a test bears the regression out; a flip between single recordings has none."""
        return self.settled is not None and self.settled.confirmed

    def comparison(self) -> CaseCriterion:
        """The same as the report has it."""
        base, head = self.base, self.head
        counts = self._counts()
        return CaseCriterion(
            base=base.mean if base else None,
            head=head.mean,
            delta=_difference(base.mean if base else None, head.mean),
            threshold=head.threshold,
            passed=(counts[0][0], counts[1][0]),
            runs=(counts[0][1], counts[1][1]),
            p_value=self.settled.p_value if self.settled else None,
            verdict=self.verdict,
            confirmed=self.is_confirmed,
            **self._weighed(),
            below_threshold=head.below_threshold,
            notice=with_code(self.why),
            reason=self.why and self.why.text,
        )

    def _weighed(self) -> dict[str, Any]:
        """What base's history has to do with it."""
        found = self.settled
        if found is None:
            return {}
        return {
            "earlier": found.earlier if found.earlier.runs else None,
            "bayes_factor": found.bayes_factor,
            "probably_worse": found.probably_worse,
            "more_runs": found.more_runs,
        }

    def _counts(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Passed and all runs a side that led to the verdict.

        A test says how sure it is of the runs that it tested, and of no others.
        """
        if self.settled is not None and self.settled.confirmed:
            return self.settled.base, self.settled.head
        return self.every_run


def paired_results(
    pair: Pair, base: SideRuns | None, head: SideRuns, settled: Settled
) -> list[PairedResult]:
    """All criteria of a pair that head has; base's runs were scored with head's config."""
    if pair.head is None:
        return []
    runs = head.get(pair.key, ())
    earlier = None if base is None or pair.base is None else base.get(pair.key)
    return [
        PairedResult(
            pair,
            name,
            None if earlier is None else summarize(earlier, name),
            summarize(runs, name),
            settled.get((pair.key, name)),
            (_count(earlier or (), name), _count(runs, name)),
        )
        for name in gated_names(runs)
    ]


def _count(runs: Iterable[ScoredRun], criterion: str) -> Count:
    """Of all runs but extra full passes, which are made for the criterion's mean."""
    told = outcomes((run for run in runs if run.role is not Role.AGAIN), criterion)
    return Count.of(one for one in told if one is not None)


def gated_names(runs: Sequence[ScoredRun]) -> list[str]:
    """The criteria of a case that pass or fail, in stable order."""
    names = {
        name
        for run in runs
        for name, one in run.result.criteria.items()
        if one.applies and one.status is not Status.INFORMATIONAL
    }
    return sorted(names)


def _difference(base: float | None, head: float | None) -> float | None:
    return None if base is None or head is None else head - base
