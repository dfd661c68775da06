import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from gradegate.compare.criterion_shift import (
    CriterionShift,
    another_pass_wanted,
    compare_criterion,
    level_at,
    verdicts,
)
from gradegate.model.report import Verdict
from gradegate.model.result import Scale

ALPHA = 0.02


def leak(
    p_value: float, drop: float, *, error: float = 0.01, n: int = 50, runs: int = 1
) -> CriterionShift:
    """A criterion whose mean fell by so much, with an interval two errors to each side."""
    interval = (-drop - 2 * error, -drop + 2 * error)
    return CriterionShift(n, runs, 0.8, 0.8 - drop, -drop, interval, p_value, 1 - p_value, "drawn")


def told(*leaks: CriterionShift, tolerance: float = 0.02, look: int | None = None) -> list[Verdict]:
    """What is said of criteria taken together."""
    named = {str(at): one for at, one in enumerate(leaks)}
    found = verdicts(named, lambda _: tolerance, alpha=ALPHA, look=look)
    return [found[name].verdict for name in named]


def once(scores: list[float]) -> list[list[float]]:
    """One run of each case."""
    return [[score] for score in scores]


def test_means_difference_and_interval() -> None:
    """The interval is Student's, as scipy has it for paired differences."""
    rng = np.random.default_rng(1)
    base = rng.random(12)
    head = base + rng.normal(-0.05, 0.1, 12)
    found = compare_criterion(base[:, None].tolist(), head[:, None].tolist())
    expected = stats.ttest_rel(head, base).confidence_interval(0.95)
    assert found.interval == pytest.approx((expected.low, expected.high))
    assert found.mean_base == pytest.approx(base.mean())
    assert found.mean_head == pytest.approx(head.mean())
    assert found.delta == pytest.approx((head - base).mean())
    assert (found.n, found.runs) == (12, 1)


@pytest.mark.parametrize(
    ("base", "head", "interval"),
    [
        ([0.5, 0.7, 0.9], [0.4, 0.6, 0.8], (-0.1, -0.1)),
        ([1.0, 1.0], [1.0, 1.0], (0.0, 0.0)),
        ([0.5], [0.9], None),
        ([1.0, 0.0], [0.0, 1.0], (-12.706205, 12.706205)),
    ],
)
def test_intervals_by_hand(
    base: list[float], head: list[float], interval: tuple[float, float] | None
) -> None:
    """All differences equal: that value. One case: none. Two: as wide as two cases make it."""
    found = compare_criterion(once(base), once(head)).interval
    assert found == (interval if interval is None else pytest.approx(interval))


def test_a_case_without_a_score_on_a_side_is_left_out() -> None:
    """And counted as left out."""
    found = compare_criterion([[0.9], [], [0.5]], [[0.8], [0.1], []])
    assert found.n == 1
    assert found.delta == pytest.approx(-0.1)


def test_nothing_to_compare_is_uncertain() -> None:
    """Never unchanged."""
    nothing = compare_criterion([[]], [[0.5]])
    assert nothing.delta is None
    assert told(nothing) == [Verdict.UNCERTAIN]
    assert told(nothing, leak(0.0001, 0.1)) == [Verdict.UNCERTAIN, Verdict.REGRESSED]


def test_more_runs_of_a_case_count_as_one_case() -> None:
    """The mean is over cases, however often each was run."""
    found = compare_criterion([[1.0, 0.0], [1.0]], [[1.0, 1.0], [1.0]])
    assert found.mean_base == pytest.approx(0.75)
    assert found.delta == pytest.approx(0.25)
    assert found.runs == 2


def test_lower_may_be_better() -> None:
    """More tokens are a change for the worse."""
    base, head = once([100.0] * 12), once([120.0 + at for at in range(12)])
    found = compare_criterion(base, head, scale=Scale(lower_is_better=True))
    assert found.delta == pytest.approx(25.5)
    assert found.drop == pytest.approx(25.5)
    assert found.p_value == pytest.approx(2**-12)
    assert told(found, tolerance=5.0) == [Verdict.REGRESSED]
    assert told(found, tolerance=30.0) == [Verdict.UNCHANGED]
    fewer = compare_criterion(head, base, scale=Scale(lower_is_better=True))
    assert told(fewer, tolerance=5.0) == [Verdict.IMPROVED]


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (leak(0.015, 0.03, error=0.004), Verdict.REGRESSED),
        (leak(0.0151, 0.03, error=0.004), Verdict.UNCERTAIN),
        (leak(0.0001, 0.02, error=0.0), Verdict.UNCHANGED),
        (leak(0.0001, 0.02, error=0.004), Verdict.UNCERTAIN),
        (leak(0.5, 0.0, error=0.009), Verdict.UNCHANGED),
        (leak(0.5, 0.0, error=0.011), Verdict.UNCERTAIN),
        (leak(0.99, -0.03, error=0.004), Verdict.IMPROVED),
        (leak(0.98, -0.03, error=0.004), Verdict.UNCHANGED),
        (leak(0.999, -0.01, error=0.004), Verdict.UNCHANGED),
    ],
)
def test_a_verdict_needs_significance_and_size(one: CriterionShift, expected: Verdict) -> None:
    """Both for worse and for better; what the interval still leaves open is uncertain."""
    assert told(one) == [expected]


def test_criteria_are_corrected_for_being_several() -> None:
    """What holds alone need not hold among seven; two that hold leave the third more room."""
    noise = [leak(0.9, 0.0, error=0.001)] * 6
    assert told(leak(0.002, 0.05), *noise)[0] is Verdict.REGRESSED
    assert told(leak(0.003, 0.05), *noise)[0] is Verdict.UNCERTAIN
    assert told(leak(0.014, 0.05), leak(0.004, 0.05)) == [Verdict.REGRESSED] * 2


def test_the_level_is_split_over_the_looks() -> None:
    """A tenth, three twentieths and a half of alpha: three quarters in all."""
    assert [level_at(ALPHA, look) for look in (1, 2, 3)] == pytest.approx([0.002, 0.003, 0.010])
    assert level_at(ALPHA, None) == pytest.approx(0.015)
    for look, p_value in ((1, 0.002), (2, 0.003), (3, 0.010)):
        assert told(leak(p_value, 0.05), look=look) == [Verdict.REGRESSED]
        assert told(leak(p_value * 1.01, 0.05), look=look) == [Verdict.UNCERTAIN]


@pytest.mark.parametrize(
    ("one", "look", "wanted"),
    [
        (leak(0.04, 0.05), 1, True),
        (leak(0.041, 0.05), 1, False),
        (leak(0.03, 0.019), 1, False),
        (leak(0.002, 0.05), 1, False),
        (leak(0.03, 0.05), 2, True),
        (leak(0.03, 0.05), 3, False),
    ],
)
def test_another_pass_where_it_looks_close(one: CriterionShift, look: int, *, wanted: bool) -> None:
    """Not where it is clear already, too small to matter, or the third has been made."""
    leaks = {"score": one}
    found = another_pass_wanted(leaks, lambda _: 0.02, alpha=ALPHA, look=look)
    assert found is wanted


def test_what_it_would_take_to_settle() -> None:
    """Within the tolerance: until the interval leaves no larger drop open."""
    found = verdicts({"score": leak(0.4, 0.0, error=0.03)}, lambda _: 0.02, alpha=ALPHA)["score"]
    assert found.verdict is Verdict.UNCERTAIN
    assert found.more_passes == 8  # the interval is three times too wide: nine passes, one made
    beyond = verdicts({"score": leak(0.05, 0.03, error=0.02)}, lambda _: 0.02, alpha=ALPHA)
    assert beyond["score"].more_passes == 2  # 0.02 · 2.17 (for 0.015) / 0.03, squared
    at_the_edge = verdicts({"score": leak(0.2, 0.02, error=0.02)}, lambda _: 0.02, alpha=ALPHA)
    assert at_the_edge["score"].more_passes is None


def test_what_it_would_take_with_very_few_cases() -> None:
    """Two cases that fell alike: only more runs give ways enough to deal the names."""
    found = compare_criterion([[0.9], [0.9]], [[0.4], [0.4]])
    settled = verdicts({"score": found}, lambda _: 0.02, alpha=ALPHA)["score"]
    assert settled.verdict is Verdict.UNCERTAIN
    assert settled.more_passes == 2  # six ways a case with two passes, 20 with three: 1/400


BIG = """
import json, time
from pathlib import Path
import numpy as np
from gradegate.compare.criterion_shift import compare_criterion, verdicts
rng = np.random.default_rng(1)
scores = {str(c): (rng.random((10_000, r)).tolist(), rng.random((10_000, r)).tolist())
          for c, r in enumerate([1, 1, 1, 2, 2, 3, 3])}
scores["0"] = tuple([[float(s > .5)] for [s] in side] for side in scores["0"])
scores["3"] = tuple([[float(s > .5) for s in row] for row in side] for side in scores["3"])
began = time.process_time()
leaks = {name: compare_criterion(*sides) for name, sides in scores.items()}
verdicts(leaks, lambda _: 0.02, alpha=0.02)
most = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
print(json.dumps([time.process_time() - began, int(most)]))
"""


def test_ten_thousand_cases_by_seven_criteria() -> None:
    """In seconds and in little memory, imports included in the memory.

    Not `ru_maxrss`, which a child begins with at what its parent had.
    """
    done = subprocess.run([sys.executable, "-c", BIG], capture_output=True, text=True, check=True)
    seconds, kilobytes = json.loads(done.stdout)
    assert seconds < 60
    assert kilobytes < 500_000
