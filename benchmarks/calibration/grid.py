"""`python -m benchmarks.calibration.grid`: the rule `memory` beside `exact`, on a fixed grid.

Each row shows one effect. Unchanged pull requests must be blocked in at most 2 % of all, with 95 %
confidence; what must be found says so beside its row. Exits 1 where that is not borne out.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.measure import Promise, Rates, Scenario, measure
from benchmarks.calibration.world import (
    World,
    broken,
    flaky,
    graded,
    mixed,
    stable,
    unchanged,
)

MOST_BLOCKED, LEAST_BROKEN = 0.02, 0.99
LARGE, LARGE_SHARE = 500, 0.25
"""Of a set of so many cases fewer pull requests are drawn."""
BOTH, MEMORY = ("exact", "memory"), ("memory",)


@dataclass(frozen=True)
class Row:
    """A kind of pull request, and what is promised of it."""

    name: str
    world: World
    rules: tuple[str, ...] = BOTH
    found: float | None = None
    """The least share of these that `memory` must find; None: nothing changed."""

    def pulls(self, usual: int) -> int:
        """How many are drawn."""
        return round(usual * LARGE_SHARE) if self.world.cases >= LARGE else usual


def beta(a: float, b: float, cases: int = 50) -> World:
    """Cases drawn anew for each pull request."""

    def draw(rng: np.random.Generator) -> NDArray[np.float64]:
        return rng.beta(a, b, cases)

    return replace(unchanged(mixed, cases, 1), draw=draw)


def zero_inflated(cases: int = 50) -> World:
    """Six in ten always pass, two never do, two do anything."""

    def draw(rng: np.random.Generator) -> NDArray[np.float64]:
        kinds = rng.random(cases)
        return np.where(kinds < 0.6, 1.0, np.where(kinds < 0.8, 0.0, rng.random(cases)))

    return replace(unchanged(mixed, cases, 1), draw=draw)


MIXED, GRADED = unchanged(mixed, 50, 1), unchanged(graded, 50, 1)
TWO = replace(MIXED, runs=2)
BEFORE = np.where(np.arange(50)[:, None] < 5, 0.2, MIXED.base)

UNCHANGED = [
    Row("mixed, no history", MIXED),
    Row("mixed, history of 5", replace(MIXED, history=5), MEMORY),
    Row("mixed, history of 20", replace(MIXED, history=20), MEMORY),
    Row("mixed, history of 20, two runs", replace(TWO, history=20), MEMORY),
    Row("mixed, history of 50", replace(MIXED, history=50), MEMORY),
    Row("stable, history of 20", replace(unchanged(stable, 50, 1), history=20), MEMORY),
    Row("flaky, no history", unchanged(flaky, 50, 1)),
    Row("flaky, history of 20", replace(unchanged(flaky, 50, 1), history=20), MEMORY),
    Row("Beta(8,1), no history", beta(8, 1)),
    Row("Beta(8,1), history of 20, day x.95", replace(beta(8, 1), history=20, today=0.95), MEMORY),
    Row("Beta(8,1), history of 50, day x.9", replace(beta(8, 1), history=50, today=0.9), MEMORY),
    Row("Beta(2,1), history of 5", replace(beta(2, 1), history=5), MEMORY),
    Row("Beta(1,1), history of 20", replace(beta(1, 1), history=20), MEMORY),
    Row("zero-inflated, history of 20", replace(zero_inflated(), history=20), MEMORY),
    Row("7 correlated criteria, no history", unchanged(mixed, 50, 7)),
    Row("7 correlated criteria, history", replace(unchanged(mixed, 50, 7), history=20), MEMORY),
    Row("5 % crashes, no history", replace(MIXED, crashes=0.05)),
    Row("10 % crashes, history of 20", replace(MIXED, crashes=0.1, history=20), MEMORY),
    Row("judge unsure, history of 20", replace(MIXED, noisy_judge=True, history=20), MEMORY),
    Row("mixed, history of 20, day x.97", replace(MIXED, history=20, today=0.97), MEMORY),
    Row("mixed, history of 50, day x.7", replace(MIXED, history=50, today=0.7), MEMORY),
    Row("graded, stored base, day -.05", replace(GRADED, stored=True, today=-0.05)),
    Row("graded, history of 20", replace(GRADED, history=20), MEMORY),
    Row("graded, history of 20, day -.03", replace(GRADED, history=20, today=-0.03), MEMORY),
    Row("graded, history of 20, day -.05", replace(GRADED, history=20, today=-0.05), MEMORY),
    Row("five repaired within the history", replace(MIXED, history=40, before=BEFORE), MEMORY),
    Row("10 cases, history of 20", replace(unchanged(mixed, 10, 1), history=20), MEMORY),
    Row("500 cases, history of 20", replace(unchanged(mixed, 500, 1), history=20), MEMORY),
]
ONE, HALF = broken(MIXED, 1.0, 0.0), broken(MIXED, 0.95, 0.5)
FOUND = [
    Row("1 to 0, no history", ONE, BOTH, LEAST_BROKEN),
    Row("1 to 0, history of 20", replace(ONE, history=20), MEMORY, LEAST_BROKEN),
    Row(
        "1 to 0, history of 20, day x.7", replace(ONE, history=20, today=0.7), MEMORY, LEAST_BROKEN
    ),
    Row(".95 to .5, no history", HALF, BOTH, 0.20),
    Row(".95 to .5, history of 20", replace(HALF, history=20), MEMORY, 0.28),
    Row(".95 to .5, history of 50", replace(HALF, history=50), MEMORY, 0.35),
    Row(".95 to .5, history of 20, two runs", replace(HALF, history=20, runs=2), MEMORY, 0.40),
    Row(".95 to .5, history of 50, two runs", replace(HALF, history=50, runs=2), MEMORY, 0.50),
    Row(
        "five .95 to .7, history of 20, two runs",
        replace(broken(MIXED, 0.95, 0.7, cases=5), history=20, runs=2),
        MEMORY,
        0.25,
    ),
]
GRID = [*UNCHANGED, *FOUND]


def main() -> int:
    """Prints a line a row, as it is measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration.grid")
    parser.add_argument("--pulls", type=int, default=2_000, help="pull requests a row")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default="", help="rows whose name has this")
    chosen = parser.parse_args()
    print("| pull request | rule | blocked (at most) | found | inconclusive | runs |")
    print("| --- | --- | --- | --- | --- | --- |")
    unkept = []
    began = monotonic()
    for row in GRID:
        if chosen.only in row.name:
            pulls = row.pulls(chosen.pulls)
            (measured,) = measure(
                [Scenario(row.name, row.world, row.rules)], pulls, processes=chosen.processes
            ).values()
            for rule, rates in measured.items():
                print(_line(row, rule, rates), flush=True)
                unkept += [f"{row.name}, {rule}: {told}" for told in _unkept(row, rule, rates)]
    print(f"{monotonic() - began:.0f} s", file=sys.stderr)
    for told in unkept:
        print(f"not kept: {told}", file=sys.stderr)
    return 1 if unkept else 0


def _line(row: Row, rule: str, rates: Rates) -> str:
    blocked = _promise(row, rates)
    happened = f"{100 * rates.blocked / rates.pulls:.2f}"
    bound = f" ({100 * blocked.bound:.2f})" if row.found is None else ""
    found = "" if row.found is None else f"{100 * _found(row, rates) / rates.pulls:.1f}"
    inconclusive = f"{100 * rates.inconclusive / rates.pulls:.1f}"
    return (
        f"| {row.name} | {rule} | {happened}{bound} | {found} | {inconclusive} | {rates.cost:.2f} |"
    )


def _found(row: Row, rates: Rates) -> int:
    """One case by its name; of several, that the pull request is blocked."""
    return rates.blocked if row.name.startswith("five") else rates.found


def _promise(row: Row, rates: Rates) -> Promise:
    if row.found is None:
        return Promise(row.name, rates.blocked, rates.pulls, "at most", MOST_BLOCKED)
    return Promise(row.name, _found(row, rates), rates.pulls, "at least", row.found)


def _unkept(row: Row, rule: str, rates: Rates) -> Iterator[str]:
    """What is found binds `memory`, what is blocked both rules."""
    if row.found is not None and rule == "exact":
        return
    promise = _promise(row, rates)
    kept = promise.kept if row.found in (None, LEAST_BROKEN) else promise.rate >= promise.limit
    if not kept:
        yield f"{promise.rate:.2%} ({promise.bound:.2%} sure), {promise.kind} {promise.limit:.0%}"


if __name__ == "__main__":
    sys.exit(main())
