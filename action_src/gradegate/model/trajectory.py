"""Tool calls of up to three sides held against each other: what is the same, differs, has moved.

Aligned by the longest common subsequence. What is left of it is paired: the same call at
another place has moved, a call of the same tool between the same neighbours has other arguments.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum

from gradegate.model.differences import PathChange, frozen, path_changes
from gradegate.model.report import SideAnswer, ToolUse, TurnEvidence

_LARGEST_TABLE = 1_000_000
"""Cells of the table of the longest common subsequence; beyond them difflib's guess will do."""


class Mark(StrEnum):
    """How a call compares with the one it is held against."""

    SAME = "same"
    CHANGED = "changed"
    """Called with other arguments."""
    MISSING = "missing"
    ADDED = "added"
    MOVED = "moved"
    """The very same call at another place."""


@dataclass(frozen=True)
class Place:
    """A call, and the how manyth it is, from 1 on."""

    number: int
    call: ToolUse


@dataclass(frozen=True)
class Step:
    """One call of `before`, of `after`, or of both."""

    mark: Mark
    before: Place | None = None
    after: Place | None = None

    @property
    def changes(self) -> tuple[PathChange, ...]:
        """Where the arguments differ."""
        if self.before is None or self.after is None:
            return ()
        return path_changes(self.before.call.args, self.after.call.args)

    @property
    def places(self) -> tuple[Place | None, Place | None]:
        """Where it is on both sides."""
        return self.before, self.after

    @property
    def numbers(self) -> tuple[int, int]:
        """The how manyth call it is on both sides; 0 where a side has none."""
        return (
            self.before.number if self.before else 0,
            self.after.number if self.after else 0,
        )

    @property
    def is_later(self) -> bool:
        """Of a call that moved: whether it is made later than before."""
        return self.numbers[1] > self.numbers[0]


@dataclass(frozen=True)
class CallRow:
    """One call as each side made it; base and head are held against what was expected.

    Where nothing is expected, head is held against base.
    """

    expected: Place | None = None
    base: Place | None = None
    head: Place | None = None
    base_step: Step | None = None
    """Base against the expected calls; None where nothing is expected."""
    head_step: Step | None = None
    """None where neither head nor what it is held against has this call."""

    @property
    def is_quiet(self) -> bool:
        """Whether all sides agree."""
        steps = (self.base_step, self.head_step)
        return all(step is None or step.mark is Mark.SAME for step in steps)


def call_key(call: ToolUse) -> Hashable:
    """Equal for equal calls."""
    return call.name, frozen(call.args)


def steps(before: Sequence[ToolUse], after: Sequence[ToolUse]) -> tuple[Step, ...]:
    """The calls of `after` in their order, those that it lacks where `before` has them."""
    return tuple(_in_order(_with_pairs(before, after)))


def call_rows(turn: TurnEvidence) -> tuple[CallRow, ...]:
    """A turn's calls on all sides that it has, one row a call."""
    expected, base, head = turn.expected, turn.base, turn.head
    if expected is None:
        return tuple(_against_base(base, head))
    by_expected = steps(expected.tools, _tools(head)) if head is not None else ()
    rows = [CallRow(step.before, None, step.after, None, step) for step in by_expected]
    if head is None:
        rows = [CallRow(place) for place in _places(expected.tools)]
    return tuple(_with_base(rows, expected, base)) if base is not None else tuple(rows)


def _against_base(base: SideAnswer | None, head: SideAnswer | None) -> Iterator[CallRow]:
    if base is None or head is None:
        for place in _places(_tools(base or head)):
            yield CallRow(base=place if base else None, head=place if head else None)
        return
    for step in steps(base.tools, head.tools):
        yield CallRow(None, step.before, step.after, None, step)


def _with_base(rows: list[CallRow], expected: SideAnswer, base: SideAnswer) -> list[CallRow]:
    """Base's calls beside the expected ones they answer to, else beside head's, else on their own.

    What only base called stands behind what it called before.
    """
    against = steps(expected.tools, base.tools)
    by_expected = {step.numbers[0]: step for step in against if step.before}
    left = [step for step in against if step.before is None and step.after]
    placed: list[CallRow] = []
    for row in rows:
        step = by_expected.get(row.expected.number) if row.expected else _taken(row, left)
        placed.append(replace(row, base=step.after, base_step=step) if step else row)
    for step in left:
        placed.insert(_after_base(placed, step), CallRow(base=step.after, base_step=step))
    return placed


def _taken(row: CallRow, left: list[Step]) -> Step | None:
    """Of base's calls that nobody expected, the one that head makes too."""
    if row.head is None:
        return None
    key = call_key(row.head.call)
    found = next((s for s in left if s.after and call_key(s.after.call) == key), None)
    if found is not None:
        left.remove(found)
    return found


def _after_base(rows: Sequence[CallRow], step: Step) -> int:
    before = [n for n, row in enumerate(rows) if row.base and row.base.number < step.numbers[1]]
    return max(before, default=-1) + 1


def _tools(said: SideAnswer | None) -> tuple[ToolUse, ...]:
    return said.tools if said is not None else ()


def _places(tools: Sequence[ToolUse]) -> list[Place]:
    return [Place(number, call) for number, call in enumerate(tools, start=1)]


def _with_pairs(before: Sequence[ToolUse], after: Sequence[ToolUse]) -> list[Step]:
    old, new = _places(before), _places(after)
    same = _common([call_key(p.call) for p in old], [call_key(p.call) for p in new])
    found = [Step(Mark.SAME, old[i], new[k]) for i, k in same]
    used_old, used_new = ({pair[side] for pair in same} for side in (0, 1))
    left_old = [p for p in old if p.number - 1 not in used_old]
    left_new = [p for p in new if p.number - 1 not in used_new]
    found += _between_neighbours(left_old, left_new, same)
    found += _moved(left_old, left_new)
    found += [Step(Mark.MISSING, before=place) for place in left_old]
    found += [Step(Mark.ADDED, after=place) for place in left_new]
    return found


def _between_neighbours(
    old: list[Place], new: list[Place], same: Sequence[tuple[int, int]]
) -> Iterator[Step]:
    """Calls of the same tool between the same calls: other arguments.

    Not where the very same call is made elsewhere: that one has moved.
    """
    elsewhere = {call_key(p.call) for p in new} & {call_key(p.call) for p in old}

    def fits(was: Place, now: Place) -> bool:
        moved = call_key(was.call) in elsewhere or call_key(now.call) in elsewhere
        return was.call.name == now.call.name and not moved and gap(was, 0) == gap(now, 1)

    def gap(place: Place, side: int) -> int:
        return sum(pair[side] < place.number - 1 for pair in same)

    yield from (Step(Mark.CHANGED, was, now) for was, now in _take_pairs(old, new, fits))


def _moved(old: list[Place], new: list[Place]) -> Iterator[Step]:
    """The same call at another place; then a call of the same tool wherever it is."""
    for was, now in _take_pairs(old, new, lambda a, b: call_key(a.call) == call_key(b.call)):
        yield Step(Mark.MOVED, was, now)
    for was, now in _take_pairs(old, new, lambda a, b: a.call.name == b.call.name):
        yield Step(Mark.CHANGED, was, now)


def _take_pairs(
    old: list[Place], new: list[Place], fits: Callable[[Place, Place], bool]
) -> Iterator[tuple[Place, Place]]:
    """The first of `old` that fits each of `new`; both are taken out."""
    for now in list(new):
        was = next((place for place in old if fits(place, now)), None)
        if was is not None:
            old.remove(was)
            new.remove(now)
            yield was, now


def _in_order(found: Sequence[Step]) -> Iterator[Step]:
    """By `after`; a missing call stands behind what was called before it."""
    ordered = sorted((s for s in found if s.after), key=lambda s: s.numbers[1])
    anchors = [s for s in ordered if s.mark is Mark.SAME]
    behind: dict[int, list[Step]] = {}
    for step in sorted((s for s in found if not s.after), key=lambda s: s.numbers[0]):
        earlier = [a.numbers[1] for a in anchors if a.numbers[0] < step.numbers[0]]
        behind.setdefault(max(earlier, default=0), []).append(step)
    yield from behind.get(0, ())
    for step in ordered:
        yield step
        yield from behind.get(step.numbers[1], ())


def _common(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int]]:
    """The longest common subsequence, as pairs of places."""
    start = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
    start = min(len(old), len(new)) if start is None else start
    shared = [(n, n) for n in range(start)]
    rest = old[start:], new[start:]
    small = len(rest[0]) * len(rest[1]) <= _LARGEST_TABLE
    found = _table_walk(*rest) if small else _guessed(*rest)
    return shared + [(i + start, k + start) for i, k in found]


def _guessed(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        yield from ((block.a + n, block.b + n) for n in range(block.size))


def _table_walk(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    longest = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        for k in range(len(new) - 1, -1, -1):
            longest[i][k] = (
                longest[i + 1][k + 1] + 1
                if old[i] == new[k]
                else max(longest[i + 1][k], longest[i][k + 1])
            )
    i = k = 0
    while i < len(old) and k < len(new):
        if old[i] == new[k]:
            yield i, k
            i, k = i + 1, k + 1
        elif longest[i + 1][k] >= longest[i][k + 1]:
            i += 1
        else:
            k += 1
