from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gradegate.compare.stats.permutation import Group, Tails, tails

Case = tuple[list[float], list[float]]


def group(*cases: Case) -> Group:
    """Cases given as (base's runs, head's runs)."""
    return Group(np.array([base for base, _ in cases]), np.array([head for _, head in cases]))


def written_out(cases: list[Case]) -> tuple[float, float]:
    """Every way to deal the names within each case, one by one, with fractions kept apart."""

    def ways(case: Case) -> list[float]:
        base, head = case
        runs = base + head
        chosen = combinations(range(len(runs)), len(head))
        return [_difference(runs, set(heads), len(head)) for heads in chosen]

    observed = sum(
        _difference(b + h, set(range(len(b), len(b) + len(h))), len(h)) for b, h in cases
    )
    sums = np.array([sum(way) for way in product(*map(ways, cases))])
    return float(np.mean(sums <= observed + 1e-9)), float(np.mean(sums >= observed - 1e-9))


def _difference(runs: list[float], heads: set[int], on_head: int) -> float:
    head = sum(score for at, score in enumerate(runs) if at in heads) / on_head
    base = sum(score for at, score in enumerate(runs) if at not in heads)
    return head - base / (len(runs) - on_head)


@pytest.mark.parametrize(
    "cases",
    [
        [([0.9], [0.7])],
        [([0.9], [0.9])],
        [([0.9], [0.7]), ([0.8], [0.6]), ([0.5], [0.3])],
        [([0.9], [0.8]), ([0.3], [0.2]), ([0.7], [0.6]), ([0.2], [0.5])],
        [([0.1], [0.3]), ([0.2], [0.3]), ([0.9], [0.6]), ([0.4], [0.4])],
        [([1 / 3], [2 / 3]), ([2 / 3], [1.0]), ([1.0], [1 / 3])],
        [([0.9, 0.8], [0.7, 0.75]), ([0.5, 0.5], [0.5, 0.4])],
        [([1200.0], [1500.0]), ([800.0], [820.0]), ([90.0], [70.0])],
    ],
)
def test_exact_against_every_way_written_out(cases: list[Case]) -> None:
    """Ties, zeros, tiny sets, thirds, large scores: the very shares that counting gives."""
    found = tails([group(*cases)])
    assert found.method == "exact"
    assert (found.down, found.up) == pytest.approx(written_out(cases))


@pytest.mark.parametrize(("on_base", "on_head"), [(2, 1), (1, 2), (3, 2), (2, 3)])
def test_unequal_numbers_of_runs_are_dealt_not_flipped(on_base: int, on_head: int) -> None:
    """A base that was measured more often than head; flipping signs would be wrong here."""
    rng = np.random.default_rng(on_base)
    cases = [
        (rng.random(on_base).round(2).tolist(), rng.random(on_head).round(2).tolist())
        for _ in range(4)
    ]
    found = tails([group(*cases)])
    assert found.method == "exact"
    assert (found.down, found.up) == pytest.approx(written_out(cases))


def test_cases_of_different_numbers_of_runs_go_together() -> None:
    """One of them lost a run; every case still counts the same."""
    once: list[Case] = [([0.9], [0.4]), ([0.8], [0.7])]
    twice: list[Case] = [([0.9, 0.7], [0.4, 0.2]), ([0.6, 0.8], [0.8, 0.5])]
    odd: list[Case] = [([0.5, 0.6], [0.3])]
    found = tails([group(*once), group(*twice), group(*odd)])
    assert (found.down, found.up) == pytest.approx(written_out([*once, *twice, *odd]))


def test_sign_flips_are_scipys() -> None:
    """One run a side, ten cases: scipy's paired permutation test over all 1,024 ways."""
    rng = np.random.default_rng(3)
    base, head = rng.random((2, 10))
    found = tails([Group(base[:, None], head[:, None])])
    theirs = stats.permutation_test(
        (head, base),
        lambda one, other: float(np.mean(one - other)),
        vectorized=False,
        permutation_type="samples",
        alternative="less",
        n_resamples=2_000,
    )
    assert len(theirs.null_distribution) == 2**10
    assert found.down == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize(("down", "up", "same"), [(1, 0, 0), (3, 1, 6), (40, 22, 938), (0, 9, 1)])
def test_pass_and_fail_is_the_binomial_test(down: int, up: int, same: int) -> None:
    """Exact at any size: of the cases that differ, how many went down."""
    cases: list[Case] = [([1.0], [0.0])] * down + [([0.0], [1.0])] * up + [([1.0], [1.0])] * same
    found = tails([group(*cases)])
    assert found.method == "exact"
    differ = down + up
    assert found.down == pytest.approx(stats.binomtest(down, differ, 0.5, "greater").pvalue)
    assert found.up == pytest.approx(stats.binomtest(down, differ, 0.5, "less").pvalue)


def test_pass_and_fail_over_thousands_of_cases_is_exact_too() -> None:
    """No normal approximation where none is needed."""
    cases: list[Case] = [([1.0], [0.0])] * 1_300 + [([0.0], [1.0])] * 1_200
    found = tails([group(*cases)])
    assert found.method == "exact"
    assert found.down == pytest.approx(stats.binomtest(1_300, 2_500, 0.5, "greater").pvalue)


@pytest.mark.parametrize(("on_base", "on_head"), [(2, 2), (2, 1), (3, 3)])
def test_pass_and_fail_in_several_runs_is_exact(on_base: int, on_head: int) -> None:
    """Counting passes instead of dealing gives what dealing gives."""
    rng = np.random.default_rng(8)
    cases = [
        (
            (rng.random(on_base) < 0.8).astype(float).tolist(),
            (rng.random(on_head) < 0.5).astype(float).tolist(),
        )
        for _ in range(4)
    ]
    found = tails([group(*cases)])
    assert (found.down, found.up) == pytest.approx(written_out(cases))


@pytest.mark.parametrize(("differ", "method"), [(16, "exact"), (17, "drawn")])
def test_exact_up_to_sixteen_cases_that_differ(differ: int, method: str) -> None:
    """However many more are the same on both sides."""
    cases: list[Case] = [([0.5], [0.5 + 0.01 * at]) for at in range(1, differ + 1)]
    assert tails([group(*cases, *[([0.5], [0.5])] * 40)]).method == method


def test_drawn_is_close_to_exact() -> None:
    """20,000 draws against all 131,072 ways of 17 cases."""
    rng = np.random.default_rng(4)
    base = rng.random(17)
    head = base + rng.normal(-0.02, 0.05, 17)
    ways = np.zeros(1)
    for difference in head - base:
        ways = np.add.outer(ways, [difference, -difference]).ravel()
    exact = float(np.mean(ways <= (head - base).sum() + 1e-12))
    found = tails([Group(base[:, None], head[:, None])])
    assert found.method == "drawn"
    assert found.down == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 20_000) ** 0.5)


def test_drawn_is_the_same_on_every_machine() -> None:
    """The seed is made of the scores and the stream is fixed, so these are the figures."""
    base = [([0.5 + 0.01 * (at % 7)], [0.5 + 0.013 * ((at * 3) % 5)]) for at in range(40)]
    found = tails([group(*base)])
    assert found == Tails(5_221 / 20_001, 14_859 / 20_001, "drawn")
    twice = [(b * 2, [h[0], h[0] - 0.01]) for b, h in base]
    assert tails([group(*twice)]) == Tails(33 / 20_001, 19_969 / 20_001, "drawn")


def test_a_drawn_chance_is_never_zero() -> None:
    """The way things are is one of the ways they could have been dealt."""
    cases: list[Case] = [([0.9], [0.1 + at / 1_000]) for at in range(60)]
    assert tails([group(*cases)]).down == 1 / 20_001


@pytest.mark.parametrize("runs", [1, 2])
def test_above_a_thousand_cases_it_is_normal(runs: int) -> None:
    """And says what drawing would say."""
    rng = np.random.default_rng(6)
    base = rng.random((1_001, runs))
    head = base + rng.normal(-0.01, 0.2, (1_001, runs))
    found = tails([Group(base, head)])
    assert found.method == "normal"
    fewer = tails([Group(base[1:], head[1:])])
    assert fewer.method == "drawn"
    assert found.down == pytest.approx(fewer.down, abs=0.015)


scores = st.floats(0, 1).map(lambda score: round(score, 2))


@settings(max_examples=100)
@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=9))
def test_one_side_up_is_the_other_down(pairs: list[tuple[float, float]]) -> None:
    """Swapping base and head swaps the two chances."""
    there = tails([group(*(([b], [h]) for b, h in pairs))])
    back = tails([group(*(([h], [b]) for b, h in pairs))])
    assert (there.down, there.up) == pytest.approx((back.up, back.down))
    assert there.down + there.up >= 1 - 1e-9
