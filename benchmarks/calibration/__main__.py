"""`python -m benchmarks.calibration`: the tables of docs/statistics.md, and whether they hold."""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from time import monotonic

from benchmarks.calibration.measure import Measured, Rates, measure
from benchmarks.calibration.power import pairs_table
from benchmarks.calibration.rows import (
    BROKEN,
    GAINS,
    HALF,
    LEAKS,
    NEARLY,
    OURS,
    SETS,
    UNCHANGED,
    EvalSet,
    promises,
    scenarios,
    too_dear,
)
from benchmarks.calibration.rules import RULES as ALL_RULES

RULES = [rule for rule in ALL_RULES if rule != "memory"]
"""`memory` has a grid of its own."""


def main() -> int:
    """Prints the tables as Markdown; 1 where a promise is not kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration")
    parser.add_argument("--pulls", type=int, default=4_000, help="pull requests a scenario")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    began = monotonic()
    measured = measure(scenarios(), chosen.pulls, processes=chosen.processes)
    for line in tables(measured):
        print(line)
    print(f"\n{chosen.pulls:,} pull requests a scenario.", flush=True)
    print(f"{monotonic() - began:.0f} s on {chosen.processes} cores", file=sys.stderr)
    broken = [*unkept(measured), *too_dear(measured)]
    for line in broken:
        print(f"not kept: {line}", file=sys.stderr)
    return 1 if broken else 0


def unkept(measured: Measured) -> Iterator[str]:
    """Promises that the draws do not bear out."""
    for one in promises(measured):
        if not one.kept:
            yield f"{one.what}: {one.rate:.2%} ({one.bound:.2%} sure), {one.kind} {one.limit:.1%}"


def tables(measured: Measured) -> Iterator[str]:
    """All of them."""
    yield "### Whole sets\n"
    yield "Unchanged and blocked / one case always failing found / one case .97 to .05 found /"
    yield "agent runs on an unchanged pull request, relative to one pass of both sides.\n"
    rows = ([one.name, *(_cell(measured, one, rule) for rule in RULES)] for one in SETS)
    yield from _table(["set", *(_name(rule) for rule in RULES)], rows)
    yield "\n### A few cases half broken\n"
    yield "Blocked / runs."
    yield from _blocked(measured, HALF)
    yield "\n### The slow leak\n"
    yield "Blocked / runs; for gradegate also: named as a leak of that criterion."
    yield from _blocked(measured, LEAKS, leaking=True)
    yield "\n### Improvements\n"
    yield "Blocked / runs; for gradegate also: the criterion called improved."
    yield from _blocked(measured, GAINS, improved=True)
    yield "\n### What half-broken cases would take\n"
    yield from _table(*pairs_table())


def _cell(measured: Measured, one: EvalSet, rule: str) -> str:
    def rates(what: str) -> Rates | None:
        return measured.get(one.scenario(what), {}).get(rule)

    same, broken, nearly = rates(UNCHANGED), rates(BROKEN), rates(NEARLY)
    if same is None or broken is None:
        return ""
    found = [_percent(broken.found, broken.pulls)]
    found += [_percent(nearly.found, nearly.pulls)] if nearly else []
    return " / ".join([_percent(same.blocked, same.pulls), *found, f"{same.cost:.2f}"])


def _blocked(
    measured: Measured, names: Iterable[str], *, leaking: bool = False, improved: bool = False
) -> Iterator[str]:
    def cell(name: str, rule: str) -> str:
        rates = measured[name][rule]
        parts = [_percent(rates.blocked, rates.pulls), f"{rates.cost:.2f}"]
        if rule == OURS and leaking:
            parts.append(_percent(rates.leaking, rates.pulls))
        if rule == OURS and improved:
            parts.append(_percent(rates.improved, rates.pulls))
        return " / ".join(parts)

    yield ""
    rows = ([name, *(cell(name, rule) for rule in RULES)] for name in names)
    yield from _table(["pull request", *(_name(rule) for rule in RULES)], rows)


def _table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join('---' for _ in head)} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _name(rule: str) -> str:
    return f"**{rule}**" if rule == OURS else rule


def _percent(happened: int, pulls: int) -> str:
    share = 100 * happened / pulls
    return f"{share:.1f}" if 0 < share < 10 else f"{share:.0f}"


if __name__ == "__main__":
    sys.exit(main())
