"""A report as people read it: what is shown, in which order, in which words.

Every decision about showing is taken here; templates only lay out what they are handed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from gradegate import locales
from gradegate.locales import Locale, Sentence
from gradegate.model.report import (
    CaseComparison,
    CaseCriterion,
    Change,
    CriterionComparison,
    Reason,
    ReasonKind,
    Report,
    State,
    Verdict,
)
from gradegate.report import case_sections
from gradegate.report.case_sections import (
    ATTENTION,
    CaseReasons,
    Section,
    reasons_by_case,
    section_of,
)
from gradegate.report.escape import clip, one_line
from gradegate.report.headline import ICONS, lead, quiet, sides, title, usage
from gradegate.report.junit import Outcome, Testsuites, outcome_of, suites_of
from gradegate.report.tables import EfficiencyView, efficiency_rows
from gradegate.report.turns import TurnView, turn_views

NOT_BLOCKING_ICON = "⚠️"
GROUP_ICONS = {
    Section.REGRESSED: "❌",
    Section.NEW_FAILURE: "❌",
    Section.REMOVED: "🗑️",
    Section.LOOSENED: "🔓",
    Section.THRESHOLD: "❌",
    Section.INCONCLUSIVE: "⚠️",
    Section.FLAKY: "🎲",
    Section.IMPROVED: "📈",
    Section.UNMEASURED: "🕳️",
    Section.EDITED: "✏️",
    Section.QUARANTINED: "🧪",
    Section.REST: "✅",
}
VERDICT_ICONS = {
    Verdict.REGRESSED: "❌",
    Verdict.IMPROVED: "📈",
    Verdict.UNCHANGED: "✅",
    Verdict.FLAKY: "🎲",
    Verdict.UNCERTAIN: "⚠️",
    Verdict.NEW: "🆕",
    Verdict.GONE: "🗑️",
}
LONGEST_NAME = 200
LONGEST_REMARK = 600


@dataclass(frozen=True)
class ScoreView:
    """One criterion, of one case or over all of them."""

    icon: str
    name: str
    base: str
    head: str
    delta: str
    verdict: str
    needed: str = locales.NOTHING
    interval: str = locales.NOTHING
    p_value: str = locales.NOTHING
    runs: str = locales.NOTHING
    """Of a case: passed runs of all runs, base and head."""
    scored: str = ""
    """Over all cases: scored of planned, only where they differ."""
    settles: str = ""
    """What it would take to be sure, where it is uncertain."""
    attention: bool = False
    moved: bool = False
    """Whether it is anything else than unchanged."""


@dataclass(frozen=True)
class CaseView:
    """One case."""

    group: Section
    icon: str
    label: str
    name: str
    path: str
    line: int
    suite: str
    blocking: bool
    remark: str
    why: tuple[Sentence, ...]
    scores: tuple[ScoreView, ...]
    folded: bool
    """Shown without its evidence."""
    _source: CaseComparison
    _words: Locale
    _max_chars: int | None

    @property
    def outcome(self) -> Outcome:
        """The case as a test."""
        short = any(one.falls_short for one in self._source.criteria.values())
        return outcome_of(self.group, blocking=self.blocking, short=short)

    @property
    def place(self) -> str:
        """File and line, as editors take it."""
        return f"{self.path}:{self.line}"

    @property
    def source(self) -> CaseComparison:
        """The case as the report has it."""
        return self._source

    @cached_property
    def turns(self) -> tuple[TurnView, ...]:
        """The turns worth showing; made when asked for, as diffs take time."""
        return turn_views(self._source.evidence, self._words, self._max_chars)


@dataclass(frozen=True)
class SectionView:
    """Cases that need the same kind of attention."""

    group: Section
    icon: str
    title: str
    open: bool
    cases: tuple[CaseView, ...]


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
    left_out: str = ""

    @property
    def junit(self) -> Testsuites:
        """All listed cases as tests."""
        return suites_of(case for section in self.sections for case in section.cases)


def build(
    report: Report, words: Locale, *, include_unchanged: bool = False, max_chars: int | None = None
) -> ReportView:
    """The report in words, long texts cut to `max_chars`."""
    findings = reasons_by_case(report)
    pairs = [(section_of(case, findings), case) for case in report.cases]
    pairs.sort(key=lambda pair: _importance(pair[0], pair[1], findings))
    sections = [
        _section(group, [case for own, case in pairs if own is group], findings, words, max_chars)
        for group in Section
        if include_unchanged or group is not Section.REST
    ]
    counts = Counter(group for group, _ in pairs)
    gated = [criterion for criterion in report.criteria if not criterion.informational]
    efficiency = efficiency_rows(report)
    return ReportView(
        state=report.decision.state,
        icon=ICONS[report.decision.state],
        title=title(report, counts, words),
        lead=lead(report, counts, words),
        findings=_told(report.decision.reasons, findings, words),
        notes=_told(report.decision.notes, findings, words),
        criteria=tuple(_criterion(criterion, words) for criterion in gated),
        criteria_attention=any(c.verdict is Verdict.REGRESSED for c in gated),
        efficiency=efficiency,
        efficiency_attention=any(row.attention for row in efficiency),
        sections=tuple(section for section in sections if section.cases),
        quiet=quiet(report, counts[Section.REST], words),
        warnings=tuple(_remark(warning.in_words(words)) for warning in report.told),
        isolation=tuple(_remark(one.in_words(words)) for one in report.isolation),
        sides=sides(report, words),
        usage=usage(report, words),
    )


def _importance(group: Section, case: CaseComparison, findings: CaseReasons) -> tuple[object, ...]:
    criteria = case.criteria.values()
    confirmed = any(c.verdict is Verdict.REGRESSED and c.confirmed for c in criteria)
    worst = min((c.delta for c in criteria if c.delta is not None), default=0.0)
    return (list(Section).index(group), not findings.blocks(case), not confirmed, worst, case.key)


def _section(
    group: Section,
    cases: Sequence[CaseComparison],
    findings: CaseReasons,
    words: Locale,
    max_chars: int | None,
) -> SectionView:
    return SectionView(
        group=group,
        icon=_icon(group, cases, findings),
        title=words.some(f"section.{group}", len(cases)),
        open=group in ATTENTION,
        cases=tuple(_case(group, case, findings, words, max_chars) for case in cases),
    )


def _icon(group: Section, cases: Sequence[CaseComparison], findings: CaseReasons) -> str:
    """The group's; a failure that keeps nobody out, as one that base has too, is no red cross."""
    if group is Section.THRESHOLD and not any(map(findings.blocks, cases)):
        return NOT_BLOCKING_ICON
    return GROUP_ICONS[group]


def _case(
    group: Section,
    case: CaseComparison,
    findings: CaseReasons,
    words: Locale,
    max_chars: int | None,
) -> CaseView:
    return CaseView(
        group=group,
        icon=_icon(group, [case], findings),
        label=words(f"label.{group}"),
        name=_name(case.eval_id),
        path=_name(case.eval_set),
        line=case.line,
        suite=_name(case.suite),
        blocking=findings.blocks(case),
        remark=_remark(_case_remark(group, case, findings, words)),
        why=() if group is Section.REST else case_sections.sentences(case, words),
        scores=tuple(_score(name, one, words) for name, one in case.criteria.items()),
        folded=not case.evidence.turns,
        _source=case,
        _words=words,
        _max_chars=max_chars,
    )


def _case_remark(group: Section, case: CaseComparison, findings: CaseReasons, words: Locale) -> str:
    said = findings.said_of(case, ReasonKind.REMOVED, ReasonKind.LOOSENED)
    remarks = [one.in_words(words) for one in said]
    if case.change is Change.EDITED or (case.change is Change.ADDED and group is Section.EDITED):
        remarks.append(words(f"remark.{case.change}"))
    if case.moved_from:
        remarks.append(words("remark.moved", path=case.moved_from))
    return " · ".join(remarks)


def _score(name: str, one: CaseCriterion, words: Locale) -> ScoreView:
    runs = [
        locales.ratio(passed, made) if made else locales.NOTHING
        for passed, made in zip(one.passed, one.runs, strict=True)
    ]
    return ScoreView(
        icon="❌" if one.falls_short else VERDICT_ICONS[one.verdict],
        name=_name(name),
        base=locales.score(one.base, beside=one.head),
        head=locales.score(one.head, beside=one.base),
        delta=locales.delta(one.delta),
        needed=locales.score(one.threshold, beside=one.head),
        p_value=locales.p_value(one.p_value),
        runs=f"{runs[0]} → {runs[1]}" if sum(one.runs) else locales.NOTHING,
        verdict=_verdict(one, words),
        attention=one.falls_short or one.verdict is Verdict.REGRESSED,
        moved=one.verdict is not Verdict.UNCHANGED,
    )


def _verdict(one: CaseCriterion, words: Locale) -> str:
    if one.verdict is Verdict.REGRESSED and not one.confirmed:
        return words("verdict.regressed_unconfirmed")
    return words(f"verdict.{one.verdict}")


def _criterion(one: CriterionComparison, words: Locale) -> ScoreView:
    complete = one.scored == one.planned
    scored = [locales.ratio(*pair) for pair in zip(one.scored, one.planned, strict=True)]
    return ScoreView(
        icon=VERDICT_ICONS[one.verdict],
        name=_name(one.name),
        base=locales.score(one.base, beside=one.head),
        head=locales.score(one.head, beside=one.base),
        delta=locales.delta(one.delta),
        interval=locales.interval(one.interval),
        p_value=locales.p_value(one.p_value),
        scored="" if complete else words("scored", base=scored[0], head=scored[1]),
        verdict=words(f"verdict.{one.verdict}"),
        settles=_settles(one, words),
        attention=one.verdict is Verdict.REGRESSED,
    )


def _settles(one: CriterionComparison, words: Locale) -> str:
    if one.verdict is not Verdict.UNCERTAIN or one.passes_to_settle is None:
        return ""
    return words.some("settles", one.passes_to_settle)


def _told(reasons: Iterable[Reason], findings: CaseReasons, words: Locale) -> tuple[str, ...]:
    return tuple(
        _remark(reason.in_words(words)) for reason in reasons if not findings.is_of_a_case(reason)
    )


def _name(text: str) -> str:
    return clip(one_line(text), LONGEST_NAME)


def _remark(text: str) -> str:
    return clip(one_line(text), LONGEST_REMARK)
