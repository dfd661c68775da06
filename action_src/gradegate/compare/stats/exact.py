"""Exact tests for pass and fail, and the two corrections for testing many things at once."""

import json
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).with_name("boschloo.json")


class Count(NamedTuple):
    """How many of a side's runs passed."""

    passed: int
    runs: int

    @classmethod
    def of(cls, runs: Iterable[bool]) -> "Count":
        """Counts runs, each given as whether it passed."""
        results = tuple(runs)
        return cls(sum(results), len(results))


@lru_cache(maxsize=65_536)
def worse(base: Count, head: Count) -> float:
    """How often two equal sides would show a drop at least as clear as this one.

    Boschloo's exact test, one-sided. It makes no assumption about how often the case passes:
    the figure holds for the pass rate that makes such a drop most likely.
    """
    if base.passed * head.runs <= head.passed * base.runs:
        return 1.0  # no drop at all; saves the search for a figure that nobody acts on
    if base.runs == head.runs <= len(_tabulated()):
        return _tabulated()[base.runs - 1][base.passed - 1][head.passed]
    return computed(base, head)


@cache
def _tabulated() -> list[list[list[float]]]:
    """By runs a side, passed on base and passed on head: scipy.stats takes a second to import."""
    found: list[list[list[float]]] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


def computed(base: Count, head: Count) -> float:
    """The same, worked out by scipy."""
    from scipy.stats import boschloo_exact

    # scipy takes the groups as columns; rows are passed and failed
    table = [[base.passed, head.passed], [base.runs - base.passed, head.runs - head.passed]]
    return min(1.0, float(boschloo_exact(table, alternative="greater").pvalue))


def benjamini_hochberg(p_values: Sequence[float], level: float) -> tuple[bool, ...]:
    """Which of these hold together, with at most `level` of false ones expected among them.

    The largest r so that r of the p-values are at most level · r / (how many there are).
    """
    family = len(p_values)
    ranked = enumerate(sorted(p_values), 1)
    held = max((rank for rank, p in ranked if p <= level * rank / family), default=0)
    return tuple(held > 0 and p <= level * held / family for p in p_values)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p-values: each at most x holds, with a chance of at most x of any false one."""
    family = len(p_values)
    order = sorted(range(family), key=p_values.__getitem__)
    steps = (p_values[at] * (family - rank) for rank, at in enumerate(order))
    adjusted = dict(zip(order, accumulate(steps, max), strict=True))
    return tuple(min(1.0, adjusted[at]) for at in range(family))
