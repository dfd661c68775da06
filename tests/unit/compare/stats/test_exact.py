import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gradegate.compare.stats.exact import TABLE, Count, benjamini_hochberg, computed, holm, worse
from gradegate.compare.stats.tabulate import MOST_RUNS
from gradegate.model.settings import Gate


def by_hand(base: Count, head: Count) -> float:
    """Boschloo's test written out: Fisher's p orders the tables, the worst pass rate counts."""
    both = base.runs + head.runs

    def fisher(b: int, h: int) -> float:
        return float(stats.hypergeom.sf(b - 1, both, b + h, base.runs))

    observed = fisher(base.passed, head.passed)
    rates = np.linspace(0, 1, 4_001)
    total = np.zeros_like(rates)
    for b in range(base.runs + 1):
        for h in range(head.runs + 1):
            if fisher(b, h) <= observed * (1 + 1e-9):
                total += stats.binom.pmf(b, base.runs, rates) * stats.binom.pmf(h, head.runs, rates)
    return float(total.max())


@pytest.mark.parametrize("runs", [1, 2, 4, 5, 6, 11, 16])
def test_all_passed_against_none_has_the_chance_of_as_many_coins_twice(runs: int) -> None:
    """The worst pass rate is one half: the chance is a quarter to the power of the runs."""
    assert worse(Count(runs, runs), Count(0, runs)) == pytest.approx(0.25**runs, rel=1e-6)


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ((9, 11), (2, 11)),
        ((10, 12), (2, 12)),
        ((5, 6), (1, 6)),
        ((3, 3), (1, 3)),
        ((1, 1), (0, 1)),
        ((4, 5), (3, 5)),
        ((4, 4), (1, 7)),
        ((1, 1), (0, 6)),
    ],
)
def test_it_is_boschloos_test(base: tuple[int, int], head: tuple[int, int]) -> None:
    """Agrees with the definition worked out on a grid, for unequal sides too."""
    expected = by_hand(Count(*base), Count(*head))
    assert worse(Count(*base), Count(*head)) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("base", "head"), [((0, 6), (6, 6)), ((3, 6), (3, 6)), ((2, 4), (1, 2))])
def test_no_drop_is_no_evidence(base: tuple[int, int], head: tuple[int, int]) -> None:
    """A gain or the same rate is never a sign of a regression: groups are not mixed up."""
    assert worse(Count(*base), Count(*head)) == 1.0


def test_what_is_tabulated_is_what_scipy_works_out() -> None:
    """To the last digits that any machine agrees on, for as many runs as confirm by default."""
    counts = [
        (Count(base, runs), Count(head, runs))
        for runs in range(1, MOST_RUNS + 1)
        for base in range(runs + 1)
        for head in range(base)
    ]
    assert Gate().confirm_runs == MOST_RUNS
    assert len(counts) == sum(len(row) for rows in json.loads(TABLE.read_text()) for row in rows)
    for base, head in counts[::11]:
        assert worse(base, head) == pytest.approx(computed(base, head), rel=1e-9)


def test_more_runs_than_are_tabulated_are_worked_out() -> None:
    """As are other numbers of runs on the two sides."""
    for base, head in [(Count(15, 17), Count(6, 17)), (Count(4, 4), Count(1, 7))]:
        assert worse(base, head) == computed(base, head)


def test_a_test_as_strict_as_it_says() -> None:
    """With equal sides a p-value of at most x comes up at most x of the time, at any pass rate."""
    counts = [Count(passed, 8) for passed in range(9)]
    p_values = np.array([[worse(base, head) for head in counts] for base in counts])
    for rate in np.linspace(0.02, 0.98, 25):
        chances = stats.binom.pmf(range(9), 8, rate)
        for level in (0.001, 0.004, 0.05, 0.2):
            assert chances @ (p_values <= level) @ chances <= level * (1 + 1e-6)


@given(st.lists(st.floats(0, 1), max_size=12), st.sampled_from([0.005, 0.05, 0.3]))
def test_benjamini_hochberg_is_scipys(p_values: list[float], level: float) -> None:
    """Rejects what scipy's adjusted p-values reject."""
    held = benjamini_hochberg(p_values, level)
    assert len(held) == len(p_values)
    if p_values:
        adjusted = stats.false_discovery_control(p_values)
        clear = np.abs(adjusted - level) > 1e-12
        assert (np.array(held) == (adjusted <= level))[clear].all()


@pytest.mark.parametrize(
    ("p_values", "held"),
    [
        ((), ()),
        ((0.005,), (True,)),
        ((0.0051,), (False,)),
        ((0.004, 1.0), (False, False)),
        ((0.004, 0.005), (True, True)),
        ((0.005, 0.005, 0.005), (True, True, True)),
        ((0.0016, 0.0033, 1.0), (True, True, False)),
        ((0.002, 0.9, 0.0033), (True, False, True)),
    ],
)
def test_several_that_hold_help_each_other(
    p_values: tuple[float, ...], held: tuple[bool, ...]
) -> None:
    """Two of two may each have the whole level, one of two only half; ties stand together."""
    assert benjamini_hochberg(p_values, 0.005) == held


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ((), ()),
        ((0.2,), (0.2,)),
        ((0.01, 0.04, 0.03), (0.03, 0.06, 0.06)),
        ((0.5, 0.5), (1.0, 1.0)),
        ((0.02, 0.001, 0.02), (0.04, 0.003, 0.04)),
    ],
)
def test_holm(p_values: tuple[float, ...], adjusted: tuple[float, ...]) -> None:
    """Smallest times all, next times one fewer…, never below an earlier one, never above 1."""
    assert holm(p_values) == pytest.approx(adjusted)
