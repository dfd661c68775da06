"""The gate's own rule through its real code, and beside it the rules that others use."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr
from scipy.stats import binomtest

from benchmarks.calibration.world import Pull
from gradegate.compare.confirm import settle
from gradegate.compare.criterion_shift import (
    CriterionShift,
    another_pass_wanted,
    compare_criterion,
    verdicts,
)
from gradegate.compare.next_runs import merged
from gradegate.compare.screening import Suspect
from gradegate.compare.stats.exact import Count, benjamini_hochberg, worse
from gradegate.model.evalset import CaseKey
from gradegate.model.report import Verdict
from gradegate.model.runs import SIDES, Role, RunRequest, SideName

ALPHA, CONFIRM_RUNS, TOLERANCE = 0.02, 16, 0.02

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


class Confirming:
    """Suspects with made-up runs: the product says which, and what they come to."""

    def __init__(self, pull: Pull) -> None:
        self.pull = pull
        self.made: dict[tuple[SideName, CaseKey, Role], int] = {}
        base, head = (pull.full_pass(side, 1).passed[:, 0] for side in SIDES)
        places = [(int(case), int(criterion)) for case, criterion in np.argwhere(~head)]
        self.suspects = {at: Suspect(called(at), failed_on_both=not base[at]) for at in places}

    def run(self) -> set[Place]:
        """Which cases, under which criterion, are found to be broken."""
        while True:
            found = settle(self.suspects.values(), alpha=ALPHA, confirm_runs=CONFIRM_RUNS)
            if not found.wanted:
                told = found.confirmations
                return {at for at, suspect in self.suspects.items() if told[suspect.id].confirmed}
            self.make(merged(found.wanted))

    def make(self, wanted: tuple[RunRequest, ...]) -> None:
        self.made.update({(side, case, role): total for side, case, role, total in wanted})
        anew = {one.case for one in wanted}
        for at, suspect in self.suspects.items():
            if suspect.id[0] in anew:
                self.suspects[at] = self.with_runs(at, suspect)

    def with_runs(self, at: Place, suspect: Suspect) -> Suspect:
        case, criterion = at

        def runs(role: Role, side: SideName) -> tuple[bool, ...]:
            made = self.made.get((side, suspect.id[0], role), 0)
            return tuple(run[criterion] for run in self.pull.fresh(role, side, case, made))

        return replace(
            suspect,
            recheck=runs(Role.RECHECK, "base"),
            screen=runs(Role.SCREEN, "head"),
            base=runs(Role.CONFIRM, "base"),
            head=runs(Role.CONFIRM, "head"),
        )


def called(at: Place) -> tuple[CaseKey, str]:
    """What the product knows a place by."""
    case, criterion = at
    return CaseKey("", "", str(case)), str(criterion)


def gradegate(pull: Pull) -> Ruling:
    """Screen, fresh pairs and exact tests for cases; permutation over passes for criteria."""
    confirming = Confirming(pull)
    confirmed = confirming.run()
    passes, told = watch(pull)
    leaking = {name for name, verdict in told.items() if verdict is Verdict.REGRESSED}
    return Ruling(
        blocked=bool(confirmed or leaking),
        found=(0, 0) in confirmed,
        cost=passes + sum(confirming.made.values()) / (2 * pull.world.cases),
        leaking="0" in leaking,
        improved=told["0"] is Verdict.IMPROVED,
        named=len({case for case, _ in confirmed}),
    )


def watch(pull: Pull) -> tuple[int, Mapping[str, Verdict]]:
    """How many passes were made, and what they said of each criterion."""
    look = 1
    leaks = compared(pull, look)
    while another_pass_wanted(leaks, tolerance, alpha=ALPHA, look=look):
        look += 1
        leaks = compared(pull, look)
    told = verdicts(leaks, tolerance, alpha=ALPHA, look=look)
    return look, {name: found.verdict for name, found in told.items()}


def compared(pull: Pull, passes: int) -> dict[str, CriterionShift]:
    """Every criterion over the first so many passes."""
    base, head = (
        np.concatenate([pull.full_pass(side, n).scores for n in range(1, passes + 1)], axis=1)
        for side in SIDES
    )
    return {
        str(at): compare_criterion(base[:, :, at].tolist(), head[:, :, at].tolist())
        for at in range(pull.world.criteria)
    }


def tolerance(_: str) -> float:
    """The default, for every criterion."""
    return TOLERANCE


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
    for case, criterion in places:
        base, head = (pull.fresh(Role.CONFIRM, side, case, 6) for side in SIDES)
        yield Count.of(run[criterion] for run in base), Count.of(run[criterion] for run in head)


RULES: dict[str, Callable[[Pull], Ruling]] = {
    "any flip blocks": any_flip,
    "majority of three": majority_of_three,
    "McNemar and Wilson": mcnemar_and_wilson,
    "six fixed pairs": six_pairs,
    "gradegate": gradegate,
}
