import numpy as np
import pytest

from gradegate.compare.confirm import Runs
from gradegate.compare.stats.exact import Count
from gradegate.compare.without_reruns import FixedRuns, judge_fixed, recorded_runs_needed
from gradegate.model.report import Verdict

ALPHA = 0.02


def verdict(base: Runs, head: Runs) -> Verdict:
    """What is said of a case that is alone."""
    return judge_fixed([FixedRuns("paris", base, head)], alpha=ALPHA)["paris"].verdict


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ((True,), (False,), Verdict.REGRESSED),
        ((True,), (True,), Verdict.UNCHANGED),
        ((False,), (False,), Verdict.UNCHANGED),
        ((False,), (True,), Verdict.IMPROVED),
        ((True,), (None,), Verdict.UNCERTAIN),
        ((None,), (False,), Verdict.UNCERTAIN),
    ],
)
def test_one_run_a_side_is_the_any_flip_rule(base: Runs, head: Runs, expected: Verdict) -> None:
    """What passed and now fails has regressed, without any p-value to show for it."""
    found = judge_fixed([FixedRuns("paris", base, head)], alpha=ALPHA)["paris"]
    assert found.verdict is expected
    assert found.p_value is None


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ((True,) * 4, (False,) * 4, Verdict.REGRESSED),
        ((False,) * 4, (True,) * 4, Verdict.IMPROVED),
        ((True,) * 3, (False,) * 3, Verdict.UNCERTAIN),
        ((True, True, False), (False,) * 3, Verdict.FLAKY),
        ((True,) * 3, (True,) * 3, Verdict.UNCHANGED),
        ((False,) * 2, (True,) * 2, Verdict.IMPROVED),
        ((True,) * 4, (None, False, False, False, False), Verdict.REGRESSED),
        ((True,) * 4, (None,) * 4, Verdict.UNCERTAIN),
    ],
)
def test_several_runs_a_side_are_tested(base: Runs, head: Runs, expected: Verdict) -> None:
    """All against none in four runs holds; in three it looks bad and cannot be told."""
    assert verdict(base, head) is expected


def test_every_case_counts_in_the_correction() -> None:
    """Also those that look fine: among fifty cases, four runs a side are too few."""
    fine = [FixedRuns(number, (True,) * 4, (True,) * 4) for number in range(49)]
    broken = FixedRuns("paris", (True,) * 4, (False,) * 4)
    found = judge_fixed([broken, *fine], alpha=ALPHA)
    assert found["paris"].verdict is Verdict.UNCERTAIN
    needed = recorded_runs_needed(ALPHA, 50)
    assert needed == 7
    more = FixedRuns("paris", (True,) * needed, (False,) * needed)
    assert judge_fixed([more, *fine], alpha=ALPHA)["paris"].verdict is Verdict.REGRESSED


def test_quarantined_cases_take_nothing_of_the_level() -> None:
    """Fifty of them, and one broken case is still found with four runs."""
    aside = [FixedRuns(n, (True,) * 4, (True,) * 4, quarantined=True) for n in range(50)]
    broken = FixedRuns("paris", (True,) * 4, (False,) * 4)
    found = judge_fixed([broken, *aside], alpha=ALPHA)["paris"]
    assert found.verdict is Verdict.REGRESSED
    assert (found.base, found.head) == (Count(4, 4), Count(0, 4))


def test_unchanged_recordings_are_not_blocked() -> None:
    """Fifty very flaky cases, six recorded runs a side: under one set in a hundred is blocked."""
    rng = np.random.default_rng(5)
    blocked = 0
    for _ in range(400):
        sides = (rng.random((2, 50, 6)) < 0.7).tolist()
        cases = [
            FixedRuns(at, tuple(base), tuple(head))
            for at, (base, head) in enumerate(zip(*sides, strict=True))
        ]
        outcomes = judge_fixed(cases, alpha=ALPHA).values()
        blocked += any(one.verdict is Verdict.REGRESSED for one in outcomes)
    assert blocked <= 4
