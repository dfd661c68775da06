import pytest

from gradegate.compare.case_results import (
    PairedResult,
    Standing,
    full_passes,
    gated_names,
    outcomes,
    paired_results,
    summarize,
)
from gradegate.compare.pairing import Pair
from gradegate.compare.screening import Confirmation
from gradegate.compare.stats.exact import Count
from gradegate.model.report import Verdict
from gradegate.model.runs import Role, Runs
from tests.runs import MATCH, OUTAGE, TOOLS, a_case, both, runs_of, scored, with_score

CASE = a_case()


@pytest.mark.parametrize(
    ("runs", "standing"),
    [
        ("p", "passed"),
        ("f", "failed"),
        ("e", "failed"),
        ("?", "unknown"),
        ("-", "passed"),
        ("pp", "passed"),
        ("pf", "failed"),
        ("ff", "failed"),
        ("p?", "unknown"),
        ("f?", "failed"),
        ("??", "unknown"),
        ("ppf", "passed"),
        ("pff", "failed"),
        ("pp?", "passed"),
        ("ff?", "failed"),
        ("pf?", "unknown"),
        ("p??", "unknown"),
        ("pe?", "unknown"),
        ("ee?", "failed"),
        ("-f-", "passed"),
    ],
)
def test_the_majority_of_the_first_pass_decides(runs: str, standing: Standing) -> None:
    """And where the missing runs could make or break it, nobody knows."""
    assert summarize(runs_of([(CASE, runs)])[CASE.key], MATCH).standing == standing


def test_only_first_pass_runs_are_observed() -> None:
    """Runs made because a case had failed say nothing about how often it fails."""
    runs = [scored(CASE, 1, "f"), scored(CASE, 2, "p", role=Role.SCREEN)]
    runs += [scored(CASE, 3, "p", role=role) for role in (Role.CONFIRM, Role.AGAIN, Role.RECHECK)]
    found = summarize(runs, MATCH)
    assert (found.passed, found.evaluated, found.planned) == (0, 1, 1)


def test_a_run_that_the_agent_failed_counts_as_nothing_scored() -> None:
    """Left out, crashes would raise the mean."""
    found = summarize([with_score(CASE, 1, 0.9), scored(CASE, 2, "e")], MATCH)
    assert found.values == (0.9, 0.0)
    assert found.mean == pytest.approx(0.45)


def test_what_was_not_evaluated_moves_no_mean_and_says_why() -> None:
    """It is neither a zero nor left out unseen."""
    found = summarize([with_score(CASE, 1, 0.9), scored(CASE, 2, "?")], MATCH)
    assert found.mean == pytest.approx(0.9)
    assert (found.evaluated, found.planned) == (1, 2)
    assert found.why is not None
    assert found.why.text == OUTAGE


def test_a_run_that_the_criterion_does_not_apply_to_has_no_score() -> None:
    """It passes, and is no zero."""
    found = summarize([with_score(CASE, 1, 0.9), scored(CASE, 2, "-")], MATCH)
    assert found.values == (0.9,)
    assert (found.passed, found.evaluated) == (2, 2)


def test_a_criterion_that_no_run_has_is_unknown() -> None:
    """Nothing is made of nothing."""
    found = summarize(runs_of([(CASE, "p")])[CASE.key], "another")
    assert (found.standing, found.mean, found.planned) == ("unknown", None, 1)


def test_fresh_runs_are_those_of_one_role_in_order() -> None:
    """None where the run could not be evaluated, or the criterion is not there."""
    runs = [scored(CASE, 1, "p")]
    runs += [scored(CASE, n, letter, role=Role.CONFIRM) for n, letter in enumerate("fp?e-", 2)]
    made = Runs(head={CASE.key: runs})
    confirming = made.of("head", CASE.key, Role.CONFIRM)
    assert outcomes(confirming, MATCH) == (False, True, None, False, True)
    assert outcomes(made.of("head", CASE.key, Role.SCREEN), MATCH) == ()
    assert outcomes(confirming, "another") == (None,) * 5


def test_full_passes_are_the_first_and_those_bought_again() -> None:
    """A missing score is left out, or stands as what it is said to stand as."""
    runs = [
        with_score(CASE, 1, 0.9),
        scored(CASE, 2, "?", role=Role.AGAIN),
        scored(CASE, 3, "e", role=Role.AGAIN),
        scored(CASE, 4, "-", role=Role.AGAIN),
        with_score(CASE, 5, 0.1, role=Role.SCREEN),
    ]
    assert full_passes(runs, MATCH) == (0.9, 0.0)
    assert full_passes(runs, MATCH, missing=1.0) == (0.9, 1.0, 0.0)
    assert full_passes(runs, "another", missing=0.5) == (0.5, 0.5, 0.5, 0.5)


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
