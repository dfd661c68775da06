"""Where two JSON values differ: the paths that tell, not the whole of both."""

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from re import compile as pattern
from typing import Any, Final

NOTHING_THERE: Final = object()
"""What stands at a path that one side has not."""

_PLAIN_KEY = pattern(r"[^\W\d]\w*")
_ENOUGH = 50
"""Differing paths of one pair of values; nobody reads more."""
ELIDED = "…"


@dataclass(frozen=True)
class PathChange:
    """One place where two values differ, such as `options.packages[1].kg`."""

    path: str
    """Empty where the values differ as a whole."""
    before: Any = NOTHING_THERE
    after: Any = NOTHING_THERE

    @property
    def is_added(self) -> bool:
        """Whether only the second value has this path."""
        return self.before is NOTHING_THERE

    @property
    def is_gone(self) -> bool:
        """Whether only the first value has this path."""
        return self.after is NOTHING_THERE

    def shown(self, room: int) -> tuple[str, str]:
        """Both sides as JSON, of long texts what differs and its neighbourhood; empty: none."""
        before, after = ("" if one is NOTHING_THERE else as_json(one) for one in self._sides)
        return around_difference(before, after, room)

    @property
    def _sides(self) -> tuple[Any, Any]:
        return self.before, self.after


def path_changes(before: Any, after: Any) -> tuple[PathChange, ...]:
    """Where the values differ, in the order of the first one's keys."""
    found = _changes(before, after, "")
    return tuple(one for one, _ in zip(found, range(_ENOUGH), strict=False))


def frozen(value: Any) -> Hashable:
    """The value as a key: equal where the values are, as `1` and `1.0` are."""
    if isinstance(value, Mapping):
        return frozenset((key, frozen(inner)) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return tuple(frozen(inner) for inner in value)
    return value if isinstance(value, Hashable) else repr(value)


def as_json(value: Any) -> str:
    """A value on one line."""
    return json.dumps(value, ensure_ascii=False, default=str)


def around_difference(before: str, after: str, room: int) -> tuple[str, str]:
    """Two texts of at most `room` characters each, what they share at both ends left out first."""
    if max(len(before), len(after)) <= room:
        return before, after
    start = _shared(before, after)
    end = _shared(before[start:][::-1], after[start:][::-1])
    context = max((room - max(len(before), len(after)) + start + end) // 2, room // 4)
    first, last = max(start - context, 0), max(end - context, 0)
    return _cut(before, first, last, room), _cut(after, first, last, room)


def _cut(text: str, first: int, last: int, room: int) -> str:
    if not text:
        return text
    middle = text[first : len(text) - last]
    begin, end = ELIDED if first else "", ELIDED if last else ""
    left = room - len(begin) - len(end)
    if len(middle) > left:
        middle, end = middle[: max(room - len(begin) - 1, 0)], ELIDED
    return f"{begin}{middle}{end}"


def _shared(before: str, after: str) -> int:
    pairs = zip(before, after, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))


def _changes(before: Any, after: Any, path: str) -> Iterator[PathChange]:
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in (*before, *(key for key in after if key not in before)):
            own, other = (side.get(key, NOTHING_THERE) for side in (before, after))
            yield from _changes(own, other, _below(path, str(key)))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_changes(before, after, path)
    else:
        yield PathChange(path, before, after)


def _list_changes(before: list[Any], after: list[Any], path: str) -> Iterator[PathChange]:
    """Items by their place; one that is only on one side does not shift those after it."""
    for tag, i, j, k, m in _opcodes(before, after):
        if tag == "equal":
            continue
        for n, (own, other) in enumerate(
            zip_longest(before[i:j], after[k:m], fillvalue=NOTHING_THERE)
        ):
            place = i + n if other is NOTHING_THERE else k + n
            yield from _changes(own, other, f"{path}[{place}]")


def _opcodes(
    before: Sequence[Any], after: Sequence[Any]
) -> Sequence[tuple[str, int, int, int, int]]:
    old, new = ([frozen(item) for item in side] for side in (before, after))
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _below(path: str, key: str) -> str:
    if _PLAIN_KEY.fullmatch(key):
        return f"{path}.{key}" if path else key
    return f"{path}[{as_json(key)}]"
