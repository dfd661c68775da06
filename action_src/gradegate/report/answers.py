"""Two answers, word by word: compared whole, then the neighbourhood of each change is shown."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from gradegate.locales import Locale
from gradegate.report.escape import ELLIPSIS, clean, clip

CONTEXT_WORDS = 12
LINE_END = "⏎"
LONGEST_DIFF = 3_000
"""Words on both sides together that are compared at once; of longer texts, the sentences first."""

_UNSPACED = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0eff"
_WORD = re.compile(rf"(?:[{_UNSPACED}]|[^\s{_UNSPACED}]+)\s*")
"""A word with the space after it; where words are not spaced, a character."""
_SENTENCE = re.compile(r"[^\n.!?\u3002\uff01\uff1f]*(?:[.!?\u3002\uff01\uff1f]+\s*|\n+|$)")


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


def answer_lines(before: str, after: str, limit: int | None, words: Locale) -> tuple[Line, ...]:
    """What both share as context, what differs line under line, within about `limit` characters."""
    old, new = (_WORD.findall(clean(text).strip()) for text in (before, after))
    groups = list(_groups(old, new))
    if limit is None:
        return tuple(line for group in groups for line in group)
    return tuple(_within(groups, limit, words))


def signed(sign: str, texts: Iterable[str]) -> Iterator[Line]:
    """Every line of the texts with its sign."""
    for text in texts:
        yield from (Line(sign, line) for line in clean(text).splitlines())


def _within(groups: Sequence[Sequence[Line]], limit: int, words: Locale) -> Iterator[Line]:
    """The first changes that there is room for, and how many are left out; at least one."""
    left, told = limit, False
    for place, group in enumerate(groups):
        changes = any(line.sign != " " for line in group)
        if told and left <= 0:
            rest = sum(any(line.sign != " " for line in one) for one in groups[place:])
            if rest:
                yield Line(" ", words.some("answer.more", rest))
            return
        for line in _clipped(group, max(left, limit // 3)):
            left -= len(line.text)
            yield line
        told = told or changes


def _clipped(group: Sequence[Line], limit: int) -> Iterator[Line]:
    """A group's lines, those of each sign together within half the limit."""
    left = {"-": limit // 2, "+": limit // 2, " ": limit // 2}
    for line in group:
        if left[line.sign] > 0:
            yield Line(line.sign, clip(line.text, left[line.sign]))
            left[line.sign] -= len(line.text)


Step = tuple[bool, int, int, int, int]


def _groups(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Line, ...]]:
    """A stretch that both share, or one that differs, at a time."""
    steps = list(_word_steps(old, new))
    for place, (same, i, j, k, m) in enumerate(steps):
        if same:
            ends = place == 0, place == len(steps) - 1
            yield tuple(signed(" ", [_shortened(old[i:j], *ends)]))
        else:
            minus, plus = _told_apart("".join(old[i:j]), "".join(new[k:m]))
            yield (*signed("-", [minus]), *signed("+", [plus]))


def _told_apart(old: str, new: str) -> tuple[str, str]:
    """Both without the blanks at their ends; a line that ends on one side alone is shown to."""
    if old.strip() != new.strip():
        return old.rstrip(), new.rstrip()
    minus, plus = (
        f"{one.strip()} {LINE_END}" if "\n" in one else one.strip() for one in (old, new)
    )
    return minus, plus


def _word_steps(old: Sequence[str], new: Sequence[str]) -> Iterator[Step]:
    """Of long texts the sentences are compared first, then the words of those that differ."""
    start = next(
        (
            n
            for n, pair in enumerate(zip(old, new, strict=False))
            if _bare(pair[0]) != _bare(pair[1])
        ),
        min(len(old), len(new)),
    )
    rest = old[start:], new[start:]
    if len(rest[0]) + len(rest[1]) <= LONGEST_DIFF:
        yield from _joined(_shifted(_steps(*rest), start), start)
        return
    yield from _joined(_shifted(_by_sentence(*rest), start), start)


def _shifted(steps: Iterable[Step], by: int) -> Iterator[Step]:
    for same, i, j, k, m in steps:
        yield same, i + by, j + by, k + by, m + by


def _joined(steps: Iterable[Step], start: int) -> list[Step]:
    """The shared beginning put before them; neighbours of one kind become one."""
    found: list[Step] = [(True, 0, start, 0, start)] if start else []
    for step in steps:
        if found and found[-1][0] == step[0]:
            same, i, _, k, _ = found.pop()
            found.append((same, i, step[2], k, step[4]))
        else:
            found.append(step)
    return found


def _by_sentence(old: Sequence[str], new: Sequence[str]) -> Iterator[Step]:
    sides = [_sentences(words) for words in (old, new)]
    texts = [
        ["".join(words[i:j]) for i, j in found]
        for words, found in zip((old, new), sides, strict=True)
    ]
    matcher = SequenceMatcher(None, texts[0], texts[1], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        (i, j), (k, m) = _span(sides[0], a, b), _span(sides[1], c, d)
        if tag != "equal" and (j - i) + (m - k) <= LONGEST_DIFF:
            for same, p, q, r, s in _steps(old[i:j], new[k:m]):
                yield same, i + p, i + q, k + r, k + s
        else:
            yield tag == "equal", i, j, k, m


def _sentences(words: Sequence[str]) -> list[tuple[int, int]]:
    """Where each begins and ends, in words."""
    found, begin = [], 0
    for place, word in enumerate(words, start=1):
        if (
            word.rstrip()[-1:] in tuple(".!?\u3002\uff01\uff1f")
            or "\n" in word
            or place == len(words)
        ):
            found.append((begin, place))
            begin = place
    return found


def _span(sentences: Sequence[tuple[int, int]], first: int, last: int) -> tuple[int, int]:
    if first == last:
        place = (
            sentences[first][0]
            if first < len(sentences)
            else (sentences[-1][1] if sentences else 0)
        )
        return place, place
    return sentences[first][0], sentences[last - 1][1]


def _steps(old: Sequence[str], new: Sequence[str]) -> list[Step]:
    """Shared and differing stretches; one shared word between two changes is no context."""
    matcher = SequenceMatcher(None, [*map(_bare, old)], [*map(_bare, new)], autojunk=False)
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


def _bare(word: str) -> str:
    """A word, and whether a line ends behind it: Markdown lives by its lines."""
    text = word.strip()
    return f"{text}\n" if "\n" in word else text


def _shortened(words: Sequence[str], is_first: bool, is_last: bool) -> str:  # noqa: FBT001
    """Of a shared stretch what is next to a change."""
    keep_start, keep_end = not is_first, not is_last
    size = CONTEXT_WORDS * (keep_start + keep_end)
    if len(words) <= size + 1:
        return "".join(words).rstrip()
    start = "".join(words[:CONTEXT_WORDS]).rstrip() if keep_start else ""
    end = "".join(words[-CONTEXT_WORDS:]).rstrip() if keep_end else ""
    return f"{start} {ELLIPSIS} {end}".strip()
