"""What a run is said to find nine times in ten, held against the rules that find it."""

from dataclasses import replace
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from gradegate.compare.comparison import compare
from gradegate.compare.confirm import chance_confirmed, settle
from gradegate.compare.criterion_shift import (
    CriterionShift,
    another_pass_wanted,
    compare_criterion,
    verdicts,
)
from gradegate.compare.screening import Confirmation, Suspect, chance_stays, screen
from gradegate.compare.sensitivity import (
    WANTED,
    Looks,
    chance_found,
    highest_pass_rate,
    smallest_drop,
)
from gradegate.model.report import Verdict
from gradegate.model.runs import Runs
from tests.runs import MATCH, a_case, both, terms_of, with_score

ALPHA, TOLERANCE = 0.02, 0.02
SUSPECT = Suspect((a_case("paris").key, MATCH))
RATES = [0.0, 0.05, 0.3, 0.6, 1.0]


@pytest.mark.parametrize("rate", RATES)
def test_the_screen_lets_through_as_many_as_said(rate: float) -> None:
    """Every way in which four runs of head can come out."""
    chance = 0.0
    for screened in product([True, False], repeat=4):
        if screen(replace(SUSPECT, screen=screened)) is None:
            chance += rate ** sum(screened) * (1 - rate) ** (4 - sum(screened))
    assert chance == pytest.approx(chance_stays(rate))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("confirm_runs", [4, 6, 9])
def test_as_many_are_confirmed_as_said(rate: float, confirm_runs: int) -> None:
    """Every way in which head's fresh runs can come out, put to the test itself."""
    chance = 0.0
    for head in product([True, False], repeat=confirm_runs):
        one = replace(SUSPECT, screen=(False,) * 3, base=(True,) * confirm_runs, head=head)
        found = settle([one], alpha=ALPHA, confirm_runs=confirm_runs)
        assert not found.wanted
        if found.confirmations[one.id].verdict is Verdict.REGRESSED:
            chance += rate ** sum(head) * (1 - rate) ** (confirm_runs - sum(head))
    assert chance == pytest.approx(chance_confirmed(rate, ALPHA, confirm_runs))


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_the_pass_rate_is_the_highest_that_is_found(runs: int) -> None:
    """A percent more, and it is found less than nine times in ten."""
    rate = highest_pass_rate(ALPHA, 16, runs)
    assert rate is not None
    assert (
        chance_found(rate, ALPHA, 16, runs) >= WANTED > chance_found(rate + 0.01, ALPHA, 16, runs)
    )


def test_a_test_that_can_confirm_nothing_finds_nothing() -> None:
    """Three pairs are too few, whatever they show."""
    assert isinstance(screen(replace(SUSPECT, screen=(True, True))), Confirmation)
    assert highest_pass_rate(ALPHA, 3, 1) is None


@pytest.mark.parametrize("kind", ["graded", "pass or fail"])
def test_the_drop_is_found_nine_times_in_ten(kind: str) -> None:
    """Pull requests drawn around it, through the looks that the gate takes."""
    rng = np.random.default_rng(7)
    known = _Drawn(rng, kind)
    looks = Looks.of(ALPHA, 1, 1, 1)
    told = [smallest_drop(known.shift(0.0, 1), looks, TOLERANCE) for _ in range(20)]
    drop = fmean(one for one in told if one is not None)
    assert 84 <= sum(_is_found(known, drop) for _ in range(100)) <= 97
    assert sum(_is_found(known, drop / 2) for _ in range(100)) <= 60


def test_too_few_cases_show_no_drop() -> None:
    """Three that all fell are one in eight by chance."""
    shift = compare_criterion([[1.0]] * 3, [[1.0]] * 3)
    assert smallest_drop(shift, Looks.of(ALPHA, 1, 1, 1), TOLERANCE) is None


def test_a_drop_below_the_worst_score_is_none() -> None:
    """Where base hardly scores at all, there is nothing to lose."""
    shift = compare_criterion([[0.01]] * 50, [[0.01]] * 50)
    assert smallest_drop(shift, Looks.of(ALPHA, 1, 1, 1), TOLERANCE) is None


def test_a_comparison_says_what_it_would_find() -> None:
    """Each criterion, and a single case where agents can be run again."""
    cases = [a_case(f"c{number:02}") for number in range(30)]
    runs = {case.key: [with_score(case, 1, 1.0)] for case in cases}
    found = compare(terms_of([both(case) for case in cases]), Runs(runs, runs)).would_find
    assert found is not None
    assert found.case_passes == pytest.approx(0.07)
    assert found.drops[MATCH] == pytest.approx(0.2, abs=0.1)
    recorded = terms_of([both(case) for case in cases], rerunnable=())
    alone = compare(recorded, Runs(runs, runs)).would_find
    assert alone is not None
    assert alone.case_passes is None


class _Drawn:
    """Fifty cases, and runs of them."""

    def __init__(self, rng: np.random.Generator, kind: str) -> None:
        self.rng = rng
        self.graded = kind == "graded"

    def side(self, drop: float, runs: int) -> Any:
        """Scores, the mean lower by so much."""
        if self.graded:
            return (0.85 - drop + self.rng.normal(0, 0.07, (50, runs))).tolist()
        return (self.rng.random((50, runs)) < 0.96 - drop).astype(float).tolist()

    def shift(self, drop: float, runs: int) -> CriterionShift:
        """Both sides compared."""
        return compare_criterion(self.side(0.0, runs), self.side(drop, runs))


def _is_found(drawn: _Drawn, drop: float) -> bool:
    base, head = drawn.side(0.0, 3), drawn.side(drop, 3)
    for look in (1, 2, 3):
        shift = {MATCH: compare_criterion(*([one[:look] for one in s] for s in (base, head)))}
        told = verdicts(shift, lambda _: TOLERANCE, alpha=ALPHA, look=look)
        if told[MATCH].verdict is Verdict.REGRESSED:
            return True
        if not another_pass_wanted(shift, lambda _: TOLERANCE, alpha=ALPHA, look=look):
            return False
    return False
