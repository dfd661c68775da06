"""A report as people read it: what is shown, in which order, in which words.

Every decision about showing is taken here and in the modules that this one calls; templates only
lay out what they are handed.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from gradegate.locales import Locale
from gradegate.model.report import CaseComparison, Reason, ReasonKind, Report, State
from gradegate.report import again, headline
from gradegate.report.case_sections import (
    CaseReasons,
    Section,
    reasons_by_case,
    section_of,
)
from gradegate.report.escape import clip, one_line
from gradegate.report.junit import FindingCase, Testsuites, suites_of
from gradegate.report.links import NOWHERE, Links
from gradegate.report.overview import TouchedView, touched_of, untouched_line
from gradegate.report.scores import ScoreView, criterion_rows, unsettled, would_find
from gradegate.report.sections import SectionView, Showing, section_views
from gradegate.report.tables import EfficiencyView, efficiency_rows
from gradegate.report.tally import tally_of

LONGEST_REMARK = 600


@dataclass(frozen=True)
class ReportView:
    """Everything a template is handed."""

    state: State
    icon: str
    title: str
    lead: str
    findings: tuple[str, ...]
    """What the decision rests on beside single cases."""
    notes: tuple[str, ...]
    """What was found and does not block."""
    criteria: tuple[ScoreView, ...]
    criteria_attention: bool
    touched: tuple[TouchedView, ...]
    """What of the agent the pull request changes, and how many cases came by it."""
    untouched: str
    """One line for what of it no case came by."""
    unsettled: str
    """One line for what so few runs cannot tell."""
    would_find: str
    """One line for what this run could have missed."""
    efficiency: tuple[EfficiencyView, ...]
    """What a turn costs; apart from the scores, because it passes and fails nowhere."""
    efficiency_attention: bool
    sections: tuple[SectionView, ...]
    quiet: str
    """One line for the cases that are not listed."""
    warnings: tuple[str, ...]
    isolation: tuple[str, ...]
    """How the agents were kept apart, and how not."""
    sides: str
    usage: str
    links: Links
    command: str
    """What runs the cases that got worse again."""
    prompt: str
    """The same, to be handed to a coding agent."""
    failing: tuple[FindingCase, ...]
    """Blocking findings of no case, as tests."""
    left_out: str = ""

    @property
    def junit(self) -> Testsuites:
        """All listed cases as tests."""
        listed = (case for section in self.sections for case in section.cases)
        return suites_of(listed, self.failing)

    @property
    def criteria_shown(self) -> tuple[ScoreView, ...]:
        """The criteria that moved, or that scores are missing of."""
        return tuple(row for row in self.criteria if not row.quiet)

    @property
    def criteria_folded(self) -> tuple[ScoreView, ...]:
        """The others."""
        return tuple(row for row in self.criteria if row.quiet)


def build(
    report: Report,
    words: Locale,
    *,
    include_unchanged: bool = False,
    max_chars: int | None = None,
    links: Links = NOWHERE,
) -> ReportView:
    """The report in words, long texts cut to `max_chars`."""
    findings = reasons_by_case(report)
    tally = tally_of(report, findings)
    criteria = criterion_rows(report, words)
    efficiency = efficiency_rows(report)
    showing = Showing(findings, words, links, max_chars)
    worse = got_worse(report, findings)
    return ReportView(
        state=report.decision.state,
        icon=headline.ICONS[report.decision.state],
        title=headline.title(report, tally, words),
        lead=headline.lead(report, tally, words),
        findings=_told(tally.reasons, words),
        notes=_told(tally.notes, words),
        criteria=criteria,
        criteria_attention=any(row.attention for row in criteria),
        touched=touched_of(report, words),
        untouched=untouched_line(report, words),
        unsettled=unsettled(report, words),
        would_find=_remark(would_find(report, words)),
        efficiency=efficiency,
        efficiency_attention=any(row.attention for row in efficiency),
        sections=section_views(report.cases, showing, include_unchanged=include_unchanged),
        quiet=headline.quiet(report, tally.sections.get(Section.REST, 0), words),
        warnings=tuple(_remark(warning.in_words(words)) for warning in report.told),
        isolation=tuple(_remark(one.in_words(words)) for one in report.isolation),
        sides=headline.sides(report, words),
        usage=headline.usage(report, words),
        links=showing.links,
        command=again.local_command(report, worse),
        prompt=again.prompt(report, worse, words),
        failing=tuple(_as_test(reason, words) for reason in tally.reasons),
    )


def got_worse(report: Report, findings: CaseReasons) -> list[CaseComparison]:
    """The cases to run again: those that got worse, and others that block as they fail."""
    worse = {Section.REGRESSED, Section.NEW_FAILURE}
    return [
        case
        for case in report.cases
        if (section := section_of(case, findings)) in worse
        or (section is Section.THRESHOLD and findings.blocks(case))
    ]


def _as_test(reason: Reason, words: Locale) -> FindingCase:
    undecided = reason.kind is ReasonKind.INCONCLUSIVE
    return FindingCase(
        name=one_line(reason.criterion or reason.kind),
        label=words(f"kind.{reason.kind}"),
        told=_remark(reason.in_words(words)),
        outcome="skipped" if undecided else "failure",
        group=reason.kind,
    )


def _told(reasons: Iterable[Reason], words: Locale) -> tuple[str, ...]:
    return tuple(_remark(reason.in_words(words)) for reason in reasons)


def _remark(text: str) -> str:
    return clip(one_line(text), LONGEST_REMARK)
