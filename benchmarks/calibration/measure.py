"""Many pull requests through the rules, and whether a rate keeps its promise."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Literal
from zlib import crc32

import numpy as np
from scipy.stats import binomtest

from benchmarks.calibration.rules import RULES, Ruling
from benchmarks.calibration.world import Pull, World

CHUNK = 200
SURE = 0.95


@dataclass(frozen=True)
class Scenario:
    """A kind of pull request, and which rules to show it to."""

    name: str
    world: World
    rules: tuple[str, ...] = tuple(rule for rule in RULES if rule != "memory")
    """`memory` has a grid of its own."""


@dataclass(frozen=True)
class Rates:
    """What one rule made of all pull requests of a scenario."""

    pulls: int
    blocked: int
    found: int
    leaking: int
    improved: int
    cost: float
    named: float
    inconclusive: int = 0

    @classmethod
    def of(cls, rulings: Sequence[Ruling]) -> "Rates":
        return cls(
            pulls=len(rulings),
            blocked=sum(ruling.blocked for ruling in rulings),
            found=sum(ruling.found for ruling in rulings),
            leaking=sum(ruling.leaking for ruling in rulings),
            improved=sum(ruling.improved for ruling in rulings),
            cost=float(np.mean([ruling.cost for ruling in rulings])),
            named=float(np.mean([ruling.named for ruling in rulings])),
            inconclusive=sum(ruling.inconclusive for ruling in rulings),
        )


Measured = Mapping[str, Mapping[str, Rates]]
"""Scenario, rule: rates."""


@dataclass(frozen=True)
class Promise:
    """A rate that must keep to a limit, by more than luck of the draw could explain."""

    what: str
    happened: int
    pulls: int
    kind: Literal["at most", "at least"]
    limit: float

    @property
    def rate(self) -> float:
        return self.happened / self.pulls

    @property
    def bound(self) -> float:
        """Where the true rate still lies with 95 % confidence (Clopper and Pearson)."""
        test = binomtest(self.happened, self.pulls, self.limit, self._side())
        interval = test.proportion_ci(SURE, "exact")
        return float(interval.high if self.kind == "at most" else interval.low)

    @property
    def kept(self) -> bool:
        return self.bound <= self.limit if self.kind == "at most" else self.bound >= self.limit

    def _side(self) -> Literal["less", "greater"]:
        return "less" if self.kind == "at most" else "greater"


def measure(scenarios: Iterable[Scenario], pulls: int, *, processes: int = 1) -> Measured:
    """Runs every scenario; the same draws whatever the number of processes."""
    chosen = {scenario.name: scenario for scenario in scenarios}
    jobs = [
        (s, start, min(CHUNK, pulls - start))
        for s in chosen.values()
        for start in range(0, pulls, CHUNK)
    ]
    jobs.sort(
        key=lambda job: -job[0].world.base.size
    )  # the long ones first: nobody waits at the end
    rulings: dict[str, dict[str, list[Ruling]]] = {
        name: {rule: [] for rule in scenario.rules} for name, scenario in chosen.items()
    }
    for name, chunk in _each(jobs, processes):
        for rule, found in chunk.items():
            rulings[name][rule] += found
    return {
        name: {rule: Rates.of(found) for rule, found in by_rule.items()}
        for name, by_rule in rulings.items()
    }


Job = tuple[Scenario, int, int]
Chunk = tuple[str, dict[str, list[Ruling]]]


def _each(jobs: list[Job], processes: int) -> Iterator[Chunk]:
    if processes == 1:
        yield from map(_chunk, jobs)
        return
    with get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(_chunk, jobs)


def _chunk(job: Job) -> Chunk:
    scenario, start, pulls = job
    found: dict[str, list[Ruling]] = {rule: [] for rule in scenario.rules}
    for number in range(start, start + pulls):
        rng = np.random.default_rng([crc32(scenario.name.encode()), number])
        pull = Pull(scenario.world, rng)
        for rule in scenario.rules:
            found[rule].append(RULES[rule](pull))
    return scenario.name, found
