"""Criteria as rows of a table: of one case, and over all of them.

A sign stands only where the gate says no; all else is told in words and numbers.
"""

from collections.abc import Collection
from dataclasses import dataclass

from gradegate import locales
from gradegate.locales import Locale
from gradegate.model.report import (
    CaseComparison,
    CaseCriterion,
    CriterionComparison,
    ReasonKind,
    Report,
    Verdict,
)
from gradegate.report.escape import clip, one_line

BLOCKS = "❌"
LONGEST_NAME = 200
_UNSURE = {Verdict.FLAKY, Verdict.UNCERTAIN}


@dataclass(frozen=True)
class ScoreView:
    """One criterion, of one case or over all of them."""

    icon: str
    """Only where the gate says no because of it."""
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
    arrow: str = ""
    """▲ or ▼, where the score moved."""
    coverage: str = ""
    """Over all cases: scored of planned, also where nothing is missing."""
    quiet: bool = False
    """Nothing moved, and nothing is missing."""


def case_scores(case: CaseComparison, words: Locale, *, blocks: bool) -> tuple[ScoreView, ...]:
    """The case's criteria; `blocks`: the gate says no because of the case."""
    return tuple(
        _of_case(name, one, words, blocks=blocks and one.verdict not in _UNSURE)
        for name, one in case.criteria.items()
    )


def criterion_rows(report: Report, words: Locale) -> tuple[ScoreView, ...]:
    """The criteria over all cases."""
    blocking = {
        reason.criterion
        for reason in report.decision.reasons
        if reason.kind is ReasonKind.REGRESSION and reason.eval_id is None
    }
    return tuple(
        _over_all(one, words, blocking) for one in report.criteria if not one.informational
    )


def unsettled(report: Report, words: Locale) -> str:
    """One line for what so few runs cannot tell; empty where they tell enough."""
    passes = [
        one.passes_to_settle
        for one in report.criteria
        if one.verdict is Verdict.UNCERTAIN and one.passes_to_settle and not one.informational
    ]
    if not passes:
        return ""
    runs = words.some("unsettled.runs", max(passes))
    return words.some("unsettled", len(passes), runs=runs)


def would_find(report: Report, words: Locale) -> str:
    """One line for what this run could have missed, by what it could not; empty: not known."""
    known = report.would_find
    if known is None:
        return ""
    found, sentences = [], []
    drops = sorted(drop for drop in known.drops.values() if drop is not None)
    if drops:
        least, most = locales.score(drops[0]), locales.score(drops[-1])
        key = "would_find.drop" if least == most else "would_find.drops"
        found.append(words(key, least=least, most=most))
    if known.case_passes is not None:
        rate = locales.percent(round(100 * known.case_passes), 100)
        found.append(words("would_find.case", rate=rate))
    if found:
        sentences.append(words("would_find", found=words.list(found)))
    never = [name_of(name) for name, drop in known.drops.items() if drop is None]
    if never:
        sentences.append(words("would_find.no_drop", names=words.list(never)))
    return words("list.sentences").join(sentences)


def name_of(text: str) -> str:
    """A name on one line."""
    return clip(one_line(text), LONGEST_NAME)


def _of_case(name: str, one: CaseCriterion, words: Locale, *, blocks: bool) -> ScoreView:
    runs = [
        locales.ratio(passed, made) if made else locales.NOTHING
        for passed, made in zip(one.passed, one.runs, strict=True)
    ]
    attention = blocks and (one.falls_short or one.verdict is Verdict.REGRESSED)
    return ScoreView(
        icon=BLOCKS if attention else "",
        name=name_of(name),
        base=locales.score(one.base, beside=one.head),
        head=locales.score(one.head, beside=one.base),
        delta=locales.delta(one.delta),
        needed=locales.score(one.threshold, beside=one.head),
        p_value=locales.p_value(one.p_value),
        runs=f"{runs[0]} → {runs[1]}" if sum(one.runs) else locales.NOTHING,
        verdict=_verdict(one, words),
        attention=attention,
        moved=one.verdict is not Verdict.UNCHANGED,
        arrow=_arrow(one.delta),
    )


def _verdict(one: CaseCriterion, words: Locale) -> str:
    if one.verdict is Verdict.REGRESSED and not one.confirmed:
        return words("verdict.regressed_unconfirmed")
    if one.falls_short and one.verdict in {Verdict.NEW, Verdict.UNCHANGED}:
        return words(f"verdict.{one.verdict}_short")
    return words(f"verdict.{one.verdict}")


def _over_all(
    one: CriterionComparison, words: Locale, blocking: Collection[str | None]
) -> ScoreView:
    complete = one.scored == one.planned
    base, head = (locales.ratio(*pair) for pair in zip(one.scored, one.planned, strict=True))
    attention = one.name in blocking
    same = one.scored[0] == one.scored[1] and one.planned[0] == one.planned[1]
    return ScoreView(
        icon=BLOCKS if attention else "",
        name=name_of(one.name),
        base=locales.score(one.base, beside=one.head),
        head=locales.score(one.head, beside=one.base),
        delta=locales.delta(one.delta),
        interval=locales.interval(one.interval),
        p_value=locales.p_value(one.p_value),
        scored="" if complete else words("scored", base=base, head=head),
        verdict=words(f"verdict.{one.verdict}"),
        settles=_settles(one, words),
        attention=attention,
        arrow=_arrow(one.delta),
        coverage=head if same or not one.planned[0] else f"{base} → {head}",
        quiet=complete and _is_quiet(one),
    )


def _is_quiet(one: CriterionComparison) -> bool:
    moved = one.verdict in {Verdict.REGRESSED, Verdict.IMPROVED, Verdict.GONE, Verdict.NEW}
    return not moved and not _arrow(one.delta)


def _arrow(delta: float | None) -> str:
    if delta is None or locales.delta(delta) == locales.delta(0.0):
        return ""
    return "▲" if delta > 0 else "▼"


def _settles(one: CriterionComparison, words: Locale) -> str:
    if one.verdict is not Verdict.UNCERTAIN or one.passes_to_settle is None:
        return ""
    return words.some("settles", one.passes_to_settle)
