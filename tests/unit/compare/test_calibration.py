"""The calibration benchmark in small: the same draws, fewer pull requests, the same promises."""

import pytest

from benchmarks.calibration.measure import Measured, Promise, measure
from benchmarks.calibration.rows import (
    BROKEN,
    LEAKS,
    NEARLY,
    OURS,
    SETS,
    UNCHANGED,
    promises,
    scenarios,
    too_dear,
)

PULLS = {
    **{f"{one.name}: {UNCHANGED}": 400 for one in SETS if one.world.base.size == 10},
    f"50 mixed, 1 criterion: {UNCHANGED}": 300,
    f"50 graded, 1 criterion: {UNCHANGED}": 300,
    f"10 mixed, 1 criterion: {BROKEN}": 300,
    f"10 mixed, 1 criterion: {NEARLY}": 2_000,
    f"10 flaky, 7 criteria: {BROKEN}": 300,
    next(iter(LEAKS)): 150,
}
PLAINEST = [f"10 mixed, 1 criterion: {what}" for what in (UNCHANGED, BROKEN)]


@pytest.fixture(scope="module")
def measured() -> Measured:
    """Each scenario for itself, as many pull requests as its promise needs."""
    found: dict[str, object] = {}
    for scenario in scenarios():
        if scenario.name in PULLS:
            found |= measure([scenario], PULLS[scenario.name])
    assert set(found) == set(PULLS)
    return found  # type: ignore[return-value] # what measure gave, put together


def test_the_plainest_promises_are_kept() -> None:
    """The same confidence from fewer draws: three hundred without one slip are just enough."""
    measured = measure([one for one in scenarios() if one.name in PLAINEST], 300)
    assert [one.kept for one in promises(measured)] == [True, True]


@pytest.mark.slow
def test_every_promise_is_kept(measured: Measured) -> None:
    """False blocks, broken cases found, leaks found: with 95 % confidence, not by luck."""
    made = list(promises(measured))
    assert len(made) == len(PULLS)
    assert [one for one in made if not one.kept] == []


@pytest.mark.slow
def test_unchanged_pull_requests_cost_little(measured: Measured) -> None:
    """At most a quarter more runs than one pass, on mixed sets."""
    assert list(too_dear(measured)) == []
    assert measured[f"10 mixed, 1 criterion: {UNCHANGED}"][OURS].cost < 1.1


@pytest.mark.slow
def test_the_draws_are_hard_enough_to_fail(measured: Measured) -> None:
    """On the same draws the usual rules block far too much, or find nothing."""
    unchanged = measured[f"50 mixed, 1 criterion: {UNCHANGED}"]
    assert unchanged["any flip blocks"].blocked > 0.7 * unchanged["any flip blocks"].pulls
    assert unchanged["majority of three"].blocked > 0.5 * unchanged["majority of three"].pulls
    broken = measured[f"10 mixed, 1 criterion: {BROKEN}"]
    assert broken["McNemar and Wilson"].found == 0


def test_measuring_again_gives_the_same() -> None:
    """Every draw has its seed."""
    (scenario,) = (one for one in scenarios() if one.name == f"50 mixed, 1 criterion: {NEARLY}")
    assert measure([scenario], 40) == measure([scenario], 40)


@pytest.mark.parametrize(
    ("happened", "kind", "limit", "kept"),
    [
        (0, "at most", 0.02, True),
        (15, "at most", 0.02, False),
        (985, "at least", 0.97, True),
        (975, "at least", 0.97, False),
    ],
)
def test_a_promise_is_kept_only_beyond_doubt(
    happened: int, kind: str, limit: float, *, kept: bool
) -> None:
    """A rate on the right side of its limit by less than chance can do does not count."""
    assert Promise("", happened, 1_000, kind, limit).kept is kept  # type: ignore[arg-type]
