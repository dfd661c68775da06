"""Cases as they are listed: by the kind of attention they need, and within it by their cause."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from gradegate.locales import Locale, Sentence
from gradegate.model.report import CaseComparison, Change, ReasonKind, Verdict
from gradegate.report import why
from gradegate.report.case_sections import (
    ATTENTION,
    FAILING,
    CaseReasons,
    Section,
    section_of,
)
from gradegate.report.escape import clip, one_line
from gradegate.report.junit import Outcome, outcome_of
from gradegate.report.links import Links
from gradegate.report.scores import ScoreView, case_scores, name_of
from gradegate.report.turns import TurnView, turn_views

SECTION_ICONS = {
    Section.REGRESSED: "❌",
    Section.NEW_FAILURE: "❌",
    Section.REMOVED: "🗑️",
    Section.LOOSENED: "🔓",
    Section.THRESHOLD: "❌",
    Section.INCONCLUSIVE: "⚠️",
}
"""Where a person should act; what comes and goes, improved or was edited has none."""
LONGEST_REMARK = 600
LONGEST_QUESTION = 200
FEWEST_WITH_A_CAUSE = 3
"""Fewer cases that share a cause stand on their own."""
EXAMPLES = 3
"""Cases of a cause that are shown in full where there is no room for all."""
LINES_OF_A_LOG = 12


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
    url: str
    """Of its line at head's commit; empty where that is not known."""
    page: str
    """Of the case in the full report."""
    sure: str
    """In how many runs it passed, on both sides."""
    cause: str
    """What cases with the same cause share; empty where there is none."""
    log: str
    """The end of what an agent that failed had to say."""
    listed: bool
    """One of many with the same cause: its name will do."""
    outcome: Outcome
    """The case as a test."""
    _source: CaseComparison
    _words: Locale
    _max_chars: int | None

    @property
    def place(self) -> str:
        """File and line, as editors take it."""
        return f"{self.path}:{self.line}"

    @property
    def told(self) -> str:
        """Why it is listed, a line each, as plain text."""
        return "\n".join(filter(None, (*map(str, self.why), self.remark)))

    @property
    def source(self) -> CaseComparison:
        """The case as the report has it."""
        return self._source

    @cached_property
    def turns(self) -> tuple[TurnView, ...]:
        """The turns worth showing; made when asked for, as diffs take time."""
        return turn_views(self._source.evidence, self._words, self._max_chars)

    @property
    def question(self) -> str:
        """What was asked in the first turn worth showing, or else in the first."""
        asked = next((turn.asked for turn in self.turns), "") or self._source.asked
        return clip(one_line(asked), LONGEST_QUESTION)


@dataclass(frozen=True)
class CauseView:
    """What several cases share."""

    title: Sentence
    count: str
    """How many cases, in words."""


@dataclass(frozen=True)
class CauseGroup:
    """Cases in a row: with the same cause, or each for itself where `cause` is None."""

    cause: CauseView | None
    cases: tuple[CaseView, ...]

    @property
    def shown(self) -> tuple[CaseView, ...]:
        """Those that are shown in full."""
        return tuple(case for case in self.cases if not case.listed)

    @property
    def others(self) -> tuple[CaseView, ...]:
        """Those that are named."""
        return tuple(case for case in self.cases if case.listed)


@dataclass(frozen=True)
class SectionView:
    """Cases that need the same kind of attention."""

    group: Section
    icon: str
    title: str
    open: bool
    cases: tuple[CaseView, ...]
    causes: Mapping[str, CauseView]

    @property
    def groups(self) -> tuple[CauseGroup, ...]:
        """The cases by cause, in their order."""
        found: dict[str, list[CaseView]] = {}
        for case in self.cases:
            found.setdefault(case.cause if case.cause in self.causes else "", []).append(case)
        return tuple(CauseGroup(self.causes.get(cause), tuple(own)) for cause, own in found.items())


@dataclass(frozen=True)
class Showing:
    """How cases are shown."""

    findings: CaseReasons
    words: Locale
    links: Links
    max_chars: int | None
    """Of one text; None: all of it, and all cases of a cause in full."""


def section_views(
    cases: Sequence[CaseComparison], showing: Showing, *, include_unchanged: bool
) -> tuple[SectionView, ...]:
    """All sections that have cases, the most important first."""
    by_section: dict[Section, list[CaseComparison]] = {section: [] for section in Section}
    for case in cases:
        by_section[section_of(case, showing.findings)].append(case)
    return tuple(
        _section(section, own, showing)
        for section, own in by_section.items()
        if own and (include_unchanged or section is not Section.REST)
    )


def _section(group: Section, cases: Sequence[CaseComparison], showing: Showing) -> SectionView:
    words = showing.words
    sizes = Counter(case.cause.text for case in cases if case.cause and group in FAILING)
    shared = {text: n for text, n in sizes.items() if n >= FEWEST_WITH_A_CAUSE}
    ordered = sorted(cases, key=lambda case: _importance(case, shared, showing.findings))
    causes = {
        case.cause.text: CauseView(
            why.cause_of(case.cause, words), words.some("cases", shared[case.cause.text])
        )
        for case in ordered
        if case.cause and case.cause.text in shared
    }
    title = words.some(f"section.{group}", len(cases))
    if causes and len(causes) == len({case.cause and case.cause.text for case in cases}):
        title = words.some("section.causes", len(causes), section=title)
    return SectionView(
        group=group,
        icon=_icon(group, cases, showing.findings),
        title=title,
        open=group in ATTENTION,
        cases=tuple(_views(group, ordered, causes, showing)),
        causes=causes,
    )


def _importance(
    case: CaseComparison, shared: Mapping[str, int], findings: CaseReasons
) -> tuple[object, ...]:
    criteria = case.criteria.values()
    cause = case.cause.text if case.cause else ""
    confirmed = any(c.verdict is Verdict.REGRESSED and c.confirmed for c in criteria)
    worst = min((c.delta for c in criteria if c.delta is not None), default=0.0)
    known = shared.get(cause, 0)
    own = (not findings.blocks(case), not confirmed, worst, case.key)
    return (-known, cause if known else "", *own)


def _icon(group: Section, cases: Iterable[CaseComparison], findings: CaseReasons) -> str:
    """The section's; a failure that keeps nobody out, as one that base has too, has none."""
    if group is Section.THRESHOLD and not any(map(findings.blocks, cases)):
        return ""
    return SECTION_ICONS.get(group, "")


def _views(
    group: Section,
    cases: Sequence[CaseComparison],
    causes: Mapping[str, CauseView],
    showing: Showing,
) -> Iterable[CaseView]:
    seen: Counter[str] = Counter()
    for case in cases:
        view = _case(group, case, showing)
        seen[view.cause] += 1
        many = view.cause in causes and seen[view.cause] > EXAMPLES
        if many and showing.max_chars is not None:
            view = replace(view, folded=True, listed=True)
        yield view


def _case(group: Section, case: CaseComparison, showing: Showing) -> CaseView:
    words, findings = showing.words, showing.findings
    says_no = findings.says_no(case)
    name, path = name_of(case.eval_id), name_of(case.eval_set)
    error = (case.evidence.head_error or "").strip().splitlines()
    return CaseView(
        group=group,
        icon=_icon(group, [case], findings),
        label=words(f"label.{group}"),
        name=name,
        path=path,
        line=case.line,
        suite=name_of(case.suite),
        blocking=findings.blocks(case),
        remark=clip(one_line(_remark(group, case, showing)), LONGEST_REMARK),
        why=() if group is Section.REST else why.sentences(case, words),
        scores=case_scores(case, words, blocks=says_no),
        folded=not case.evidence.turns,
        url=showing.links.file(case.eval_set, case.line) if group is not Section.REMOVED else "",
        page=showing.links.case(case.key),
        sure=why.how_sure(case, words) if group in FAILING else "",
        cause=case.cause.text if case.cause else "",
        log="\n".join(error[-LINES_OF_A_LOG:]) if len(error) > 1 else "",
        listed=False,
        outcome=outcome_of(group, says_no=says_no),
        _source=case,
        _words=words,
        _max_chars=showing.max_chars,
    )


def _remark(group: Section, case: CaseComparison, showing: Showing) -> str:
    words = showing.words
    said = showing.findings.said_of(case, ReasonKind.REMOVED, ReasonKind.LOOSENED)
    remarks = [one.in_words(words) for one in said]
    if case.change is Change.EDITED or (case.change is Change.ADDED and group is Section.EDITED):
        remarks.append(words(f"remark.{case.change}"))
    if case.moved_from:
        remarks.append(words("remark.moved", path=case.moved_from))
    return " · ".join(remarks)
