"""The turns of a case that needs attention: what was asked, what came, what differs."""

from collections.abc import Iterator
from dataclasses import dataclass

from gradegate.locales import Locale
from gradegate.model.differences import around_difference
from gradegate.model.report import Evidence, JudgedItem, SideAnswer, TurnEvidence
from gradegate.model.trajectory import Mark, steps
from gradegate.report.answers import Line, answer_lines
from gradegate.report.calls import CallView, call, call_views
from gradegate.report.escape import clean, clip, one_line

LONGEST_CALL_LINE = 2_000


@dataclass(frozen=True)
class Difference:
    """Two texts or two lists of tool calls, one against the other."""

    what: str
    before: str
    after: str
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The lines as a diff, each side named in the head."""
        return "\n".join((f"--- {self.before}", f"+++ {self.after}", *map(str, self.lines)))


def _call_lines(before: SideAnswer, after: SideAnswer, limit: int | None) -> Iterator[Line]:
    """The calls of both sides as a diff; one that moved says from where to where."""
    room = limit or LONGEST_CALL_LINE
    for step in steps(before.tools, after.tools):
        old, new = (one_line(call(place.call)) if place else "" for place in step.places)
        if step.mark is Mark.CHANGED:
            old, new = around_difference(old, new, room)
        if step.mark is Mark.MOVED:
            was, now = step.numbers
            yield Line(" ", f"{clip(new, room)}  ({was} → {now})")
        elif step.mark is Mark.SAME:
            yield Line(" ", clip(new, room))
        else:
            yield from (
                Line(sign, clip(text, room)) for sign, text in (("-", old), ("+", new)) if text
            )


LONGEST_REASON = 400


@dataclass(frozen=True)
class JudgedView:
    """What a judge said, on both sides."""

    criterion: str
    subject: str
    verdicts: str
    reason: str


@dataclass(frozen=True)
class TurnView:
    """One turn."""

    title: str
    asked: str
    expected: str
    differences: tuple[Difference, ...]
    judged: tuple[JudgedView, ...]
    remark: str
    calls: tuple[CallView, ...] = ()
    """The tool calls of all sides, where they are not all the same."""
    answer: Difference | None = None
    """The answer's words; of `differences` it is the other one."""
    has_expected: bool = False
    has_base: bool = False


def turn_views(evidence: Evidence, words: Locale, max_chars: int | None) -> tuple[TurnView, ...]:
    """The turns in which something differs; all of them where nothing is cut."""
    views = [_turn(n, turn, evidence, words, max_chars) for n, turn in enumerate(evidence.turns, 1)]
    if max_chars is None:
        return tuple(views)
    telling = [view for view in views if view.differences or view.judged or view.calls]
    return tuple(telling or views[:1])


def _turn(
    number: int, turn: TurnEvidence, evidence: Evidence, words: Locale, max_chars: int | None
) -> TurnView:
    expected = turn.expected.text if turn.expected is not None else ""
    answer = _answer(turn, words, max_chars)
    calls = _calls(turn, words, max_chars)
    rows = call_views(turn, words, fold=max_chars is not None)
    tells = any(not row.quiet for row in rows)
    return TurnView(
        title=words("turn", n=number) if len(evidence.turns) > 1 else "",
        asked=clip(clean(turn.asked), max_chars),
        expected=clip(clean(expected), max_chars) if _is_news(turn) else "",
        differences=tuple(one for one in (calls, answer) if one is not None),
        judged=tuple(_judged(judged, words, max_chars) for judged in turn.judged),
        remark=_remark(turn, evidence, words, quiet=not (tells or answer or calls)),
        calls=rows if tells or max_chars is None else (),
        answer=answer,
        has_expected=turn.expected is not None,
        has_base=turn.base is not None,
    )


def _remark(turn: TurnEvidence, evidence: Evidence, words: Locale, *, quiet: bool) -> str:
    """What is to be said where nothing is there to be shown; nothing is the same as nothing."""
    if turn.head is None:
        return words("turn.failed" if evidence.head_error else "turn.none")
    if not quiet:
        return ""
    if turn.base is not None:
        return words("turn.same")
    return words("turn.as_expected") if turn.expected is not None else ""


def _is_news(turn: TurnEvidence) -> bool:
    """Whether the expected text is not already one side of the diff."""
    if turn.expected is None or turn.head is None:
        return True
    return turn.base is not None and turn.base.text != turn.expected.text


def _calls(turn: TurnEvidence, words: Locale, max_chars: int | None) -> Difference | None:
    reference = _reference(turn, calls=True)
    if turn.head is None or reference is None or reference[1].tools == turn.head.tools:
        return None
    lines = tuple(_call_lines(reference[1], turn.head, max_chars))
    return _difference("calls", reference[0], lines, words)


def _answer(turn: TurnEvidence, words: Locale, max_chars: int | None) -> Difference | None:
    reference = _reference(turn, calls=False)
    if turn.head is None or reference is None or reference[1].text == turn.head.text:
        return None
    lines = answer_lines(reference[1].text, turn.head.text, max_chars, words)
    return _difference("answer", reference[0], lines, words)


def _difference(what: str, before: str, lines: tuple[Line, ...], words: Locale) -> Difference:
    return Difference(
        what=words(f"turn.{what}"),
        before=words(f"side.{before}"),
        after=words("side.head"),
        lines=lines,
    )


def _reference(turn: TurnEvidence, *, calls: bool) -> tuple[str, SideAnswer] | None:
    """What head is held against: calls against the expected ones, words against base's."""
    sides = [("base", turn.base), ("expected", turn.expected)]
    if calls:
        sides.reverse()
    return next(((name, said) for name, said in sides if said is not None), None)


def _judged(judged: JudgedItem, words: Locale, max_chars: int | None) -> JudgedView:
    sides = [words.word("judged", side) for side in (judged.base, judged.head) if side is not None]
    return JudgedView(
        criterion=judged.criterion,
        subject=clip(one_line(judged.subject), max_chars) or words("turn.whole"),
        verdicts=" → ".join(map(one_line, sides)),
        reason=clip(one_line(judged.reason or ""), None if max_chars is None else LONGEST_REASON),
    )
