"""Pull requests made up: agents that pass each case with a known chance, or score with known noise.

Every draw of a pull request comes from its own seed, and runs in one role are drawn once:
the rules that are compared all see the same runs.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from gradegate.model.runs import Role, SideName

CORRELATION = 0.5
"""Between criteria of one run: an answer that goes wrong tends to fail several at once."""
PAIRED_SD = 0.1
"""Of the difference between two runs of a case, for criteria with scores in between."""
THRESHOLD = 0.7
RUNS_AT_ONCE = 8


class Runs(NamedTuple):
    """Runs of some cases: case, run, criterion."""

    scores: NDArray[np.float64]
    passed: NDArray[np.bool_]


@dataclass(frozen=True)
class World:
    """What is true of the two sides: a figure for each case and criterion."""

    base: NDArray[np.float64]
    head: NDArray[np.float64]
    continuous: bool = False
    """The figure is a mean score, where it otherwise is the chance to pass."""

    @property
    def cases(self) -> int:
        return len(self.base)

    @property
    def criteria(self) -> int:
        return int(self.base.shape[1])

    @cached_property
    def edges(self) -> dict[SideName, NDArray[np.float64]]:
        """Where a normal draw must stay below to pass."""
        return {"base": ndtri(self.base), "head": ndtri(self.head)}

    def run(
        self, rng: np.random.Generator, side: SideName, cases: NDArray[np.intp] | slice, runs: int
    ) -> Runs:
        truth = (self.base if side == "base" else self.head)[cases][:, None, :]
        shared = rng.standard_normal((len(truth), runs, 1))
        own = rng.standard_normal((len(truth), runs, self.criteria))
        noise = CORRELATION**0.5 * shared + (1 - CORRELATION) ** 0.5 * own
        if self.continuous:
            scores = np.clip(truth + noise * PAIRED_SD / 2**0.5, 0.0, None)
            return Runs(scores, scores >= THRESHOLD)
        passed = noise < self.edges[side][cases][:, None, :]
        return Runs(passed.astype(np.float64), passed)


@dataclass
class Pull:
    """One pull request's runs, drawn when they are first asked for."""

    world: World
    rng: np.random.Generator
    _passes: dict[SideName, list[Runs]] = field(default_factory=lambda: {"base": [], "head": []})
    _fresh: dict[tuple[Role, SideName, int], list[tuple[bool, ...]]] = field(default_factory=dict)

    def full_pass(self, side: SideName, number: int) -> Runs:
        """The first, second, third… run of every case."""
        done = self._passes[side]
        while len(done) < number:
            done.append(self.world.run(self.rng, side, slice(None), 1))
        return done[number - 1]

    def fresh(self, role: Role, side: SideName, case: int, runs: int) -> list[tuple[bool, ...]]:
        """A case's first so many runs in a role: what each criterion said."""
        known = self._fresh.setdefault((role, side, case), [])
        while len(known) < runs:
            drawn = self.world.run(self.rng, side, np.array([case]), RUNS_AT_ONCE)
            known += [tuple(row) for row in drawn.passed[0].tolist()]
        return known[:runs]


def stable(cases: int) -> NDArray[np.float64]:
    """Every case passes 99 times in 100."""
    return np.full(cases, 0.99)


def mixed(cases: int) -> NDArray[np.float64]:
    """Seven in ten always pass, two pass 95 times in 100, one passes 70 times."""
    return np.repeat([1.0, 0.95, 0.7], [cases * 7 // 10, cases * 2 // 10, cases // 10])


def flaky(cases: int) -> NDArray[np.float64]:
    """Every case passes 70 times in 100."""
    return np.full(cases, 0.7)


def graded(cases: int) -> NDArray[np.float64]:
    """Mean scores from just above the threshold to nearly perfect."""
    return np.linspace(0.72, 0.98, cases)


def unchanged(profile: Callable[[int], NDArray[np.float64]], cases: int, criteria: int) -> World:
    """Head is base."""
    truth = np.repeat(profile(cases)[:, None], criteria, axis=1)
    return World(truth, truth, continuous=profile is graded)


def broken(world: World, before: float, after: float, cases: int = 1) -> World:
    """The first criterion of the first cases goes from one chance to another."""
    base, head = world.base.copy(), world.head.copy()
    base[:cases, 0], head[:cases, 0] = before, after
    return replace(world, base=base, head=head)


def shifted(world: World, by: float) -> World:
    """The first criterion moves in every case."""
    head = world.head.copy()
    head[:, 0] = head[:, 0] + by if world.continuous else np.clip(head[:, 0] + by, 0.0, 1.0)
    return replace(world, head=head)
