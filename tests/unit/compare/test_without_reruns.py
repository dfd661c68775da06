import numpy as np
import pytest

from gradegate.compare.screening import Outcomes, SuspectId
from gradegate.compare.stats.exact import Count
from gradegate.compare.without_reruns import FixedRuns, judge_fixed
from gradegate.model.report import Verdict
from tests.runs import MATCH, a_case

ALPHA = 0.02


def called(name: str) -> SuspectId:
    """What a case and criterion are known by."""
    return a_case(name).key, MATCH


PARIS = called("paris")


def verdict(base: Outcomes, head: Outcomes) -> Verdict:
    """What is said of a case that is alone."""
    return judge_fixed([FixedRuns(PARIS, base, head)], alpha=ALPHA)[PARIS].verdict


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
def test_one_run_a_side_is_the_any_flip_rule(
    base: Outcomes, head: Outcomes, expected: Verdict
) -> None:
    """What passed and now fails has regressed, without any p-value to show for it."""
    found = judge_fixed([FixedRuns(PARIS, base, head)], alpha=ALPHA)[PARIS]
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
        ((True, None, None), (None, False, None), Verdict.UNCERTAIN),
        ((True, None), (True, None), Verdict.UNCHANGED),
    ],
)
def test_several_runs_a_side_are_tested(base: Outcomes, head: Outcomes, expected: Verdict) -> None:
    """All against none in four runs holds; in three it looks bad and cannot be told."""
    assert verdict(base, head) is expected


def test_every_case_counts_in_the_correction() -> None:
    """Also those that look fine: among fifty cases, four runs a side are too few."""
    fine = [FixedRuns(called(str(number)), (True,) * 4, (True,) * 4) for number in range(49)]
    broken = FixedRuns(PARIS, (True,) * 4, (False,) * 4)
    found = judge_fixed([broken, *fine], alpha=ALPHA)
    assert found[PARIS].verdict is Verdict.UNCERTAIN
    for runs, verdict in ((6, Verdict.UNCERTAIN), (7, Verdict.REGRESSED)):
        more = FixedRuns(PARIS, (True,) * runs, (False,) * runs)
        assert judge_fixed([more, *fine], alpha=ALPHA)[PARIS].verdict is verdict


def test_quarantined_cases_take_nothing_of_the_level() -> None:
    """Fifty of them, and one broken case is still found with four runs."""
    aside = [
        FixedRuns(called(str(n)), (True,) * 4, (True,) * 4, quarantined=True) for n in range(50)
    ]
    broken = FixedRuns(PARIS, (True,) * 4, (False,) * 4)
    found = judge_fixed([broken, *aside], alpha=ALPHA)[PARIS]
    assert found.verdict is Verdict.REGRESSED
    assert (found.base, found.head) == (Count(4, 4), Count(0, 4))


def test_unchanged_recordings_are_not_blocked() -> None:
    """Fifty very flaky cases, six recorded runs a side: under one set in a hundred is blocked."""
    rng = np.random.default_rng(5)
    names = [called(str(number)) for number in range(50)]
    blocked = 0
    for _ in range(400):
        sides = (rng.random((2, 50, 6)) < 0.7).tolist()
        cases = [
            FixedRuns(name, tuple(base), tuple(head))
            for name, base, head in zip(names, *sides, strict=True)
        ]
        outcomes = judge_fixed(cases, alpha=ALPHA).values()
        blocked += any(one.verdict is Verdict.REGRESSED for one in outcomes)
    assert blocked <= 4
