import pytest

from gradegate.compare.case_results import Standing, fresh, full_passes, summarize
from gradegate.model.runs import Role
from tests.runs import MATCH, OUTAGE, a_case, runs_of, scored, with_score

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
    assert (found.evaluated, found.planned, found.reason) == (1, 2, OUTAGE)


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
    """None where the run could not be evaluated."""
    runs = [scored(CASE, 1, "p")]
    runs += [scored(CASE, n, letter, role=Role.CONFIRM) for n, letter in enumerate("fp?e-", 2)]
    assert fresh(runs, MATCH, Role.CONFIRM) == (False, True, None, False, True)
    assert fresh(runs, MATCH, Role.SCREEN) == ()


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
