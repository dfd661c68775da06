"""How many cases and findings came to what: every view counts by this, and by nothing else."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gradegate.model.report import CaseComparison, Change, Reason, ReasonKind, Report
from gradegate.report.case_sections import CaseReasons, Section, reasons_by_case, section_of

_PARTS = {
    Section.REGRESSED: "regression",
    Section.NEW_FAILURE: "new_failure",
    Section.REMOVED: "removed",
    Section.LOOSENED: "loosened",
    Section.THRESHOLD: "threshold",
    Section.INCONCLUSIVE: "inconclusive",
}
"""What a section's cases are called in the headline, in this order."""
_NEVER_WAIVED = {ReasonKind.INCONCLUSIVE, ReasonKind.THRESHOLD}
CRITERION = "criterion"
_ORDER = ("regression", CRITERION, *(part for part in _PARTS.values() if part != "regression"))


@dataclass(frozen=True)
class Tally:
    """Cases by section, each case once, and findings that are of no case."""

    total: int
    sections: Mapping[Section, int]
    blocking: Mapping[Section, int]
    """Of them, how many keep the pull request out."""
    reasons: tuple[Reason, ...]
    """Blocking findings of no case, such as a criterion that fell."""
    notes: tuple[Reason, ...]
    """The same, not blocking."""
    unmeasured: int
    on_head: int

    @property
    def regressions(self) -> int:
        """Cases that got worse."""
        return self.sections.get(Section.REGRESSED, 0)

    @property
    def improvements(self) -> int:
        """Cases that got better."""
        return self.sections.get(Section.IMPROVED, 0)

    def blocking_parts(self) -> dict[str, int]:
        """What the gate says no to: all cases of a kind of which one blocks, and findings."""
        cases = {section: self.sections[section] for section, n in self.blocking.items() if n}
        return _parts(cases, self.reasons)

    def allowed_parts(self) -> dict[str, int]:
        """What base or the settings object to, and an acceptance or the settings let pass."""
        kinds = {Section.REGRESSED, Section.NEW_FAILURE, Section.REMOVED, Section.LOOSENED}
        cases = {section: n for section, n in self.sections.items() if section in kinds}
        waived = (one for one in self.notes if one.kind not in _NEVER_WAIVED)
        return _parts(cases, waived)


def tally_of(report: Report, findings: CaseReasons | None = None) -> Tally:
    """Count the report's cases and findings."""
    known = findings or reasons_by_case(report)
    placed = [(section_of(case, known), case) for case in report.cases]
    decision = report.decision
    return Tally(
        total=len(report.cases),
        sections=Counter(section for section, _ in placed),
        blocking=Counter(section for section, case in placed if known.blocks(case)),
        reasons=tuple(one for one in decision.reasons if not known.is_of_a_case(one)),
        notes=tuple(one for one in decision.notes if not known.is_of_a_case(one)),
        unmeasured=sum(case.unmeasured is not None for case in report.cases),
        on_head=sum(_is_on_head(case) for case in report.cases),
    )


def _is_on_head(case: CaseComparison) -> bool:
    return case.change is not Change.REMOVED


def _parts(cases: Mapping[Section, int], findings: Iterable[Reason]) -> dict[str, int]:
    found = Counter({_PARTS[section]: n for section, n in cases.items() if section in _PARTS})
    for one in findings:
        of_a_criterion = one.kind is ReasonKind.REGRESSION and one.eval_id is None
        found[CRITERION if of_a_criterion else one.kind.value] += 1
    order = {part: place for place, part in enumerate(_ORDER)}
    return dict(sorted(found.items(), key=lambda pair: order.get(pair[0], len(order))))
