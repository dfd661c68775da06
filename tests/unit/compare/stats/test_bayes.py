"""Bayes factors, against sums done the long way and against what anyone would expect."""

import pytest
from scipy.stats import beta

from gradegate.compare.stats.bayes import (
    DAYS,
    ORDINARY,
    bayes_factor,
    chance_of_failures,
    day_of,
    pass_rate_interval,
    passes_every_time,
)
from gradegate.compare.stats.exact import Count

NONE = Count(0, 0)
CELLS = [(n + 0.5) / 200 for n in range(200)]
PRIOR = [
    0.4 * (beta.cdf(p + 0.0025, 30, 0.3) - beta.cdf(p - 0.0025, 30, 0.3))
    + 0.3 * (beta.cdf(p + 0.0025, 4, 1) - beta.cdf(p - 0.0025, 4, 1))
    + 0.3 / 200
    for p in CELLS
]


def likely(rate: float, seen: Count) -> float:
    """Of these runs, at this rate."""
    return rate**seen.passed * (1 - rate) ** (seen.runs - seen.passed)


def long_way(earlier: Count, base: Count, head: Count) -> float:
    """The same for an ordinary day, cell by cell."""
    shares = [0.65 * n / 8 for n in range(9)]
    broken = unchanged = 0.0
    for rate, prior in zip(CELLS, PRIOR, strict=True):
        weight = prior * likely(rate, earlier) * likely(rate, base)
        unchanged += weight * likely(rate, head)
        broken += weight * sum(likely(max(0.01, rate * s), head) for s in shares) / 9
    return broken / unchanged


@pytest.mark.parametrize(
    ("earlier", "base", "head"),
    [
        (NONE, NONE, NONE),
        (NONE, Count(4, 5), Count(1, 5)),
        (Count(48, 50), Count(2, 2), Count(3, 8)),
        (Count(3, 20), Count(0, 4), Count(0, 9)),
    ],
)
def test_the_long_way_comes_to_the_same(earlier: Count, base: Count, head: Count) -> None:
    """No history, a long one, and one of a case that hardly ever passes."""
    expected = long_way(earlier, base, head)
    assert bayes_factor(earlier, base, head) == pytest.approx(expected, rel=1e-6)


def test_no_run_of_head_says_nothing() -> None:
    """Whatever base did."""
    assert bayes_factor(Count(19, 20), Count(2, 2), NONE) == pytest.approx(1.0)


def test_failures_speak_for_a_broken_case_and_passes_against_it() -> None:
    """Six runs: from none that passed to all."""
    factors = [bayes_factor(Count(20, 20), Count(2, 2), Count(n, 6)) for n in range(7)]
    assert factors == sorted(factors, reverse=True)
    assert factors[0] > 1_000 > 1 / 7 > factors[-1]


def test_the_longer_base_held_the_more_a_failure_tells() -> None:
    """Three failures after nothing, and after fifty passes."""
    by_length = [bayes_factor(Count(n, n), Count(2, 2), Count(0, 3)) for n in (0, 5, 20, 50)]
    assert by_length == sorted(by_length)


def test_a_bad_day_takes_the_edge_off() -> None:
    """Half of an always passing set fails on head: that is the service, and no single case."""
    day = day_of([(Count(20, 20), Count(n % 2, 1)) for n in range(20)])
    assert sum(day) == pytest.approx(1.0)
    assert day[0] < 1e-6
    seen = (Count(20, 20), Count(2, 2), Count(1, 4))
    assert bayes_factor(*seen, day) < bayes_factor(*seen, ORDINARY) / 10


def test_a_day_on_which_head_does_what_base_did_is_like_the_others() -> None:
    """Fifty cases that pass, as they always did."""
    day = day_of([(Count(20, 20), Count(1, 1))] * 50)
    assert max(range(len(DAYS)), key=day.__getitem__) == 0
    assert day[0] > 0.9


def test_failures_are_expected_as_often_as_the_history_shows() -> None:
    """Rarely of a case that always passed, often of one that passes half of the time."""
    assert chance_of_failures(Count(60, 60), Count(0, 1)) < 0.01
    assert chance_of_failures(Count(30, 60), Count(0, 1)) == pytest.approx(0.5, abs=0.05)
    assert chance_of_failures(Count(30, 60), Count(2, 2)) == pytest.approx(1.0)


def test_chances_of_all_outcomes_are_one() -> None:
    """At least so many failures, less at least one more, is exactly so many."""
    at_least = [chance_of_failures(Count(15, 20), Count(4 - n, 4)) for n in range(5)]
    exactly = [a - b for a, b in zip(at_least, [*at_least[1:], 0.0], strict=True)]
    assert sum(exactly) == pytest.approx(1.0)
    assert all(chance > 0 for chance in exactly)


def test_the_interval_holds_the_rate_and_narrows() -> None:
    """Nine of ten, and fifty-four of sixty."""
    wide, narrow = (pass_rate_interval(Count(9 * n, 10 * n)) for n in (1, 6))
    assert wide[0] < narrow[0] < 0.9 < narrow[1] <= wide[1]


def test_passing_every_time_is_rarer_the_more_times() -> None:
    """A case that passes nine times in ten."""
    rates = [passes_every_time(Count(45, 50), k) for k in (1, 2, 5)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == pytest.approx(0.9, abs=0.02)
