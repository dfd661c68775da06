"""How many fresh pairs it would take to tell a half-broken case from a flaky one."""

import numpy as np
from scipy.stats import binom

from benchmarks.calibration.rules import ALPHA
from gradegate.compare.confirm import CASE_SHARE
from gradegate.compare.stats.exact import Count, worse

CHANGES = ((0.97, 0.05), (0.95, 0.3), (0.95, 0.5), (0.95, 0.7), (0.7, 0.3), (0.7, 0.05))
MOST_PAIRS = 60
WANTED = 0.9


def pairs_table() -> tuple[list[str], list[list[str]]]:
    """For one suspect: its chance to be confirmed with 16 pairs, and the pairs for nine in ten."""
    head = ["case passes, base to head", "found with 16 pairs", "pairs to find 9 in 10"]
    return head, [
        [
            f"{before:g} to {after:g}",
            f"{100 * power(before, after, 16):.0f} %",
            needed(before, after),
        ]
        for before, after in CHANGES
    ]


def needed(before: float, after: float) -> str:
    """The fewest pairs, as text."""
    for pairs in range(4, MOST_PAIRS + 1, 2):
        if power(before, after, pairs) >= WANTED:
            return str(pairs)
    return f"more than {MOST_PAIRS}"


def power(before: float, after: float, pairs: int) -> float:
    """The chance that the exact test over so many pairs holds at the level of one suspect."""
    runs = np.arange(pairs + 1)
    base, head = binom.pmf(runs, pairs, before), binom.pmf(runs, pairs, after)
    reached, most = 0.0, -1
    for passed in runs:  # the more base passes, the more head may pass too
        while most < passed and worse(Count(int(passed), pairs), Count(most + 1, pairs)) <= LEVEL:
            most += 1
        reached += base[passed] * head[: most + 1].sum()
    return float(reached)


LEVEL = ALPHA * CASE_SHARE
