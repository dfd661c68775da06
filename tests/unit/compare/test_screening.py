from dataclasses import replace

import pytest

from gradegate.compare.screening import MOST_LOST, Confirmation, Outcomes, Suspect, screen
from gradegate.compare.stats.exact import Count
from gradegate.model.report import Verdict
from gradegate.model.runs import Role, RunRequest
from tests.runs import MATCH, a_case

KEY = a_case().key
PARIS = Suspect((KEY, MATCH))
NEW = replace(PARIS, is_new=True)
BOTH = replace(PARIS, failed_on_both=True)
FAILED_AGAIN = (False, False, False)


def found(suspect: Suspect) -> Confirmation:
    """What became of it, where that is known."""
    outcome = screen(suspect)
    assert isinstance(outcome, Confirmation), outcome
    return outcome


def head(total: int) -> RunRequest:
    """So many screening runs in all."""
    return RunRequest("head", KEY, Role.SCREEN, total)


@pytest.mark.parametrize("suspect", [PARIS, NEW])
def test_a_screen_asks_for_no_run_that_may_not_be_needed(suspect: Suspect) -> None:
    """Two passes would end it, so two runs; then one at a time."""
    assert screen(suspect) == head(2)
    for runs in ((True, False), (False, False), (False, False, True), (True, False, False)):
        assert screen(replace(suspect, screen=runs)) == head(len(runs) + 1)


@pytest.mark.parametrize("suspect", [PARIS, NEW])
@pytest.mark.parametrize(
    ("runs", "count"),
    [
        ((True, True), Count(2, 2)),
        ((True, False, True), Count(2, 3)),
        ((False, False, True, True), Count(2, 4)),
        ((True, True, False, False, False), Count(2, 2)),
    ],
)
def test_two_passes_make_it_flaky(suspect: Suspect, runs: Outcomes, count: Count) -> None:
    """Before three fails; runs beyond, made for another criterion of the case, change nothing."""
    assert found(replace(suspect, screen=runs)) == Confirmation(Verdict.FLAKY, head=count)


@pytest.mark.parametrize("runs", [FAILED_AGAIN, (False, True, False, False), (False,) * 5])
def test_three_fails_keep_it_a_suspect(runs: Outcomes) -> None:
    """The screen has no more to say; a new case fails for good."""
    assert screen(replace(PARIS, screen=runs)) is None
    assert found(replace(NEW, screen=runs)).verdict is Verdict.UNCHANGED


def test_failed_on_both_is_a_suspect_only_if_base_passes_again() -> None:
    """One more run of base tells."""
    assert screen(BOTH) == RunRequest("base", KEY, Role.RECHECK, 1)
    again = found(replace(BOTH, recheck=(False,)))
    assert (again.verdict, again.base) == (Verdict.UNCHANGED, Count(0, 1))
    assert screen(replace(BOTH, recheck=(True,))) == head(2)


def test_a_run_that_could_not_be_evaluated_is_asked_for_again() -> None:
    """One more in all, and no more than that."""
    assert screen(replace(PARIS, screen=(None, True))) == head(3)
    lost = replace(BOTH, recheck=(None,))
    assert screen(lost) == RunRequest("base", KEY, Role.RECHECK, 2)


@pytest.mark.parametrize(
    ("few", "many"),
    [
        (replace(BOTH, recheck=(None,) * lost), replace(BOTH, recheck=(None,) * (lost + 1)))
        for lost in [4]
    ]
    + [
        (
            replace(one, screen=(False, False) + (None,) * 4),
            replace(one, screen=(False, False) + (None,) * 5),
        )
        for one in (PARIS, NEW)
    ],
    ids=["recheck", "screen", "new"],
)
def test_four_lost_runs_are_tolerated_in_every_role_and_a_fifth_is_not(
    few: Suspect, many: Suspect
) -> None:
    """A new case is given up no sooner than another."""
    assert MOST_LOST == 4
    assert isinstance(screen(few), RunRequest)
    assert found(many).verdict is Verdict.UNCERTAIN
    assert found(many).lost == 5


def test_lost_runs_of_a_case_that_is_settled_do_not_matter() -> None:
    """Whatever else could not be had."""
    lost = (None,) * 9
    assert found(replace(PARIS, screen=(*lost, True, True))).verdict is Verdict.FLAKY
    assert found(replace(NEW, screen=(*lost, *FAILED_AGAIN))).verdict is Verdict.UNCHANGED
