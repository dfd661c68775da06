"""The gate's own rule through its real code, and beside it the rules that others use."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr
from scipy.stats import binomtest

from benchmarks.calibration.gate import criterion, key_of, put_to_gate
from benchmarks.calibration.world import Pull
from gradegate.compare.stats.exact import Count, benjamini_hochberg, worse
from gradegate.model.report import State, Verdict
from gradegate.model.runs import SIDES, Role, SideName
from gradegate.model.settings import GateRule

ALPHA = 0.02

Place = tuple[int, int]
"""Case and criterion."""


class Ruling(NamedTuple):
    """What a rule made of a pull request."""

    blocked: bool
    found: bool
    """Whether it named the first criterion of the first case, or blocked if it names none."""
    cost: float
    """Agent runs, relative to one pass of both sides."""
    leaking: bool = False
    """Whether it named the first criterion as a whole."""
    improved: bool = False
    named: int = 0
    """How many cases it named."""
    inconclusive: bool = False


def exact(pull: Pull) -> Ruling:
    """Screen, fresh pairs and exact tests for cases; permutation over passes for criteria."""
    return _ruling(pull, "exact")


def memory(pull: Pull) -> Ruling:
    """Bayes factors against base's history for cases; criteria as above."""
    return _ruling(pull, "memory")


def _ruling(pull: Pull, rule: GateRule) -> Ruling:
    outcome = put_to_gate(pull, rule)
    compared = outcome.comparison
    named = {
        (one.key, name)
        for one in compared.cases
        for name, told in one.criteria.items()
        if told.verdict is Verdict.REGRESSED
    }
    told = {one.name: one.verdict for one in compared.criteria}
    return Ruling(
        blocked=outcome.state is State.FAIL,
        found=(key_of(0), criterion(0)) in named,
        cost=outcome.made / (2 * pull.world.cases),
        leaking=told[criterion(0)] is Verdict.REGRESSED,
        improved=told[criterion(0)] is Verdict.IMPROVED,
        named=len({key for key, _ in named}),
        inconclusive=outcome.state is State.INCONCLUSIVE,
    )


def any_flip(pull: Pull) -> Ruling:
    """What passed and now fails blocks."""
    flips = flipped(*(pull.full_pass(side, 1).passed[:, 0] for side in SIDES))
    return Ruling(bool(flips.any()), bool(flips[0, 0]), 1.0)


def majority_of_three(pull: Pull) -> Ruling:
    """The same, each side's status being that of two runs in three."""
    flips = flipped(*(majority(pull, side) for side in SIDES))
    return Ruling(bool(flips.any()), bool(flips[0, 0]), 3.0)


def majority(pull: Pull, side: SideName) -> NDArray[np.bool_]:
    """Whether two runs in three passed."""
    one, two, three = (pull.full_pass(side, number).passed[:, 0] for number in (1, 2, 3))
    return (one & two) | (one & three) | (two & three)


def flipped(base: NDArray[np.bool_], head: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """What passed and now fails."""
    return base & ~head


def mcnemar_and_wilson(pull: Pull) -> Ruling:
    """The set's pass rate fell: McNemar at 5 %, and Wilson's 95 % intervals stand apart."""
    base, head = (pull.full_pass(side, 1).passed[:, 0] for side in SIDES)
    blocked = False
    for was, now in zip(base.T, head.T, strict=True):
        down, up = int((was & ~now).sum()), int((now & ~was).sum())
        if down > up and 2 * bdtr(up, down + up, 0.5) <= 0.05:
            blocked |= wilson(was)[0] > wilson(now)[1]
    return Ruling(blocked, blocked, 1.0)


def wilson(passed: NDArray[np.bool_]) -> tuple[float, float]:
    """Wilson's 95 % interval of a pass rate."""
    low, high = binomtest(int(passed.sum()), len(passed)).proportion_ci(0.95, "wilson")
    return float(low), float(high)


def six_pairs(pull: Pull) -> Ruling:
    """Every flip is run six times more on both sides and tested; no screen, no early end."""
    base, head = (pull.full_pass(side, 1).passed[:, 0] for side in SIDES)
    places = [(int(case), int(criterion)) for case, criterion in np.argwhere(base & ~head)]
    p_values = [worse(*counts) for counts in _six(pull, places)]
    held = benjamini_hochberg(p_values, 0.025) if places else ()
    named = {place for place, yes in zip(places, held, strict=True) if yes}
    runs = 12 * len({case for case, _ in places})
    return Ruling(bool(named), (0, 0) in named, 1 + runs / (2 * pull.world.cases))


def _six(pull: Pull, places: list[Place]) -> Iterator[tuple[Count, Count]]:
    for case, at in places:
        base, head = (pull.fresh(Role.CONFIRM, side, case, 6) for side in SIDES)
        yield Count.of(run[at] for run in base), Count.of(run[at] for run in head)


RULES: dict[str, Callable[[Pull], Ruling]] = {
    "any flip blocks": any_flip,
    "majority of three": majority_of_three,
    "McNemar and Wilson": mcnemar_and_wilson,
    "six fixed pairs": six_pairs,
    "exact": exact,
    "memory": memory,
}
