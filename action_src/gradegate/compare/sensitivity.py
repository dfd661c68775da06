"""What a run could have missed: the smallest changes that it would have found nine times in ten.

By the rule `exact` alone: what `memory` finds hangs on each case's own history.
"""

from __future__ import annotations

from functools import cache
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

from gradegate.compare.confirm import chance_confirmed
from gradegate.compare.criterion_shift import MOST_PASSES, WORTH_A_PASS, level_at
from gradegate.compare.screening import chance_stays
from gradegate.compare.stats.special import special
from gradegate.model.report import WouldFind

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from gradegate.compare.criterion_shift import CriterionShift
    from gradegate.compare.terms import Terms

WANTED = 0.9
"""How often a change is found that is said to be found."""
DRAWS = 4_000
BISECTIONS = 12


def would_find(
    terms: Terms, shifts: Mapping[str, CriterionShift], *, look: int | None
) -> WouldFind | None:
    """What these runs, and those that they would lead to, find nine times in ten."""
    if terms.gate.rule != "exact":
        return None
    comparable = {name: shift for name, shift in shifts.items() if shift.n > 1}
    drops = {
        name: smallest_drop(
            shift,
            Looks.of(terms.gate.alpha, len(comparable), shift.runs, look),
            terms.gate.tolerance_for(name) * shift.scale.width,
        )
        for name, shift in comparable.items()
    }
    found = WouldFind(case_passes=_case_passes(terms), drops=drops)
    return found if found.drops or found.case_passes is not None else None


def _case_passes(terms: Terms) -> float | None:
    """For the suite whose cases are found least; None where there is none to be run again."""
    runs = {
        terms.first_pass["head", pair.key]
        for pair in terms.pairs
        if terms.sides_of(pair) == ["base", "head"]
        and terms.can_rerun(pair)
        and pair.key not in terms.quarantined
    }
    gate = terms.gate
    if not runs or not gate.confirm_runs:
        return None
    alpha = gate.alpha / (2 if gate.has_critical else 1)
    found = [highest_pass_rate(alpha, gate.confirm_runs, each) for each in runs]
    return min((rate for rate in found if rate is not None), default=None)


@cache
def highest_pass_rate(alpha: float, confirm_runs: int, runs: int) -> float | None:
    """How often a case may still pass, in whole percent, and is found; base always passes it."""
    rates = (percent / 100 for percent in range(100, -1, -1))
    return next(
        (rate for rate in rates if chance_found(rate, alpha, confirm_runs, runs) >= WANTED), None
    )


def chance_found(rate: float, alpha: float, confirm_runs: int, runs: int) -> float:
    """How likely a case that passes so often is a suspect, stays one, and is confirmed."""
    fails: float = sum(
        comb(runs, passed) * rate**passed * (1 - rate) ** (runs - passed)
        for passed in range(runs // 2 + 1)
    )
    return fails * chance_stays(rate) * chance_confirmed(rate, alpha, confirm_runs)


class Looks(NamedTuple):
    """When a criterion is looked at: after each pass of so many runs a side."""

    runs: int
    levels: tuple[float, ...]
    """What its p-value must not exceed, one for each pass."""
    close: float
    """What it must not exceed to have another pass bought."""

    @classmethod
    def of(cls, alpha: float, criteria: int, runs: int, look: int | None) -> Looks:
        """Where one of so many criteria falls; after `runs` runs of `look` passes.

        `look` is None where no pass can be bought.
        """
        close = min(0.5, WORTH_A_PASS * alpha / criteria)
        if look is None:
            return cls(runs, (level_at(alpha, None) / criteria,), close)
        levels = (level_at(alpha, each) / criteria for each in range(1, MOST_PASSES + 1))
        return cls(max(1, runs // look), tuple(levels), close)


def smallest_drop(shift: CriterionShift, looks: Looks, tolerance: float) -> float | None:
    """By how much the mean must fall, all cases alike; None: no drop that there can be is found.

    Noise is taken to be normal, and as large as it was between the two sides of this run.
    """
    import numpy as np

    drawn = np.random.default_rng(0).standard_normal((DRAWS, len(looks.levels)))
    low, high = 0.0, abs((shift.mean_base or 0.0) - shift.scale.worst)
    if _share_found(shift, high, looks, tolerance, drawn) < WANTED:
        return None
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if _share_found(shift, middle, looks, tolerance, drawn) < WANTED:
            low = middle
        else:
            high = middle
    return high


def _share_found(
    shift: CriterionShift,
    drop: float,
    looks: Looks,
    tolerance: float,
    drawn: NDArray[np.float64],
) -> float:
    """In how many of the drawn pull requests, one a row, a drop of so much is found."""
    import numpy as np

    ndtri = special().ndtri
    own = 2 * shift.noise**2
    each = own + _of_flips(shift, drop)
    going = np.ones(len(drawn), dtype=bool)
    found = np.zeros(len(drawn), dtype=bool)
    total = np.zeros(len(drawn))
    for at, level in enumerate(looks.levels, 1):
        runs = looks.runs * at
        total += drawn[:, at - 1] * (each / looks.runs / shift.n) ** 0.5
        seen = np.clip(drop + total / at, 0.0, shift.scale.width)
        by_chance = (own + _of_flips(shift, seen)) / runs + seen**2 / (2 * runs - 1)
        error = np.sqrt(by_chance / shift.n)
        step = shift.scale.width / shift.n / runs if shift.all_or_nothing else 0.0
        found |= going & (seen > np.maximum(step - ndtri(level) * error, tolerance))
        going &= ~found & (seen > np.maximum(step - ndtri(looks.close) * error, tolerance))
    return float(found.mean())


def _of_flips(shift: CriterionShift, drop: Any) -> Any:
    """The noise that a drop brings with it where a score is all or nothing."""
    return drop * (shift.scale.width - drop) if shift.all_or_nothing else 0.0
