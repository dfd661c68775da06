"""The turns of a case that needs attention: what was asked, what came, what differs."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from gradegate.locales import Locale
from gradegate.model.report import Evidence, JudgedItem, SideAnswer, ToolUse, TurnEvidence
from gradegate.report.escape import ELLIPSIS, clean, clip, one_line

LONGEST_DIFF = 1_500
"""Words on both sides together; longer texts are shown one after the other."""
CONTEXT_WORDS = 12

_UNSPACED = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0eff"
_WORD = re.compile(rf"(?:[{_UNSPACED}]|[^\s{_UNSPACED}]+)\s*")
"""A word with the space after it; where words are not spaced, a character."""


@dataclass(frozen=True)
class Line:
    """One line of a diff; the sign is `-`, `+` or a space."""

    sign: str
    text: str

    @property
    def style(self) -> str:
        """A name for the sign."""
        return {"-": "minus", "+": "plus"}.get(self.sign, "same")

    def __str__(self) -> str:
        return f"{self.sign} {self.text}"


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


def call(tool: ToolUse) -> str:
    """A tool call as one would write it."""
    args = (
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in (tool.args or {}).items()
    )
    return f"{tool.name}({', '.join(args)})"


def of_calls(before: SideAnswer, after: SideAnswer, limit: int | None) -> tuple[Line, ...]:
    """The calls of both sides, line by line."""
    old, new = ([clip(call(t), limit) for t in said.tools] for said in (before, after))
    return tuple(_as_lines(old, new, len(old) + len(new)))


def of_words(before: str, after: str, limit: int | None) -> tuple[Line, ...]:
    """The words of both sides: what they share as context, what differs line under line."""
    old, new = (_WORD.findall(clip(one_line(text), limit)) for text in (before, after))
    if len(old) + len(new) > LONGEST_DIFF:
        return (*_signed("-", ["".join(old)]), *_signed("+", ["".join(new)]))
    lines: list[Line] = []
    for same, i, j, k, m in _steps(old, new):
        if same:
            lines.append(Line(" ", _shortened(old[i:j])))
        else:
            lines.extend(_signed("-", ["".join(old[i:j]).strip()]))
            lines.extend(_signed("+", ["".join(new[k:m]).strip()]))
    return tuple(lines)


Step = tuple[bool, int, int, int, int]


def _steps(old: Sequence[str], new: Sequence[str]) -> list[Step]:
    """Shared and differing stretches; one shared word between two changes is no context."""
    bare_old, bare_new = ([word.strip() for word in words] for words in (old, new))
    matcher = SequenceMatcher(None, bare_old, bare_new, autojunk=False)
    ends = (len(old), len(new))
    blocks = [
        (a, b, size)
        for a, b, size in matcher.get_matching_blocks()
        if size > 1 or (size and ((a, b) == (0, 0) or (a + size, b + size) == ends))
    ]
    steps: list[Step] = []
    for (a, b, size), (next_a, next_b, _) in pairwise([(0, 0, 0), *blocks, (*ends, 0)]):
        if size:
            steps.append((True, a, a + size, b, b + size))
        if (a + size, b + size) != (next_a, next_b):
            steps.append((False, a + size, next_a, b + size, next_b))
    return steps


def _shortened(words: Sequence[str]) -> str:
    if len(words) <= 2 * CONTEXT_WORDS + 1:
        return "".join(words).strip()
    start, end = words[:CONTEXT_WORDS], words[-CONTEXT_WORDS:]
    return f"{''.join(start).strip()} {ELLIPSIS} {''.join(end).strip()}"


def _as_lines(old: list[str], new: list[str], size: int) -> Iterable[Line]:
    if size > LONGEST_DIFF:
        yield from (*_signed("-", old), *_signed("+", new))
        return
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from _signed(" ", old[i:j])
        else:
            yield from _signed("-", old[i:j])
            yield from _signed("+", new[k:m])


def _signed(sign: str, texts: Iterable[str]) -> Iterable[Line]:
    for text in texts:
        yield from (Line(sign, line) for line in clean(text).splitlines())


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


def turn_views(evidence: Evidence, words: Locale, max_chars: int | None) -> tuple[TurnView, ...]:
    """The turns in which something differs; all of them where nothing is cut."""
    views = [_turn(n, turn, evidence, words, max_chars) for n, turn in enumerate(evidence.turns, 1)]
    if max_chars is None:
        return tuple(views)
    telling = [view for view in views if view.differences or view.judged]
    return tuple(telling or views[:1])


def _turn(
    number: int, turn: TurnEvidence, evidence: Evidence, words: Locale, max_chars: int | None
) -> TurnView:
    expected = turn.expected.text if turn.expected is not None else ""
    differences = _differences(turn, words, max_chars)
    return TurnView(
        title=words("turn", n=number) if len(evidence.turns) > 1 else "",
        asked=clip(clean(turn.asked), max_chars),
        expected=clip(clean(expected), max_chars) if _is_news(turn) else "",
        differences=differences,
        judged=tuple(_judged(judged, words, max_chars) for judged in turn.judged),
        remark="" if differences else words("turn.same"),
    )


def _is_news(turn: TurnEvidence) -> bool:
    """Whether the expected text is not already one side of the diff."""
    return turn.base is not None or turn.head is None


def _differences(
    turn: TurnEvidence, words: Locale, max_chars: int | None
) -> tuple[Difference, ...]:
    if turn.head is None:
        return ()
    found = []
    calls = _reference(turn, calls=True)
    if calls is not None and calls[1].tools != turn.head.tools:
        lines = of_calls(calls[1], turn.head, max_chars)
        found.append(_difference("calls", calls[0], lines, words))
    texts = _reference(turn, calls=False)
    if texts is not None and texts[1].text != turn.head.text:
        lines = of_words(texts[1].text, turn.head.text, max_chars)
        found.append(_difference("answer", texts[0], lines, words))
    return tuple(found)


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
