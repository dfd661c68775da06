"""The turns of a case that needs attention: what was asked, what came, what differs."""

from dataclasses import dataclass

from gradegate.model.report import Evidence, Judged, Said, Turn
from gradegate.report import difference
from gradegate.report.difference import Difference
from gradegate.report.escape import clean, clip, one_line
from gradegate.report.words import Words

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


def turn_views(evidence: Evidence, words: Words, room: int | None) -> tuple[TurnView, ...]:
    """The turns in which something differs; all of them where room is no matter."""
    views = [_turn(n, turn, evidence, words, room) for n, turn in enumerate(evidence.turns, 1)]
    if room is None:
        return tuple(views)
    telling = [view for view in views if view.differences or view.judged]
    return tuple(telling or views[:1])


def _turn(number: int, turn: Turn, evidence: Evidence, words: Words, room: int | None) -> TurnView:
    expected = turn.expected.text if turn.expected is not None else ""
    differences = _differences(turn, words, room)
    return TurnView(
        title=words("turn", n=number) if len(evidence.turns) > 1 else "",
        asked=clip(clean(turn.asked), room),
        expected=clip(clean(expected), room) if _is_news(turn) else "",
        differences=differences,
        judged=tuple(_judged(judged, words, room) for judged in turn.judged),
        remark="" if differences else words("turn.same"),
    )


def _is_news(turn: Turn) -> bool:
    """Whether the expected text is not already one side of the diff."""
    return turn.base is not None or turn.head is None


def _differences(turn: Turn, words: Words, room: int | None) -> tuple[Difference, ...]:
    if turn.head is None:
        return ()
    found = []
    calls = _reference(turn, calls=True)
    if calls is not None and calls[1].tools != turn.head.tools:
        lines = difference.of_calls(calls[1], turn.head, room)
        found.append(_difference("calls", calls[0], lines, words))
    texts = _reference(turn, calls=False)
    if texts is not None and texts[1].text != turn.head.text:
        lines = difference.of_words(texts[1].text, turn.head.text, room)
        found.append(_difference("answer", texts[0], lines, words))
    return tuple(found)


def _difference(
    what: str, before: str, lines: tuple[difference.Line, ...], words: Words
) -> Difference:
    return Difference(
        what=words(f"turn.{what}"),
        before=words(f"side.{before}"),
        after=words("side.head"),
        lines=lines,
    )


def _reference(turn: Turn, *, calls: bool) -> tuple[str, Said] | None:
    """What head is held against: calls against the expected ones, words against base's."""
    sides = [("base", turn.base), ("expected", turn.expected)]
    if calls:
        sides.reverse()
    return next(((name, said) for name, said in sides if said is not None), None)


def _judged(judged: Judged, words: Words, room: int | None) -> JudgedView:
    verdicts = [one_line(side) for side in (judged.base, judged.head) if side is not None]
    return JudgedView(
        criterion=judged.criterion,
        subject=clip(one_line(judged.subject), room) or words("turn.whole"),
        verdicts=" → ".join(verdicts),
        reason=clip(one_line(judged.reason or ""), None if room is None else LONGEST_REASON),
    )
