"""Why a case needs attention, in a plain sentence or two."""

from collections.abc import Iterator
from itertools import zip_longest

from gradegate import numbers
from gradegate.model.report import CaseComparison, CaseCriterion, Change, Judged, Said, Verdict
from gradegate.report.difference import call
from gradegate.report.escape import clip, one_line
from gradegate.report.words import Sentence, Words

LONGEST_QUOTE = 160

_IN_TROUBLE = {Verdict.REGRESSED, Verdict.FLAKY, Verdict.UNCERTAIN}


def falls_short(criterion: CaseCriterion) -> bool:
    """Whether head's score is below what the case needs."""
    return (
        criterion.threshold is not None
        and criterion.head is not None
        and criterion.head < criterion.threshold
    )


def not_evaluated(criterion: CaseCriterion) -> bool:
    """Whether head should have a score and has none."""
    return criterion.head is None and criterion.verdict is not Verdict.GONE


def sentences(case: CaseComparison, words: Words) -> tuple[Sentence, ...]:
    """What went wrong with the case, the agent's own failure first."""
    return tuple(_sentences(case, words))


def _sentences(case: CaseComparison, words: Words) -> Iterator[Sentence]:
    if case.change is Change.REMOVED:
        return
    error = case.evidence.head_error
    if error:
        yield words.sentence("why.agent_failed", error=_quote(error))
        return
    for name, criterion in case.criteria.items():
        if not_evaluated(criterion):
            yield _unscored(name, criterion, words)
        elif criterion.verdict is Verdict.FLAKY and any(criterion.runs):
            yield _comes_and_goes(name, criterion, words)
        elif criterion.verdict is Verdict.IMPROVED:
            yield _by_score(name, criterion, words)
        elif criterion.verdict in _IN_TROUBLE or falls_short(criterion):
            yield _one(name, criterion, case, words)


def _unscored(name: str, criterion: CaseCriterion, words: Words) -> Sentence:
    reason = _quote(criterion.reason) if criterion.reason else words("why.no_reason")
    return words.sentence("why.not_evaluated", criterion=name, reason=reason)


def _comes_and_goes(name: str, criterion: CaseCriterion, words: Words) -> Sentence:
    """How often it passed; base is not run again where head alone shows it."""
    counts = [numbers.ratio(*pair) for pair in zip(criterion.passed, criterion.runs, strict=True)]
    key = "why.flaky_both" if criterion.runs[0] else "why.flaky"
    return words.sentence(key, criterion=name, base=counts[0], head=counts[1])


def _one(name: str, criterion: CaseCriterion, case: CaseComparison, words: Words) -> Sentence:
    found = None
    if name == "tool_trajectory_avg_score":
        found = _first_wrong_call(case, words)
    elif name == "response_match_score" and falls_short(criterion):
        found = words.sentence(
            "why.words_differ", score=_head(criterion), threshold=_needed(criterion)
        )
    return found or _first_flip(name, case, words) or _by_score(name, criterion, words)


def _first_wrong_call(case: CaseComparison, words: Words) -> Sentence | None:
    for number, turn in enumerate(case.evidence.turns, start=1):
        reference = turn.expected if turn.expected is not None else turn.base
        if reference is None or turn.head is None:
            continue
        sentence = _wrong_call(reference, turn.head, words)
        if sentence is not None:
            return _in_turn(sentence, number, case, words)
    return None


def _wrong_call(reference: Said, head: Said, words: Words) -> Sentence | None:
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


def _first_flip(name: str, case: CaseComparison, words: Words) -> Sentence | None:
    for number, turn in enumerate(case.evidence.turns, start=1):
        for judged in turn.judged:
            if judged.criterion == name and judged.head != judged.base:
                return _in_turn(_flip(judged, words), number, case, words)
    return None


def _flip(judged: Judged, words: Words) -> Sentence:
    about = "judged" if judged.subject else "judged_answer"
    key = f"why.{about}" if judged.base is None else f"why.{about}_turned"
    holes = {
        "subject": judged.subject,
        "base": judged.base or "",
        "head": judged.head or numbers.NOTHING,
    }
    reason = judged.reason
    if reason:
        return words.sentence(f"{key}_because", **_quoted(holes), reason=_quote(reason))
    return words.sentence(key, **_quoted(holes))


def _by_score(name: str, criterion: CaseCriterion, words: Words) -> Sentence:
    if falls_short(criterion):
        return words.sentence(
            "why.too_low", criterion=name, score=_head(criterion), threshold=_needed(criterion)
        )
    base, head = numbers.score(criterion.base), numbers.score(criterion.head)
    return words.sentence("why.moved", criterion=name, base=base, head=head)


def _in_turn(sentence: Sentence, number: int, case: CaseComparison, words: Words) -> Sentence:
    if len(case.evidence.turns) == 1:
        return sentence
    prefix = words.sentence("why.in_turn", turn=numbers.count(number))
    return Sentence((*prefix.pieces, *sentence.pieces))


def _head(criterion: CaseCriterion) -> str:
    return numbers.score(criterion.head, beside=criterion.threshold)


def _needed(criterion: CaseCriterion) -> str:
    return numbers.score(criterion.threshold, beside=criterion.head)


def _quoted(holes: dict[str, str]) -> dict[str, str]:
    return {name: _quote(text) for name, text in holes.items()}


def _quote(text: str) -> str:
    return clip(one_line(text), LONGEST_QUOTE)
