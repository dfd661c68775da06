from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain, repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradegate.compare.confirm import settle, smallest_confirm_runs
from gradegate.compare.screening import MOST_LOST, Confirmation, Outcomes, Suspect, SuspectId
from gradegate.compare.stats.exact import Count
from gradegate.model.evalset import CaseKey
from gradegate.model.report import Verdict
from gradegate.model.runs import Role, RunRequest, SideName
from tests.runs import MATCH, a_case

ALPHA, CONFIRM_RUNS = 0.02, 16
FAILED_AGAIN = (False, False, False)


def key(name: str) -> CaseKey:
    """A case's."""
    return a_case(name).key


def called(name: str) -> SuspectId:
    """What a suspect is known by."""
    return key(name), MATCH


def asked(suspects: Iterable[Suspect], confirm_runs: int = CONFIRM_RUNS) -> tuple[RunRequest, ...]:
    """The runs to have next, where there must be some."""
    wanted = settle(suspects, alpha=ALPHA, confirm_runs=confirm_runs).wanted
    assert wanted
    return wanted


def settled(
    suspects: Iterable[Suspect], confirm_runs: int = CONFIRM_RUNS
) -> Mapping[SuspectId, Confirmation]:
    """What became of them, where nothing may be left to ask."""
    found = settle(suspects, alpha=ALPHA, confirm_runs=confirm_runs)
    assert found.wanted == ()
    return found.confirmations


def one(suspect: Suspect) -> Confirmation:
    """What became of a suspect that is alone."""
    return settled([suspect])[suspect.id]


def suspected(name: str = "paris", *, screen: Outcomes = ()) -> Suspect:
    """A suspect that may have been screened."""
    return Suspect(called(name), screen=screen)


def screened(
    name: str = "paris", base: Outcomes = (), head: Outcomes = (), *, quarantined: bool = False
) -> Suspect:
    """A suspect that failed again and again on head."""
    return Suspect(called(name), quarantined=quarantined, screen=FAILED_AGAIN, base=base, head=head)


def until(wanted: Iterable[RunRequest], side: SideName) -> int:
    """How many fresh runs a side is to have in all, where one suspect alone asks."""
    (total,) = (want.total for want in wanted if want.side == side)
    return total


def confirm(
    scripts: Mapping[str, tuple[Outcomes, Outcomes]], confirm_runs: int = CONFIRM_RUNS
) -> dict[str, Confirmation]:
    """Plays scripted runs of (base, head) until all is settled; the last goes on for ever."""
    runs = {
        (key(name), side): chain(script, repeat(script[-1]))
        for name, sides in scripts.items()
        for side, script in zip(("base", "head"), sides, strict=True)
    }
    suspects = {key(name): screened(name) for name in scripts}
    while True:
        found = settle(suspects.values(), alpha=ALPHA, confirm_runs=confirm_runs)
        if not found.wanted:
            return {name: found.confirmations[called(name)] for name in scripts}
        for side, case, role, total in found.wanted:
            suspect = suspects[case]
            made = suspect.base if side == "base" else suspect.head
            assert role is Role.CONFIRM
            assert total > len(made)
            made += tuple(next(runs[case, side]) for _ in range(total - len(made)))
            suspects[case] = (
                replace(suspect, base=made) if side == "base" else replace(suspect, head=made)
            )


CLEAN = ((True,), (False,))
ONE_ODD = ((False, True), (False,))


def test_nothing_to_do() -> None:
    """No suspects, nothing wanted."""
    assert settled([]) == {}


@pytest.mark.parametrize("runs", [FAILED_AGAIN, (False, True, False, False), (False,) * 5])
def test_three_fails_keep_it_a_suspect(runs: Outcomes) -> None:
    """Then fresh runs of both sides are wanted, in equal numbers."""
    wanted = asked([suspected(screen=runs)])
    assert {want.role for want in wanted} == {Role.CONFIRM}
    assert until(wanted, "base") == until(wanted, "head") > 0


def test_the_family_is_known_before_anything_is_tested() -> None:
    """Fresh pairs wait for the last screen: how strict the test is depends on how many stay."""
    wanted = asked([screened("rome"), suspected(screen=(True, False))])
    assert wanted == (RunRequest("head", key("paris"), Role.SCREEN, 3),)


@pytest.mark.parametrize(
    ("suspects", "early", "full"), [(1, 5, 11), (2, 6, 12), (5, 7, 12), (50, 8, 15), (300, 10, 16)]
)
def test_how_many_pairs_it_takes(suspects: int, early: int, full: int) -> None:
    """A clear case needs the early number of runs a side, one with an odd run the full one."""
    flaky = {str(number): ((False,), (True,)) for number in range(1, suspects)}
    clear = confirm({"paris": CLEAN, **flaky})["paris"]
    assert (clear.base, clear.head) == (Count(early, early), Count(0, early))
    assert clear.p_value == pytest.approx(5 * 0.25**early)
    assert clear.verdict is Verdict.REGRESSED
    less_clear = confirm({"paris": ONE_ODD, **flaky})["paris"]
    assert (less_clear.base, less_clear.head) == (Count(full - 1, full), Count(0, full))
    assert less_clear.verdict is Verdict.REGRESSED
    assert less_clear.confirmed


def test_two_odd_runs_a_side_are_forgiven_and_a_third_is_not() -> None:
    """The full number of runs is the least that allows for two on each side."""
    late = (True, True, True, True, False, True, False, True)
    forgiven = confirm({"paris": (late, tuple(not run for run in late))})["paris"]
    assert (forgiven.base, forgiven.head) == (Count(9, 11), Count(2, 11))
    assert forgiven.p_value == pytest.approx(1.25 * 0.0021717548, rel=1e-6)
    assert forgiven.verdict is Verdict.REGRESSED
    third = (True, True, True, True, False, True, False, False, True)
    let_go = confirm({"paris": (third, tuple(not run for run in third))})["paris"]
    assert let_go.verdict is Verdict.FLAKY
    assert let_go.p_value is None
    assert let_go.base.runs == 8


def test_three_odd_runs_in_the_first_three_pairs_end_it() -> None:
    """Nobody pays for runs of a case that behaves as no broken one does."""
    found = confirm({"paris": ((True, False), (True, True, False))})["paris"]
    assert found.verdict is Verdict.FLAKY
    assert found.base.runs == 2
    spread = ((True, True, False, True), (False, True, False, False))
    assert confirm({"paris": spread})["paris"].verdict is Verdict.REGRESSED


def test_many_broken_cases_help_each_other() -> None:
    """With all of five clear, all are named; the level is shared with those that are flaky."""
    scripts = {str(number): CLEAN for number in range(5)}
    assert {found.verdict for found in confirm(scripts).values()} == {Verdict.REGRESSED}


def test_a_quarantined_suspect_is_tested_outside_the_family() -> None:
    """It costs the others nothing of their level, and is told apart all the same."""
    quarantined = [
        screened(str(number), (True,) * 5, (False,) * 5, quarantined=True) for number in range(50)
    ]
    found = settled([screened("paris", (True,) * 5, (False,) * 5), *quarantined])
    assert [outcome.verdict for outcome in found.values()] == [Verdict.REGRESSED] * 51
    blocking = [replace(suspect, quarantined=False) for suspect in quarantined[:4]]
    assert asked([screened("paris", (True,) * 5, (False,) * 5), *blocking])


def test_a_run_that_could_not_be_evaluated_is_asked_for_again() -> None:
    """Of the side that lost it, and of that one only."""
    five = (True,) * 5
    assert asked([screened("paris", five, (False,) * 4 + (None,))]) == (
        RunRequest("head", key("paris"), Role.CONFIRM, 6),
    )


@pytest.mark.parametrize(
    "suspect",
    [
        Suspect(called("paris"), failed_on_both=True, recheck=(None,) * (MOST_LOST + 1)),
        suspected(screen=(False, False) + (None,) * (MOST_LOST + 1)),
        screened("paris", (True,) * 4, (None,) * (MOST_LOST + 1)),
    ],
)
def test_too_many_lost_runs_are_uncertain(suspect: Suspect) -> None:
    """Neither passed nor failed, and not asked for without end."""
    assert one(suspect).verdict is Verdict.UNCERTAIN
    assert one(suspect).lost == MOST_LOST + 1


def test_lost_runs_matter_only_where_they_could() -> None:
    """A case that is out already is flaky, however many of its runs were lost."""
    out = screened("paris", (True, False, False), (True, True, True) + (None,) * 9)
    assert one(out).verdict is Verdict.FLAKY


def test_what_hangs_on_a_lost_one_is_uncertain_too() -> None:
    """Two suspects may each have the whole level if both hold; alone, half."""
    lost = screened("rome", (True,) * 3, (None,) * 9)
    ten_and_three_of_twelve = (True,) * 3 + (False,) * 2 + (True,) * 7, (False,) * 9 + (True,) * 3
    found = settled([lost, screened("paris", *ten_and_three_of_twelve)])
    assert found[called("paris")].p_value == pytest.approx(0.0041, abs=1e-4)
    assert found[called("rome")].verdict is Verdict.UNCERTAIN
    assert found[called("paris")].verdict is Verdict.UNCERTAIN
    clear = settled([lost, screened("paris", (True,) * 6, (False,) * 6)])
    assert clear[called("paris")].verdict is Verdict.REGRESSED


@pytest.mark.parametrize(("alpha", "runs"), [(0.02, 4), (0.2, 3), (0.001, 7)])
def test_the_fewest_runs_that_can_confirm(alpha: float, runs: int) -> None:
    """With one fewer not even the clearest case is ever confirmed."""
    assert smallest_confirm_runs(alpha) == runs
    clearest = screened("paris", (True,) * 16, (False,) * 16)
    for given_runs, verdict in ((runs, Verdict.REGRESSED), (runs - 1, Verdict.FLAKY)):
        found = settle([clearest], alpha=alpha, confirm_runs=given_runs)
        assert found.wanted == ()
        assert found.confirmations[called("paris")].verdict is verdict


def test_more_suspects_need_more_runs() -> None:
    """One broken among five: the level is a fifth."""
    assert smallest_confirm_runs(ALPHA, suspects=5) == 6


results = st.lists(st.booleans(), min_size=24, max_size=24).map(tuple)


@settings(max_examples=200)
@given(base=results, head=results)
def test_every_run_asked_for_was_needed(base: Outcomes, head: Outcomes) -> None:
    """Whatever the runs show, one fewer would not have settled it."""
    suspect = screened()
    while wanted := settle([suspect], alpha=ALPHA, confirm_runs=CONFIRM_RUNS).wanted:
        total = until(wanted, "base")
        assert total == until(wanted, "head")
        for fewer in range(len(suspect.base), total):
            assert asked([replace(suspect, base=base[:fewer], head=head[:fewer])])
        suspect = replace(suspect, base=base[:total], head=head[:total])


@settings(max_examples=200)
@given(base=results, head=results, more=st.integers(0, 8), lost=st.integers(0, MOST_LOST))
def test_the_outcome_is_a_matter_of_the_runs_alone(
    base: Outcomes, head: Outcomes, more: int, lost: int
) -> None:
    """Runs beyond those wanted, and lost ones before them, do not change the verdict."""
    suspect = screened()
    while wanted := settle([suspect], alpha=ALPHA, confirm_runs=CONFIRM_RUNS).wanted:
        total = until(wanted, "base")
        suspect = replace(suspect, base=base[:total], head=head[:total])
    plain = one(suspect)
    total = len(suspect.base) + more
    with_more = replace(suspect, base=base[:total], head=(None,) * lost + head[:total])
    found = one(with_more)
    assert found.verdict is plain.verdict
    assert found.p_value == plain.p_value or plain.p_value is None
