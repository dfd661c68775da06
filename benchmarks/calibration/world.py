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

from gradegate.model.runs import SIDES, Role, SideName

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
    runs: int = 1
    """First-pass runs that the suite asks for."""
    history: int = 0
    """Base's earlier outcomes of each case."""
    before: NDArray[np.float64] | None = None
    """What was true in the older half of them, where that was something else."""
    today: float = 1.0
    """What all pass rates are multiplied by today; added to mean scores."""
    stored: bool = False
    """Base's first pass is of an ordinary day, and kept."""
    crashes: float = 0.0
    """How often the agent fails a run, whatever the case."""
    noisy_judge: bool = False
    """The agent answers alike each time; the figure is how often the judge says yes to it. The
    sides' k-th runs share what it says, as in the product."""
    draw: Callable[[np.random.Generator], NDArray[np.float64]] | None = None
    """Draws the cases anew for each pull request, in place of `base` and `head`."""

    @property
    def cases(self) -> int:
        return len(self.base)

    @property
    def criteria(self) -> int:
        return int(self.base.shape[1])

    def drawn(self, rng: np.random.Generator) -> "World":
        """With the cases of one pull request."""
        if self.draw is None:
            return self
        truth = np.repeat(self.draw(rng)[:, None], self.criteria, axis=1)
        changed = self.head != self.base
        base, head = (np.where(changed, told, truth) for told in (self.base, self.head))
        return replace(self, base=base, head=head, draw=None)

    def rates(self, side: SideName, *, today: bool) -> NDArray[np.float64]:
        """What is true of a side on a day."""
        truth = self.base if side == "base" else self.head
        if not today or self.today == 1.0:
            return truth
        return truth + self.today if self.continuous else truth * self.today

    def run(self, rng: np.random.Generator, truth: NDArray[np.float64], runs: int) -> Runs:
        """So many runs of these cases."""
        shared = rng.standard_normal((len(truth), runs, 1))
        own = rng.standard_normal((len(truth), runs, self.criteria))
        noise = CORRELATION**0.5 * shared + (1 - CORRELATION) ** 0.5 * own
        crashed = rng.random((len(truth), runs, 1)) < self.crashes if self.crashes else False
        if self.continuous:
            scores = np.clip(truth[:, None, :] + noise * PAIRED_SD / 2**0.5, 0.0, None)
            scores = np.where(crashed, 0.0, scores)
            return Runs(scores, scores >= THRESHOLD)
        passed = (noise < ndtri(truth)[:, None, :]) & ~np.asarray(crashed)
        return Runs(passed.astype(np.float64), passed)


@dataclass
class Pull:
    """One pull request's runs, drawn when they are first asked for."""

    world: World
    rng: np.random.Generator
    _passes: dict[tuple[SideName, bool], list[Runs]] = field(default_factory=dict)
    _fresh: dict[tuple[Role, SideName, int], list[tuple[bool, ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.world = self.world.drawn(self.rng)
        self._rates = {
            (side, today): self.world.rates(side, today=today)
            for side in SIDES
            for today in (True, False)
        }

    def full_pass(self, side: SideName, number: int, *, today: bool = True) -> Runs:
        """The first, second, third… run of every case."""
        if self.world.noisy_judge:
            side = "base"
        done = self._passes.setdefault((side, today), [])
        while len(done) < number:
            done.append(self.world.run(self.rng, self._rates[side, today], 1))
        return done[number - 1]

    def fresh(self, role: Role, side: SideName, case: int, runs: int) -> list[tuple[bool, ...]]:
        """A case's first so many runs in a role: what each criterion said."""
        if self.world.noisy_judge:
            side = "base"
        known = self._fresh.setdefault((role, side, case), [])
        while len(known) < runs:
            drawn = self.world.run(self.rng, self._rates[side, True][[case]], RUNS_AT_ONCE)
            known += [tuple(row) for row in drawn.passed[0].tolist()]
        return known[:runs]

    @cached_property
    def history(self) -> Runs | None:
        """Base's earlier runs of every case, oldest first."""
        world = self.world
        if not world.history:
            return None
        if world.before is None:
            return world.run(self.rng, self._rates["base", False], world.history)
        older = world.run(self.rng, world.before, world.history // 2)
        newer = world.run(self.rng, self._rates["base", False], world.history - world.history // 2)
        halves = zip(older, newer, strict=True)
        return Runs(*(np.concatenate(half, axis=1) for half in halves))


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
