"""Why a case is listed, in a plain sentence or a few: what differs, not both sides of it."""

from collections.abc import Iterator
from itertools import islice

from gradegate import locales
from gradegate.locales import Locale, Piece, Sentence
from gradegate.model.notice import Notice
from gradegate.model.report import (
    CaseComparison,
    CaseCriterion,
    Change,
    JudgedItem,
    SideAnswer,
    Verdict,
)
from gradegate.model.runs import FRESH
from gradegate.model.trajectory import Mark, Place, Step, steps
from gradegate.report.calls import ArgumentView, call, step_changes
from gradegate.report.case_sections import not_evaluated
from gradegate.report.escape import clip, one_line

LONGEST_QUOTE = 160
LONGEST_SENTENCE = 300
"""Of a rubric, or of a sentence that a judge quotes."""
MOST_FLIPS = 5
MOST_ARGUMENTS = 3
MOST_CALLS = 3

_RUBRIC = {"yes": "rubric_passed", "no": "rubric_failed"}
_IN_TROUBLE = {Verdict.REGRESSED, Verdict.FLAKY, Verdict.UNCERTAIN}
_MARKS = {
    "cause.argument": Mark.CHANGED,
    "cause.call_gone": Mark.MISSING,
    "cause.call_missing": Mark.MISSING,
    "cause.call_new": Mark.ADDED,
    "cause.call_unexpected": Mark.ADDED,
    "cause.call_moved": Mark.MOVED,
}


def sentences(case: CaseComparison, words: Locale) -> tuple[Sentence, ...]:
    """What went wrong with the case, the agent's own failure first."""
    return tuple(dict.fromkeys(_sentences(case, words)))


def cause_of(told: Notice, words: Locale) -> Sentence:
    """A cause, names and paths apart from our own words."""
    key = f"notice.{told.code}"
    quoted = {name: _piece(name, str(value)) for name, value in told.values.items()}
    if not told.code or not words.knows_notice(told.code):
        return Sentence((Piece(clip(one_line(told.text), LONGEST_SENTENCE)),))
    try:
        return words.sentence(key, **quoted)
    except KeyError:  # values of another version, or made up
        return Sentence((Piece(clip(one_line(told.text), LONGEST_SENTENCE)),))


def how_sure(case: CaseComparison, words: Locale) -> str:
    """In how many runs it passed, and whether those say more than one; empty where none counts."""
    said = _passes(case, words)
    identical = _identical_runs(case)
    return words("passed.identical", said=said, n=identical) if said and identical else said


def _identical_runs(case: CaseComparison) -> int:
    """How many fresh runs gave one and the same answer, where all of several did."""
    fresh = [run.answer for run in case.evidence.head_runs if run.role in FRESH]
    return len(fresh) if len(fresh) > 1 and len(set(fresh)) == 1 and None not in fresh else 0


def _passes(case: CaseComparison, words: Locale) -> str:
    """Of the criterion that tells most."""
    listed = [one for one in case.criteria.values() if one.runs[1]]
    worse = [one for one in listed if one.verdict is Verdict.REGRESSED]
    short = worse or [one for one in listed if one.falls_short]
    if not short:
        return ""
    one = min(short, key=lambda one: (one.p_value is None, one.p_value or 0.0, one.passed[1]))
    counts = [locales.ratio(*pair) for pair in zip(one.passed, one.runs, strict=True)]
    earlier = locales.ratio(*one.earlier) if one.earlier else locales.NOTHING
    if one.earlier and one.runs[0]:
        return words("passed.history", base=counts[0], earlier=earlier, head=counts[1])
    said = words("passed.both" if one.runs[0] else "passed.head", base=counts[0], head=counts[1])
    if one.p_value is not None:
        return words("passed.sure", said=said, p=locales.p_value(one.p_value))
    if one.verdict is Verdict.REGRESSED and not one.confirmed:
        return words("passed.once", said=said)
    return said


def _piece(name: str, text: str) -> Piece:
    """A rubric or an error is prose, or a log's line; all else is a name."""
    return Piece(clip(one_line(text), LONGEST_SENTENCE), code=name != "rubric")


def _sentences(case: CaseComparison, words: Locale) -> Iterator[Sentence]:
    if case.change is Change.REMOVED:
        return
    error = case.evidence.head_error
    if error:
        yield _failed(error, words)
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
            yield from _found(name, criterion, case, words)


def _failed(error: str, words: Locale) -> Sentence:
    """What it said first, and the last line of its log where there is more."""
    lines = [line.strip() for line in error.splitlines() if line.strip()] or [""]
    first, last = _quote(lines[0]), _quote(lines[-1])
    if len(lines) == 1:
        return words.sentence("why.agent_failed", error=first)
    return words.sentence("why.agent_failed_saying", error=first, last=last)


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


def _found(
    name: str, criterion: CaseCriterion, case: CaseComparison, words: Locale
) -> Iterator[Sentence]:
    """What of the evidence explains the score; else the score."""
    if name == "tool_trajectory_avg_score":
        found = list(_wrong_call(case, words))
    elif name == "response_match_score" and criterion.falls_short:
        found = [
            words.sentence("why.words_differ", score=_head(criterion), threshold=_needed(criterion))
        ]
    else:
        found = list(islice(_flips(name, case, words), MOST_FLIPS))
    yield from found or [_by_score(name, criterion, words)]


def _wrong_call(case: CaseComparison, words: Locale) -> Iterator[Sentence]:
    """The calls that differ, those that the cause names first."""
    found = list(_differing(case, expected=False)) or list(_differing(case, expected=True))
    cause = case.cause
    if cause is not None and cause.code in _MARKS:
        tool, mark = cause.values.get("tool"), _MARKS[cause.code]
        found.sort(key=lambda one: not (one[1].mark is mark and _tool(one[1]) == tool))
    for number, step, against_expected in found[:MOST_CALLS]:
        for said in _of_step(step, words, against_expected=against_expected):
            yield _in_turn(said, number, case, words)


def _differing(case: CaseComparison, *, expected: bool) -> Iterator[tuple[int, Step, bool]]:
    for number, turn in enumerate(case.evidence.turns, start=1):
        before = turn.expected if expected else turn.base
        for step in _steps(before, turn.head):
            if step.mark is not Mark.SAME:
                yield number, step, expected


def _steps(before: SideAnswer | None, after: SideAnswer | None) -> tuple[Step, ...]:
    return steps(before.tools, after.tools) if before is not None and after is not None else ()


def _tool(step: Step) -> str:
    return next(place.call.name for place in step.places if place)


def _of_step(step: Step, words: Locale, *, against_expected: bool) -> Iterator[Sentence]:
    if step.mark is Mark.CHANGED:
        for change in step_changes(step)[:MOST_ARGUMENTS]:
            yield _argument(_tool(step), change, words, against_expected=against_expected)
    elif step.mark is Mark.MOVED:
        was, now = map(locales.count, step.numbers)
        yield words.sentence("why.call_moved", tool=_tool(step), was=was, now=now)
    elif step.mark is Mark.MISSING:
        yield words.sentence("why.call_missing", wanted=_call(step.before))
    else:
        key = "why.call_unexpected" if against_expected else "why.call_new"
        yield words.sentence(key, made=_call(step.after))


def _argument(
    tool: str, change: ArgumentView, words: Locale, *, against_expected: bool
) -> Sentence:
    path = change.path or words("why.all_arguments")
    if not change.before:
        return words.sentence("why.argument_new", tool=tool, path=path, after=change.after)
    if not change.after:
        return words.sentence("why.argument_gone", tool=tool, path=path, before=change.before)
    key = "why.argument_expected" if against_expected else "why.argument"
    return words.sentence(key, tool=tool, path=path, before=change.before, after=change.after)


def _call(place: Place | None) -> str:
    return _quote(call(place.call)) if place else ""


def _flips(name: str, case: CaseComparison, words: Locale) -> Iterator[Sentence]:
    for number, turn in enumerate(case.evidence.turns, start=1):
        for judged in turn.judged:
            if judged.criterion == name and judged.head != judged.base:
                yield _in_turn(_flip(judged, words), number, case, words)


def _flip(judged: JudgedItem, words: Locale) -> Sentence:
    flip = words.sentence(
        _flip_key(judged),
        subject=Piece(clip(one_line(judged.subject), LONGEST_SENTENCE)),
        base=_quote(words.word("judged", judged.base or "")),
        head=_quote(words.word("judged", judged.head or locales.NOTHING)),
    )
    if not judged.reason:
        return flip
    said = Piece(clip(one_line(judged.reason), LONGEST_SENTENCE))
    return Sentence((*flip.pieces, *words.sentence("why.judge_says", reason=said).pieces))


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
    prefix = words.sentence("why.in_turn", turn=Piece(locales.count(number)))
    return Sentence((*prefix.pieces, *sentence.pieces))


def _head(criterion: CaseCriterion) -> str:
    return locales.score(criterion.head, beside=criterion.threshold)


def _needed(criterion: CaseCriterion) -> str:
    return locales.score(criterion.threshold, beside=criterion.head)


def _quote(text: str) -> str:
    return clip(one_line(text), LONGEST_QUOTE)
