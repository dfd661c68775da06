"""How much more likely is what head did if the case broke than if nothing changed?

That ratio is a Bayes factor. At 1 the runs say nothing, at 200 they speak for a broken case two
hundred times as loudly as for an unchanged one. It needs three things to be put down beforehand:

- how often cases pass when nothing is wrong (`_prior`): nearly always, or often, or anything;
- what a broken case is like: it passes at nine equally likely shares, from none to two thirds, of
  its old rate;
- what a day is like: most are as every day, on some the service is worse and all cases pass less
  often. Base's earlier runs are of other days, and head's of today.

What base did before narrows the first down, what head does over the whole set the third.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gradegate.compare.stats.exact import Count

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    Grid: TypeAlias = NDArray[np.float64]
    """Mostly by pass rate and day."""

CELLS = 200
NEARLY_ALWAYS, OFTEN, ANY = 0.4, 0.3, 0.3
"""How many cases pass nearly always, Beta(30, 0.3), often, Beta(4, 1), at any rate, Beta(1, 1)."""
DAYS = (1.0, 0.97, 0.94, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.35)
"""What every pass rate may be multiplied by today."""
AS_EVER = 0.7
"""How likely a day is like the others before anything is run; the worse ones share the rest."""
BROKEN_SHARES, MOST_OF_OLD, LEAST_RATE = 9, 0.65, 0.01
"""A broken case passes at 0 to 0.65 of its old rate, but never quite never."""

Day: TypeAlias = tuple[float, ...]
"""How likely each of `DAYS` is."""
ORDINARY: Day = (1.0, *(0.0 for _ in DAYS[1:]))
"""Base and head are known to be of the same day."""


class _Tables(NamedTuple):
    """The grid, worked out once."""

    prior: Grid
    passes: Grid
    """Logarithms of the pass rates, and of the fail rates beside."""
    fails: Grid
    passes_today: Grid
    fails_today: Grid
    passes_broken: Grid
    fails_broken: Grid


@cache
def _tables() -> _Tables:
    import numpy as np

    edges = np.linspace(0.0, 1.0, CELLS + 1)
    rates = (edges[:-1] + edges[1:]) / 2
    today = rates[:, None] * np.array(DAYS)
    shares = np.linspace(0.0, MOST_OF_OLD, BROKEN_SHARES)
    broken = np.maximum(LEAST_RATE, today * shares[:, None, None])
    logs = [log(rate) for rate in (rates, today, broken) for log in (np.log, _log_of_rest)]
    return _Tables(_prior(edges), *logs)


def _log_of_rest(rates: Grid) -> Grid:
    import numpy as np

    return np.log1p(-rates)


def _prior(edges: Grid) -> Grid:
    """How likely each cell is.

    The density of Beta(30, 0.3) has no end at 1, so it is summed up in t = (1 - p) ** 0.3, in
    which it is smooth.
    """
    import numpy as np

    points, weights = np.polynomial.legendre.leggauss(8)
    t = (1.0 - edges) ** 0.3
    middle, half = (t[:-1] + t[1:]) / 2, (t[:-1] - t[1:]) / 2
    inside = middle[:, None] + half[:, None] * points
    near_one = ((1.0 - inside ** (1 / 0.3)) ** 29 @ weights) * half
    prior: Grid = (
        NEARLY_ALWAYS * near_one / near_one.sum() + OFTEN * np.diff(edges**4) + ANY * np.diff(edges)
    )
    return prior


@lru_cache(maxsize=4_096)
def _given(earlier: Count) -> Grid:
    """How likely each pass rate is, after base's earlier runs."""
    import numpy as np

    tables = _tables()
    weights = tables.prior * np.exp(
        earlier.passed * tables.passes + (earlier.runs - earlier.passed) * tables.fails
    )
    found: Grid = weights / weights.sum()
    return found


@lru_cache(maxsize=4_096)
def _unchanged(runs: Count) -> Grid:
    """How likely these runs are at each pass rate on each day."""
    import numpy as np

    tables, failed = _tables(), runs.runs - runs.passed
    found: Grid = np.exp(runs.passed * tables.passes_today + failed * tables.fails_today)
    return found


@lru_cache(maxsize=4_096)
def _broken(runs: Count) -> Grid:
    """The same if the case broke."""
    import numpy as np

    tables, failed = _tables(), runs.runs - runs.passed
    found: Grid = np.exp(runs.passed * tables.passes_broken + failed * tables.fails_broken)
    mean: Grid = found.mean(axis=0)
    return mean


@lru_cache(maxsize=65_536)
def bayes_factor(earlier: Count, base: Count, head: Count, day: Day = ORDINARY) -> float:
    """For a broken case against an unchanged one.

    `earlier` are base's runs of other days, `base` and `head` those of today.
    """
    import numpy as np

    weights = _given(earlier)[:, None] * np.array(day) * _unchanged(base)
    broken, unchanged = ((weights * seen(head)).sum() for seen in (_broken, _unchanged))
    return float(broken / unchanged)


@lru_cache(maxsize=16_384)
def _by_day(earlier: Count, runs: Count) -> Grid:
    """How likely runs are on each day, if nothing changed."""
    found: Grid = _given(earlier) @ _unchanged(runs)
    return found


def day_of(cases: Iterable[tuple[Count, Count]]) -> Day:
    """What kind of day it is, by base's earlier runs of each case and head's of today."""
    import numpy as np

    rest = len(DAYS) - 1
    logs = np.log([AS_EVER, *([(1 - AS_EVER) / rest] * rest)])
    for earlier, today in cases:
        logs = logs + np.log(_by_day(earlier, today))
    likely = np.exp(logs - logs.max())
    return tuple((likely / likely.sum()).tolist())


@lru_cache(maxsize=16_384)
def chance_of_failures(earlier: Count, seen: Count, day: Day = ORDINARY) -> float:
    """How likely at least so many failures are, if nothing changed."""
    from math import comb

    import numpy as np

    failed = seen.runs - seen.passed
    return float(
        sum(
            comb(seen.runs, number)
            * (np.array(day) @ _by_day(earlier, Count(seen.runs - number, seen.runs)))
            for number in range(failed, seen.runs + 1)
        )
    )


def pass_rate_interval(seen: Count, share: float = 0.9) -> tuple[float, float]:
    """Between which pass rates the true one lies, with this much of the probability."""
    import numpy as np

    sums = np.cumsum(_given(seen))
    tail = (1.0 - share) / 2
    low = int(np.searchsorted(sums, tail))
    high = int(np.searchsorted(sums, 1.0 - tail))
    return low / CELLS, min(high + 1, CELLS) / CELLS


def passes_every_time(seen: Count, runs: int) -> float:
    """How likely a case is to pass so many runs of so many (pass^k)."""
    return float(_by_day(seen, Count(runs, runs))[0])
