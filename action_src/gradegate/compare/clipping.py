"""Long texts made short without losing what differs: compared first, then clipped."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

CONTEXT = 400
"""Characters of what two texts share that stay on each side of a difference."""
ELIDED = "…"

_ENDS = ".!?\u3002\uff01\uff1f"
_CHUNK = re.compile(rf"[^\n{_ENDS}]{{0,400}}(?:[{_ENDS}]+ *|\n+)?")
"""A sentence, a line, or a part of one that is too long."""


def clip(text: str, limit: int) -> str:
    """The start of a text that nothing is compared with."""
    return text if len(text) <= limit else f"{text[:limit]}{ELIDED}"


def clip_middle(text: str, limit: int) -> str:
    """Both ends of a text, such as a reason and the last lines of the log under it."""
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]}{ELIDED}{text[-(limit - limit // 2) :]}"


def clip_together(before: str, after: str, limit: int) -> tuple[str, str]:
    """Two texts of at most `limit` characters and a mark each, with all that differs if it fits.

    What they share is left out in both alike, so that comparing what is left finds what
    comparing the whole texts would.
    """
    if max(len(before), len(after)) <= limit:
        return before, after
    old, new = _without_what_is_shared(before, after)
    return clip(old, limit), clip(new, limit)


def _without_what_is_shared(before: str, after: str) -> tuple[str, str]:
    start = _shared_start(before, after)
    end = _shared_start(before[start:][::-1], after[start:][::-1])
    head, tail = before[:start], before[len(before) - end :]
    old, new = (text[start : len(text) - end] for text in (before, after))
    middle_old, middle_new = _middle(_CHUNK.findall(old), _CHUNK.findall(new))
    first = ELIDED + head[-CONTEXT:] if len(head) > CONTEXT else head
    last = tail[:CONTEXT] + ELIDED if len(tail) > CONTEXT else tail
    return f"{first}{middle_old}{last}", f"{first}{middle_new}{last}"


def _shared_start(before: str, after: str) -> int:
    """How many characters both begin with, found by halving."""
    low, high = 0, min(len(before), len(after))
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _middle(old: Sequence[str], new: Sequence[str]) -> tuple[str, str]:
    """Between the first and the last difference: shared stretches with their middle left out."""
    blocks = SequenceMatcher(None, old, new).get_matching_blocks()
    left, right = [], []
    for (a, b, size), (next_a, next_b, _) in pairwise([(0, 0, 0), *blocks]):
        shared = "".join(_short("".join(old[a : a + size])))
        left += [shared, *old[a + size : next_a]]
        right += [shared, *new[b + size : next_b]]
    return "".join(left), "".join(right)


def _short(shared: str) -> Iterator[str]:
    if len(shared) <= 2 * CONTEXT:
        yield shared
    else:
        yield from (shared[:CONTEXT], ELIDED, shared[-CONTEXT:])
