import pytest

from gradegate.compare.case_results import PairedResult, gated_names, paired_results
from gradegate.compare.confirm import Confirmation
from gradegate.compare.pairing import Pair
from gradegate.compare.stats.exact import Count
from gradegate.model.report import Verdict
from tests.runs import MATCH, OUTAGE, TOOLS, a_case, both, runs_of, scored

CASE = a_case()


def judged(base: str | None, head: str, settled: Confirmation | None = None) -> PairedResult:
    """The judgement of one criterion, given the first pass of each side."""
    pair = both(CASE) if base is not None else Pair(None, CASE)
    before = None if base is None else runs_of([(CASE, base)])
    outcomes = {(CASE.key, MATCH): settled} if settled else {}
    (one,) = paired_results(pair, before, runs_of([(CASE, head)]), outcomes)
    return one


@pytest.mark.parametrize(
    ("base", "head", "verdict"),
    [
        ("p", "p", Verdict.UNCHANGED),
        ("f", "f", Verdict.UNCHANGED),
        ("e", "e", Verdict.UNCHANGED),
        ("p", "f", Verdict.REGRESSED),
        ("p", "e", Verdict.REGRESSED),
        ("-", "f", Verdict.REGRESSED),
        ("f", "p", Verdict.IMPROVED),
        ("e", "p", Verdict.IMPROVED),
        ("p", "?", Verdict.UNCERTAIN),
        ("f", "?", Verdict.UNCERTAIN),
        ("?", "?", Verdict.UNCERTAIN),
        ("?", "f", Verdict.UNCERTAIN),
        ("?", "p", Verdict.UNCHANGED),
        (None, "p", Verdict.NEW),
        (None, "f", Verdict.NEW),
        (None, "?", Verdict.NEW),
    ],
)
def test_what_the_first_pass_says(base: str | None, head: str, verdict: Verdict) -> None:
    """Where nobody runs a case again, this is the verdict."""
    assert judged(base, head).verdict is verdict


@pytest.mark.parametrize(
    "verdict", [Verdict.REGRESSED, Verdict.FLAKY, Verdict.UNCHANGED, Verdict.UNCERTAIN]
)
def test_fresh_runs_have_the_last_word(verdict: Verdict) -> None:
    """Whatever the first pass looked like."""
    assert judged("p", "f", Confirmation(verdict)).verdict is verdict


def test_a_case_without_a_base_stays_new_whatever_its_fresh_runs_say() -> None:
    """They say whether it fails, and there is nothing for it to be worse than."""
    assert judged(None, "f", Confirmation(Verdict.FLAKY)).verdict is Verdict.NEW


@pytest.mark.parametrize(
    ("base", "head", "settled", "short", "is_open"),
    [
        ("p", "p", None, False, False),
        ("f", "f", None, True, False),
        ("p", "?", None, False, True),
        (None, "f", None, True, False),
        (None, "f", Verdict.UNCHANGED, True, False),
        (None, "f", Verdict.FLAKY, False, False),
        (None, "f", Verdict.UNCERTAIN, False, True),
        ("p", "f", Verdict.FLAKY, False, False),
        ("p", "f", Verdict.UNCERTAIN, True, False),
        ("p", "f", Verdict.REGRESSED, True, False),
    ],
)
def test_who_falls_short_of_the_threshold(
    base: str | None, head: str, settled: Verdict | None, *, short: bool, is_open: bool
) -> None:
    """Not a flaky case, and not one of which that cannot be told."""
    one = judged(base, head, Confirmation(settled) if settled else None)
    assert (one.falls_short, one.is_open) == (short, is_open)


@pytest.mark.parametrize(
    ("base", "head", "settled", "open_"),
    [
        ("p", "?", None, True),
        ("?", "?", None, True),
        ("?", "f", None, True),
        ("f", "?", None, False),
        ("?", "p", None, False),
        ("p", "p", None, False),
        ("p", "f", None, False),
        ("p", "f", Verdict.UNCERTAIN, True),
        ("f", "f", Verdict.UNCERTAIN, True),
        ("??", "pp", Verdict.UNCERTAIN, False),
        ("ff", "??", Verdict.UNCERTAIN, False),
        ("pp", "??", Verdict.UNCERTAIN, True),
        (None, "?", None, False),
    ],
)
def test_where_missing_scores_could_hide_a_regression(
    base: str | None, head: str, settled: Verdict | None, *, open_: bool
) -> None:
    """Exactly where head, evaluated in full, could have turned out worse than base."""
    assert judged(base, head, Confirmation(settled) if settled else None).may_be_worse is open_


def test_the_report_counts_fresh_runs_where_there_are_any() -> None:
    """First-pass scores stay beside them: confirming runs are no fair sample of a mean."""
    outcome = Confirmation(Verdict.REGRESSED, 0.004, Count(5, 5), Count(0, 5))
    one = judged("p", "f", outcome).comparison()
    assert (one.passed, one.runs) == ((5, 0), (5, 5))
    assert (one.base, one.head, one.delta) == (1.0, 0.0, -1.0)
    assert (one.p_value, one.confirmed, one.threshold) == (0.004, True, 0.8)


def test_the_report_counts_the_first_pass_where_there_are_none() -> None:
    """With why a score is missing."""
    one = judged("pp?", "f??").comparison()
    assert (one.passed, one.runs) == ((2, 0), (2, 1))
    assert (one.confirmed, one.reason) == (False, OUTAGE)


def test_a_case_that_head_has_not_is_not_judged() -> None:
    """There is nothing of head's to judge."""
    assert paired_results(Pair(CASE, None), {}, {}, {}) == []


def test_a_base_that_did_not_run_the_case_is_no_base_for_it() -> None:
    """As where base has no such suite."""
    (one,) = paired_results(both(CASE), {}, runs_of([(CASE, "p")]), {})
    assert one.base is None


def test_criteria_that_pass_or_fail_are_judged_in_stable_order() -> None:
    """One that applies to no run of head is not."""
    runs = [
        scored(CASE, 1, "p", names=[TOOLS, MATCH]),
        scored(CASE, 2, "-", names=["never", "safety_v1"]),
        scored(CASE, 3, "?", names=["safety_v1"]),
    ]
    assert gated_names(runs) == [MATCH, "safety_v1", TOOLS]
