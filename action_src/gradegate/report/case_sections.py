"""Which kind of attention a case needs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from gradegate.model.evalset import CaseKey
from gradegate.model.notice import Notice
from gradegate.model.report import (
    CaseComparison,
    CaseCriterion,
    Change,
    Reason,
    ReasonKind,
    Report,
    Verdict,
)


def not_evaluated(criterion: CaseCriterion) -> bool:
    """Whether head should have a score and has none."""
    return criterion.head is None and criterion.verdict is not Verdict.GONE


class Section(StrEnum):
    """Kinds of attention, the most pressing first."""

    REGRESSED = "regressed"
    NEW_FAILURE = "new_failure"
    REMOVED = "removed"
    LOOSENED = "loosened"
    THRESHOLD = "threshold"
    INCONCLUSIVE = "inconclusive"
    FLAKY = "flaky"
    IMPROVED = "improved"
    UNMEASURED = "unmeasured"
    EDITED = "edited"
    QUARANTINED = "quarantined"
    REST = "rest"


ATTENTION = frozenset(
    {
        Section.REGRESSED,
        Section.NEW_FAILURE,
        Section.REMOVED,
        Section.LOOSENED,
        Section.THRESHOLD,
        Section.INCONCLUSIVE,
    }
)
"""Shown unfolded."""
FAILING = frozenset({Section.REGRESSED, Section.NEW_FAILURE, Section.THRESHOLD})
"""What has a cause, that several cases may share."""


@dataclass(frozen=True)
class CaseReasons:
    """The decision's reasons and notes by the case they speak of."""

    reasons: dict[CaseKey, tuple[Reason, ...]]
    notes: dict[CaseKey, tuple[Reason, ...]]
    of_cases: frozenset[int]
    """Which of them, by identity, speak of a case that is listed."""

    def blocks(self, case: CaseComparison) -> bool:
        """Whether the decision rests on this case."""
        return case.key in self.reasons

    def says_no(self, case: CaseComparison) -> bool:
        """Whether the decision says no because of this case: not that it could not be told."""
        kinds = {reason.kind for reason in self.reasons.get(case.key, ())}
        return bool(kinds - {ReasonKind.INCONCLUSIVE})

    def kinds(self, case: CaseComparison) -> set[ReasonKind]:
        """What was found of this case, blocking or not."""
        return {reason.kind for reason in self._all(case)}

    def said_of(self, case: CaseComparison, *kinds: ReasonKind) -> Iterator[Notice]:
        """What these kinds of finding say."""
        return (reason for reason in self._all(case) if reason.kind in kinds)

    def is_of_a_case(self, reason: Reason) -> bool:
        """Whether the finding is shown with a case, and so not on its own."""
        return id(reason) in self.of_cases

    def _all(self, case: CaseComparison) -> tuple[Reason, ...]:
        return (*self.reasons.get(case.key, ()), *self.notes.get(case.key, ()))


def reasons_by_case(report: Report) -> CaseReasons:
    """The report's findings by case."""
    decision = report.decision
    return CaseReasons(
        reasons=_by_case(report, decision.reasons),
        notes=_by_case(report, decision.notes),
        of_cases=frozenset(
            id(one) for one in (*decision.reasons, *decision.notes) if report.case_of(one)
        ),
    )


def _by_case(report: Report, reasons: Iterable[Reason]) -> dict[CaseKey, tuple[Reason, ...]]:
    found: dict[CaseKey, list[Reason]] = {}
    for reason in reasons:
        key = report.case_of(reason)
        if key is not None:
            found.setdefault(key, []).append(reason)
    return {key: tuple(own) for key, own in found.items()}


def section_of(case: CaseComparison, findings: CaseReasons) -> Section:
    """The first group that the case belongs to."""
    if case.quarantined and not findings.blocks(case):
        return Section.QUARANTINED
    kinds = findings.kinds(case)
    verdicts = {criterion.verdict for criterion in case.criteria.values()}
    short = any(criterion.falls_short for criterion in case.criteria.values())
    missing = any(not_evaluated(criterion) for criterion in case.criteria.values())
    belongs = {
        Section.REGRESSED: Verdict.REGRESSED in verdicts or ReasonKind.REGRESSION in kinds,
        Section.NEW_FAILURE: ReasonKind.NEW_FAILURE in kinds
        or (case.change is Change.ADDED and short),
        Section.REMOVED: case.change is Change.REMOVED or ReasonKind.REMOVED in kinds,
        Section.LOOSENED: ReasonKind.LOOSENED in kinds,
        Section.THRESHOLD: ReasonKind.THRESHOLD in kinds,
        Section.INCONCLUSIVE: Verdict.UNCERTAIN in verdicts
        or ReasonKind.INCONCLUSIVE in kinds
        or missing,
        Section.FLAKY: Verdict.FLAKY in verdicts,
        Section.IMPROVED: Verdict.IMPROVED in verdicts,
        Section.UNMEASURED: case.unmeasured is not None,
        Section.EDITED: case.change in {Change.EDITED, Change.ADDED},
    }
    return next((group for group, yes in belongs.items() if yes), Section.REST)
