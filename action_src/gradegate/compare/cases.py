"""Case by case, criterion by criterion: what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gradegate.compare.confirm import Outcome
from gradegate.compare.observe import Observed, observe
from gradegate.compare.pairing import Pair
from gradegate.model.case import CaseKey
from gradegate.model.evaluation import Runs, Scored
from gradegate.model.report import CaseCriterion, Change, Verdict
from gradegate.model.result import Status

SuspectId = tuple[CaseKey, str]
Settled = Mapping[SuspectId, Outcome]


@dataclass(frozen=True, slots=True)
class Judgement:
    """One criterion of one case on both sides. `base` is None where there is nothing to compare."""

    pair: Pair
    criterion: str
    base: Observed | None
    head: Observed
    settled: Outcome | None
    """What fresh runs, or an exact test of recorded ones, came to."""

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
            reason=head.reason or (base.reason if base else None),
        )

    def _counts(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Passed and all runs a side: the fresh ones where there are any, else the first pass."""
        if self.settled is not None and self.settled.base.runs + self.settled.head.runs:
            return self.settled.base, self.settled.head
        base = self.base
        return (
            (base.passed, base.evaluated) if base else (0, 0),
            (self.head.passed, self.head.evaluated),
        )


def judge_pair(pair: Pair, base: Runs | None, head: Runs, settled: Settled) -> list[Judgement]:
    """All criteria of a pair that head has; base's runs were scored with head's config."""
    if pair.head is None:
        return []
    runs = head.get(pair.key, ())
    earlier = None if base is None or pair.base is None else base.get(pair.key)
    return [
        Judgement(
            pair,
            name,
            None if earlier is None else observe(earlier, name),
            observe(runs, name),
            settled.get((pair.key, name)),
        )
        for name in gated_names(runs)
    ]


def gated_names(runs: Sequence[Scored]) -> list[str]:
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
