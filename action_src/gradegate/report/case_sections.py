"""Which kind of attention a case needs, and why, in a plain sentence or two."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest

from gradegate import locales
from gradegate.locales import Locale, Piece, Sentence
from gradegate.model.evalset import CaseKey
from gradegate.model.notice import Notice
from gradegate.model.report import (
    CaseComparison,
    CaseCriterion,
    Change,
    JudgedItem,
    Reason,
    ReasonKind,
    Report,
    SideAnswer,
    Verdict,
)
from gradegate.report.calls import call
from gradegate.report.escape import clip, one_line

LONGEST_QUOTE = 160

_RUBRIC = {"yes": "rubric_passed", "no": "rubric_failed"}
_IN_TROUBLE = {Verdict.REGRESSED, Verdict.FLAKY, Verdict.UNCERTAIN}


def not_evaluated(criterion: CaseCriterion) -> bool:
    """Whether head should have a score and has none."""
    return criterion.head is None and criterion.verdict is not Verdict.GONE


def sentences(case: CaseComparison, words: Locale) -> tuple[Sentence, ...]:
    """What went wrong with the case, the agent's own failure first."""
    return tuple(_sentences(case, words))


def _sentences(case: CaseComparison, words: Locale) -> Iterator[Sentence]:
    if case.change is Change.REMOVED:
        return
    error = case.evidence.head_error
    if error:
        yield words.sentence("why.agent_failed", error=_quote(error))
        return
    if case.unmeasured is not None:
        why = Piece(_quote(case.unmeasured.in_words(words)))
        yield words.sentence("why.unmeasured", why=why)
    for name, criterion in case.criteria.items():
        if not_evaluated(criterion):
            yield _unscored(name, criterion, words)
        elif criterion.verdict is Verdict.FLAKY and any(criterion.runs):
            yield _comes_and_goes(name, criterion, words)
        elif criterion.verdict is Verdict.IMPROVED:
            yield _by_score(name, criterion, words)
        elif criterion.verdict in _IN_TROUBLE or criterion.falls_short:
            yield _one(name, criterion, case, words)


def _unscored(name: str, criterion: CaseCriterion, words: Locale) -> Sentence:
    why = criterion.why
    if why is None or not why.text:
        reason = Piece(words("why.no_reason"))
    else:
        reason = Piece(_quote(why.in_words(words)), code=not why.code)
    return words.sentence("why.not_evaluated", criterion=name, reason=reason)


def _comes_and_goes(name: str, criterion: CaseCriterion, words: Locale) -> Sentence:
    """How often it passed; base is not run again where head alone shows it."""
    counts = [locales.ratio(*pair) for pair in zip(criterion.passed, criterion.runs, strict=True)]
    key = "why.flaky_both" if criterion.runs[0] else "why.flaky"
    return words.sentence(key, criterion=name, base=counts[0], head=counts[1])


def _one(name: str, criterion: CaseCriterion, case: CaseComparison, words: Locale) -> Sentence:
    found = None
    if name == "tool_trajectory_avg_score":
        found = _first_wrong_call(case, words)
    elif name == "response_match_score" and criterion.falls_short:
        found = words.sentence(
            "why.words_differ", score=_head(criterion), threshold=_needed(criterion)
        )
    return found or _first_flip(name, case, words) or _by_score(name, criterion, words)


def _first_wrong_call(case: CaseComparison, words: Locale) -> Sentence | None:
    for number, turn in enumerate(case.evidence.turns, start=1):
        reference = turn.expected if turn.expected is not None else turn.base
        if reference is None or turn.head is None:
            continue
        sentence = _wrong_call(reference, turn.head, words)
        if sentence is not None:
            return _in_turn(sentence, number, case, words)
    return None


def _wrong_call(reference: SideAnswer, head: SideAnswer, words: Locale) -> Sentence | None:
    for wanted, made in zip_longest(reference.tools, head.tools):
        if wanted == made:
            continue
        if made is None:
            return words.sentence("why.call_missing", wanted=_quote(call(wanted)))
        if wanted is None:
            return words.sentence("why.call_unexpected", made=_quote(call(made)))
        return words.sentence(
            "why.call_wrong", made=_quote(call(made)), wanted=_quote(call(wanted))
        )
    return None


def _first_flip(name: str, case: CaseComparison, words: Locale) -> Sentence | None:
    for number, turn in enumerate(case.evidence.turns, start=1):
        for judged in turn.judged:
            if judged.criterion == name and judged.head != judged.base:
                return _in_turn(_flip(judged, words), number, case, words)
    return None


def _flip(judged: JudgedItem, words: Locale) -> Sentence:
    flip = words.sentence(
        _flip_key(judged),
        subject=Piece(_quote(judged.subject)),
        base=_quote(words.word("judged", judged.base or "")),
        head=_quote(words.word("judged", judged.head or locales.NOTHING)),
    )
    if not judged.reason:
        return flip
    reason = words.sentence("why.judge_says", reason=Piece(_quote(judged.reason)))
    return Sentence((*flip.pieces, *reason.pieces))


def _flip_key(judged: JudgedItem) -> str:
    """The phrase for a rubric, for a sentence with a label, or for the answer as a whole."""
    if judged.subject and judged.head in _RUBRIC:
        turned = "_turned" if judged.base in _RUBRIC else ""
        return f"why.{_RUBRIC[judged.head]}{turned}"
    turned = "" if judged.base is None else "_turned"
    return f"why.judged{turned}" if judged.subject else f"why.judged_answer{turned}"


def _by_score(name: str, criterion: CaseCriterion, words: Locale) -> Sentence:
    if criterion.falls_short:
        over = (criterion.head or 0.0) > (criterion.threshold or 0.0)
        return words.sentence(
            "why.too_high" if over else "why.too_low",
            criterion=name,
            score=_head(criterion),
            threshold=_needed(criterion),
        )
    base, head = locales.score(criterion.base), locales.score(criterion.head)
    return words.sentence("why.moved", criterion=name, base=base, head=head)


def _in_turn(sentence: Sentence, number: int, case: CaseComparison, words: Locale) -> Sentence:
    if len(case.evidence.turns) == 1:
        return sentence
    prefix = words.sentence("why.in_turn", turn=locales.count(number))
    return Sentence((*prefix.pieces, *sentence.pieces))


def _head(criterion: CaseCriterion) -> str:
    return locales.score(criterion.head, beside=criterion.threshold)


def _needed(criterion: CaseCriterion) -> str:
    return locales.score(criterion.threshold, beside=criterion.head)


def _quote(text: str) -> str:
    return clip(one_line(text), LONGEST_QUOTE)


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
    if case.quarantined:
        return Section.QUARANTINED
    kinds = findings.kinds(case)
    verdicts = {criterion.verdict for criterion in case.criteria.values()}
    short = any(criterion.falls_short for criterion in case.criteria.values())
    missing = any(not_evaluated(criterion) for criterion in case.criteria.values())
    belongs = {
        Section.REGRESSED: Verdict.REGRESSED in verdicts,
        Section.NEW_FAILURE: ReasonKind.NEW_FAILURE in kinds
        or (case.change is Change.ADDED and short),
        Section.REMOVED: case.change is Change.REMOVED,
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
