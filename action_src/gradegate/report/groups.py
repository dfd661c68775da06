"""Which kind of attention a case needs."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from gradegate.model.report import CaseComparison, Change, Reason, ReasonKind, Report, Verdict
from gradegate.report.why import falls_short, not_evaluated

Place = tuple[str, str]


class Group(StrEnum):
    """Kinds of attention, the most pressing first."""

    REGRESSED = "regressed"
    NEW_FAILURE = "new_failure"
    REMOVED = "removed"
    LOOSENED = "loosened"
    THRESHOLD = "threshold"
    INCONCLUSIVE = "inconclusive"
    FLAKY = "flaky"
    IMPROVED = "improved"
    EDITED = "edited"
    QUARANTINED = "quarantined"
    REST = "rest"


ATTENTION = frozenset(
    {
        Group.REGRESSED,
        Group.NEW_FAILURE,
        Group.REMOVED,
        Group.LOOSENED,
        Group.THRESHOLD,
        Group.INCONCLUSIVE,
    }
)
"""Shown unfolded."""


@dataclass(frozen=True)
class Findings:
    """The decision's reasons and notes by the case they speak of."""

    reasons: dict[Place, tuple[Reason, ...]]
    notes: dict[Place, tuple[Reason, ...]]
    listed: frozenset[Place]

    def blocks(self, case: CaseComparison) -> bool:
        """Whether the decision rests on this case."""
        return _place(case) in self.reasons

    def kinds(self, case: CaseComparison) -> set[ReasonKind]:
        """What was found of this case, blocking or not."""
        return {reason.kind for reason in self._all(case)}

    def said_of(self, case: CaseComparison, *kinds: ReasonKind) -> Iterator[str]:
        """The texts of these kinds of finding."""
        return (reason.text for reason in self._all(case) if reason.kind in kinds)

    def is_of_a_case(self, reason: Reason) -> bool:
        """Whether the finding is shown with a case, and so not on its own."""
        return (reason.eval_set or "", reason.eval_id or "") in self.listed

    def _all(self, case: CaseComparison) -> tuple[Reason, ...]:
        place = _place(case)
        return (*self.reasons.get(place, ()), *self.notes.get(place, ()))


def findings_of(report: Report) -> Findings:
    """The report's findings by case."""
    return Findings(
        reasons=_by_place(report.decision.reasons),
        notes=_by_place(report.decision.notes),
        listed=frozenset(_place(case) for case in report.cases),
    )


def group_of(case: CaseComparison, findings: Findings) -> Group:
    """The first group that the case belongs to."""
    if case.quarantined:
        return Group.QUARANTINED
    kinds = findings.kinds(case)
    verdicts = {criterion.verdict for criterion in case.criteria.values()}
    short = any(falls_short(criterion) for criterion in case.criteria.values())
    missing = any(not_evaluated(criterion) for criterion in case.criteria.values())
    belongs = {
        Group.REGRESSED: Verdict.REGRESSED in verdicts,
        Group.NEW_FAILURE: ReasonKind.NEW_FAILURE in kinds
        or (case.change is Change.ADDED and short),
        Group.REMOVED: case.change is Change.REMOVED,
        Group.LOOSENED: ReasonKind.LOOSENED in kinds,
        Group.THRESHOLD: ReasonKind.THRESHOLD in kinds,
        Group.INCONCLUSIVE: Verdict.UNCERTAIN in verdicts
        or ReasonKind.INCONCLUSIVE in kinds
        or missing,
        Group.FLAKY: Verdict.FLAKY in verdicts,
        Group.IMPROVED: Verdict.IMPROVED in verdicts,
        Group.EDITED: case.change in {Change.EDITED, Change.ADDED},
    }
    return next((group for group, yes in belongs.items() if yes), Group.REST)


def _by_place(reasons: tuple[Reason, ...]) -> dict[Place, tuple[Reason, ...]]:
    found: dict[Place, list[Reason]] = {}
    for reason in reasons:
        if reason.eval_id is not None:
            found.setdefault((reason.eval_set or "", reason.eval_id), []).append(reason)
    return {place: tuple(own) for place, own in found.items()}


def _place(case: CaseComparison) -> Place:
    return (case.eval_set, case.eval_id)
