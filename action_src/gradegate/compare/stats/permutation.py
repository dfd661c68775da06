"""Could the labels "base" and "head" have been dealt out by chance?

If a pull request changes nothing, then within a case any of its runs might as well have carried
the other side's name. So: deal the names anew in every way (or in 20,000 drawn ones), and count
how often the mean difference comes out at least as far down (or up) as it did.

All sums are of integers, so that ties are ties and the answer is the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, frexp, lcm, prod
from typing import TYPE_CHECKING, Literal, NamedTuple

from gradegate.compare.stats.special import special

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

EXACT_WAYS = 2**16
"""Up to so many ways to deal, all are looked at: 16 cases that differ, one run a side."""
DRAWS = 20_000
MANY_CASES = 1_000
"""Above this the sum is normal for every purpose."""
MOST_TABLED = 20_000_000
"""Ways to deal, summed over the cases, that are still worth writing down."""
MOST_COMMON = 10_000
"""Least common multiple of the numbers of runs, above which whole numbers grow too long."""
MERGED = 2_048


class Tails(NamedTuple):
    """How often chance alone goes at least as far."""

    down: float
    up: float
    method: Literal["exact", "drawn", "normal"]


@dataclass(frozen=True)
class Group:
    """Cases with the same numbers of runs: one row a case, one column a run."""

    base: NDArray[np.float64]
    head: NDArray[np.float64]

    @property
    def shape(self) -> tuple[int, int]:
        """Runs a side."""
        return self.base.shape[1], self.head.shape[1]

    def differences(self) -> NDArray[np.float64]:
        """Head's mean less base's, by case."""
        difference: NDArray[np.float64] = self.head.mean(axis=1) - self.base.mean(axis=1)
        return difference


def tails(groups: Sequence[Group]) -> Tails:
    """Chances of a mean difference as low, and as high, as the one observed."""
    apart = [group for group in map(_that_vary, groups) if len(group.base)]
    if not apart:
        return Tails(1.0, 1.0, "exact")
    if len(apart) == 1 and _two_valued(apart[0]):
        counted = _counted(apart[0])
        if counted:
            return counted
    ways = [comb(sum(group.shape), group.shape[0]) for group in apart]
    sizes = [len(group.base) for group in apart]
    tabled = sum(way * size for way, size in zip(ways, sizes, strict=True))
    if sum(sizes) > MANY_CASES or tabled > MOST_TABLED or _common(apart) > MOST_COMMON:
        return _normal(apart)
    units = _Units.of(apart)
    tables = [units.dealt(group) for group in apart]
    few = prod(way**size for way, size in zip(ways, sizes, strict=True)) <= EXACT_WAYS
    return _exact(units, tables) if few else _drawn(units, tables)


def _that_vary(group: Group) -> Group:
    """Leaves out cases whose runs all scored the same: however dealt, they add nothing."""
    import numpy as np

    runs = np.concatenate([group.base, group.head], axis=1)
    vary = np.ptp(runs, axis=1) > 0
    return Group(group.base[vary], group.head[vary])


def _two_valued(group: Group) -> bool:
    low, high = min(group.base.min(), group.head.min()), max(group.base.max(), group.head.max())
    return bool(
        ((group.base == low) | (group.base == high)).all()
        and ((group.head == low) | (group.head == high)).all()
    )


def _counted(group: Group) -> Tails | None:
    """Pass and fail: how many of head's runs pass is a sum of simple draws, so no search.

    None where that would take too long (several runs a side of very many cases).
    """
    import numpy as np

    bdtr = special().bdtr
    high = max(group.base.max(), group.head.max())
    passed = int((group.head == high).sum())
    if group.shape == (1, 1):  # each case that differs went up or down, like a coin
        cases = len(group.head)
        up = 1.0 if passed == 0 else float(bdtr(cases - passed, cases, 0.5))
        return Tails(float(bdtr(passed, cases, 0.5)), up, "exact")
    if len(group.head) > MANY_CASES:
        return None
    on_base, on_head = group.shape
    chances = np.ones(1)
    for passes in (group.base == high).sum(axis=1) + (group.head == high).sum(axis=1):
        chances = np.convolve(chances, _share_of_head(int(passes), on_base, on_head))
    down, up = chances[: passed + 1].sum(), chances[passed:].sum()
    return Tails(min(1.0, float(down)), min(1.0, float(up)), "exact")


def _share_of_head(passes: int, on_base: int, on_head: int) -> list[float]:
    """Chances that 0, 1, 2… of a case's passes fall to head."""
    every = comb(on_base + on_head, on_head)
    fails = on_base + on_head - passes
    most = min(passes, on_head)
    return [comb(passes, k) * comb(fails, on_head - k) / every for k in range(most + 1)]


@dataclass(frozen=True)
class _Units:
    """Scores as integers: fine enough to lose nothing, coarse enough to sum without overflow."""

    exponent: int
    common: int
    """Means over different numbers of runs become whole when multiplied by this."""
    observed: int
    slack: int
    """What rounding can have added up to: sums no further apart are equal."""

    @classmethod
    def of(cls, groups: Sequence[Group]) -> _Units:
        common = _common(groups)
        values = sum(group.base.size + group.head.size for group in groups)
        largest = max(float(abs(side).max()) for g in groups for side in (g.base, g.head))
        bits = min(40, 60 - (2 * common * values).bit_length())
        units = cls(bits - frexp(largest)[1], common, 0, common * values)
        observed = sum(units._observed(group) for group in groups)
        return cls(units.exponent, common, observed, units.slack)

    def whole(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        import numpy as np

        return np.rint(np.ldexp(scores, self.exponent)).astype(np.int64)

    def _observed(self, group: Group) -> int:
        on_base, on_head = group.shape
        head, base = int(self.whole(group.head).sum()), int(self.whole(group.base).sum())
        return head * (self.common // on_head) - base * (self.common // on_base)

    def dealt(self, group: Group) -> NDArray[np.int64]:
        """A row a case: its difference for each way of dealing out the names."""
        import numpy as np

        on_base, on_head = group.shape
        runs = np.concatenate([self.whole(group.base), self.whole(group.head)], axis=1)
        chosen = np.zeros((comb(on_base + on_head, on_head), on_base + on_head), dtype=np.int64)
        for row, heads in zip(chosen, combinations(range(on_base + on_head), on_head), strict=True):
            row[list(heads)] = 1
        weights = chosen * (self.common // on_head) - (1 - chosen) * (self.common // on_base)
        differences: NDArray[np.int64] = runs @ weights.T
        return differences


def _common(groups: Sequence[Group]) -> int:
    return lcm(*(runs for group in groups for runs in group.shape))


def _exact(units: _Units, tables: Sequence[NDArray[np.int64]]) -> Tails:
    import numpy as np

    sums = np.zeros(1, dtype=np.int64)
    for row in (row for table in tables for row in table):
        sums = np.add.outer(sums, row).ravel()
    down = int((sums <= units.observed + units.slack).sum())
    up = int((sums >= units.observed - units.slack).sum())
    return Tails(down / len(sums), up / len(sums), "exact")


def _drawn(units: _Units, tables: Sequence[NDArray[np.int64]]) -> Tails:
    """The seed comes from the scores, and the generator's raw stream is fixed for good."""
    import numpy as np

    stream = np.random.PCG64(_seed(units, tables))
    sums = np.zeros(DRAWS, dtype=np.int64)
    for row in (row for table in tables for row in _merged(table)):
        raw = stream.random_raw(DRAWS // 2).astype("<u8").view("<u4").astype(np.uint64)
        sums += row[((raw * np.uint64(len(row))) >> np.uint64(32)).astype(np.intp)]
    down = int((sums <= units.observed + units.slack).sum())
    up = int((sums >= units.observed - units.slack).sum())
    return Tails((down + 1) / (DRAWS + 1), (up + 1) / (DRAWS + 1), "drawn")


def _seed(units: _Units, tables: Sequence[NDArray[np.int64]]) -> int:
    from hashlib import sha256

    digest = sha256(repr((units.exponent, units.common, units.observed)).encode())
    for table in tables:
        digest.update(table.astype("<i8").tobytes())
    return int.from_bytes(digest.digest()[:16], "big")


def _merged(table: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Fewer and longer rows to draw from: two cases' ways together are one row of pairs."""
    import numpy as np

    while len(table) > 1 and table.shape[1] ** 2 <= MERGED:
        if len(table) % 2:  # a case that never differs changes nothing and makes them even
            table = np.concatenate([table, np.zeros((1, table.shape[1]), dtype=np.int64)])
        table = (table[0::2, :, None] + table[1::2, None, :]).reshape(len(table) // 2, -1)
    yield from table


def _normal(groups: Sequence[Group]) -> Tails:
    import numpy as np

    observed = sum(float(group.differences().sum()) for group in groups)
    variance = 0.0
    for group in groups:
        runs = np.concatenate([group.base, group.head], axis=1)
        shares = sum(1 / runs_of_side for runs_of_side in group.shape)
        variance += float(runs.var(axis=1, ddof=1).sum()) * shares
    z = observed / variance**0.5
    return Tails(float(special().ndtr(z)), float(special().ndtr(-z)), "normal")
