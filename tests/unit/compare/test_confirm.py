from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain, repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradegate.compare.confirm import (
    MOST_LOST,
    Confirmation,
    Runs,
    Settled,
    Suspect,
    Wanted,
    give_up,
    settle,
    smallest_confirm_runs,
)
from gradegate.compare.stats.exact import Count
from gradegate.model.report import Verdict

ALPHA, CONFIRM_RUNS = 0.02, 16
FAILED_AGAIN = (False, False, False)


def asked(suspects: Iterable[Suspect], confirm_runs: int = CONFIRM_RUNS) -> tuple[Wanted, ...]:
    """The runs to make next, where there must be some."""
    found = settle(suspects, alpha=ALPHA, confirm_runs=confirm_runs)
    assert isinstance(found, tuple)
    return found


def settled(suspects: Iterable[Suspect], confirm_runs: int = CONFIRM_RUNS) -> Settled:
    """What became of them, where nothing may be left to ask."""
    found = settle(suspects, alpha=ALPHA, confirm_runs=confirm_runs)
    assert not isinstance(found, tuple), found
    return found


def one(suspect: Suspect) -> Confirmation:
    """What became of a suspect that is alone."""
    return settled([suspect])[suspect.id]


def screened(
    name: str = "paris", base: Runs = (), head: Runs = (), *, quarantined: bool = False
) -> Suspect:
    """A suspect that failed again and again on head."""
    return Suspect(name, quarantined=quarantined, screen=FAILED_AGAIN, base=base, head=head)


def confirm(
    scripts: Mapping[str, tuple[Runs, Runs]], confirm_runs: int = CONFIRM_RUNS
) -> dict[str, Confirmation]:
    """Plays scripted runs of (base, head) until all is settled; the last goes on for ever."""
    runs = {
        name: [chain(side, repeat(side[-1])) for side in sides] for name, sides in scripts.items()
    }
    suspects = {name: screened(name) for name in scripts}
    while True:
        found = settle(suspects.values(), alpha=ALPHA, confirm_runs=confirm_runs)
        if not isinstance(found, tuple):
            return {name: found[name] for name in scripts}
        assert all(want.base + want.head > 0 for want in found)
        for want in found:
            name = str(want.id)
            suspect = suspects[name]
            base = tuple(next(runs[name][0]) for _ in range(want.base))
            head = tuple(next(runs[name][1]) for _ in range(want.head))
            suspects[name] = replace(suspect, base=suspect.base + base, head=suspect.head + head)


CLEAN = ((True,), (False,))
ONE_ODD = ((False, True), (False,))


def test_nothing_to_do() -> None:
    """No suspects, nothing wanted."""
    assert settled([]) == {}


def test_a_screen_asks_for_no_run_that_may_not_be_needed() -> None:
    """Two passes would end it, so two runs; then one at a time."""
    assert asked([Suspect("paris")]) == (Wanted("paris", "screen", base=0, head=2),)
    for runs in ((True, False), (False, False), (False, False, True), (True, False, False)):
        assert asked([Suspect("paris", screen=runs)]) == (Wanted("paris", "screen", 0, 1),)


@pytest.mark.parametrize(
    ("runs", "count"),
    [
        ((True, True), Count(2, 2)),
        ((True, False, True), Count(2, 3)),
        ((False, False, True, True), Count(2, 4)),
        ((True, True, False, False, False), Count(2, 2)),
    ],
)
def test_two_passes_make_it_flaky(runs: Runs, count: Count) -> None:
    """Before three fails; runs beyond, made for another criterion of the case, change nothing."""
    assert one(Suspect("paris", screen=runs)) == Confirmation(Verdict.FLAKY, head=count)


@pytest.mark.parametrize("runs", [FAILED_AGAIN, (False, True, False, False), (False,) * 5])
def test_three_fails_keep_it_a_suspect(runs: Runs) -> None:
    """Then fresh runs of both sides are wanted, in equal numbers."""
    (want,) = asked([Suspect("paris", screen=runs)])
    assert want.role == "confirm"
    assert want.base == want.head > 0


def test_failed_on_both_is_a_suspect_only_if_base_passes_again() -> None:
    """One more run of base tells."""
    suspect = Suspect("paris", failed_on_both=True)
    assert asked([suspect]) == (Wanted("paris", "recheck", base=1, head=0),)
    assert one(replace(suspect, recheck=(False,))).verdict is Verdict.UNCHANGED
    assert asked([replace(suspect, recheck=(True,))])[0].role == "screen"


def test_the_family_is_known_before_anything_is_tested() -> None:
    """Fresh pairs wait for the last screen: how strict the test is depends on how many stay."""
    wanted = asked([screened("rome"), Suspect("paris", screen=(True, False))])
    assert wanted == (Wanted("paris", "screen", 0, 1),)


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
        Wanted("paris", "confirm", base=0, head=1),
    )
    assert asked([Suspect("paris", screen=(None, True))]) == (Wanted("paris", "screen", 0, 1),)
    lost = Suspect("paris", failed_on_both=True, recheck=(None,))
    assert asked([lost]) == (Wanted("paris", "recheck", 1, 0),)


@pytest.mark.parametrize(
    "suspect",
    [
        Suspect("paris", failed_on_both=True, recheck=(None,) * (MOST_LOST + 1)),
        Suspect("paris", screen=(False, False) + (None,) * (MOST_LOST + 1)),
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
    assert found["paris"].p_value == pytest.approx(0.0041, abs=1e-4)
    assert found["rome"].verdict is Verdict.UNCERTAIN
    assert found["paris"].verdict is Verdict.UNCERTAIN
    clear = settled([lost, screened("paris", (True,) * 6, (False,) * 6)])
    assert clear["paris"].verdict is Verdict.REGRESSED


def test_giving_up_says_what_is_known() -> None:
    """When no more runs can be had, the settled stay settled and the open are uncertain."""
    suspects = [
        screened("clear", (True,) * 7, (False,) * 7),
        screened("open", (True,) * 2, (False,) * 2),
        screened("out", (False,) * 3, (True,) * 3),
        Suspect("flaky", screen=(True, True)),
    ]
    found = give_up(suspects, alpha=ALPHA, confirm_runs=CONFIRM_RUNS)
    assert {name: outcome.verdict for name, outcome in found.items()} == {
        "clear": Verdict.REGRESSED,
        "open": Verdict.UNCERTAIN,
        "out": Verdict.FLAKY,
        "flaky": Verdict.FLAKY,
    }
    early = [*suspects, Suspect("unscreened", screen=(True,))]
    found = give_up(early, alpha=ALPHA, confirm_runs=CONFIRM_RUNS)
    assert found["unscreened"].verdict is Verdict.UNCERTAIN
    assert found["clear"].verdict is Verdict.REGRESSED


@pytest.mark.parametrize(("alpha", "runs"), [(0.02, 4), (0.2, 3), (0.001, 7)])
def test_the_fewest_runs_that_can_confirm(alpha: float, runs: int) -> None:
    """With one fewer not even the clearest case is ever confirmed."""
    assert smallest_confirm_runs(alpha) == runs
    clearest = screened("paris", (True,) * 16, (False,) * 16)
    for given_runs, verdict in ((runs, Verdict.REGRESSED), (runs - 1, Verdict.FLAKY)):
        found = settle([clearest], alpha=alpha, confirm_runs=given_runs)
        assert not isinstance(found, tuple)
        assert found["paris"].verdict is verdict


def test_more_suspects_need_more_runs() -> None:
    """One broken among five: the level is a fifth."""
    assert smallest_confirm_runs(ALPHA, suspects=5) == 6


results = st.lists(st.booleans(), min_size=24, max_size=24).map(tuple)


@settings(max_examples=200, deadline=None)
@given(base=results, head=results)
def test_every_run_asked_for_was_needed(base: Runs, head: Runs) -> None:
    """Whatever the runs show, one fewer would not have settled it."""
    suspect = screened()
    while isinstance(wanted := settle([suspect], alpha=ALPHA, confirm_runs=CONFIRM_RUNS), tuple):
        until = len(suspect.base) + wanted[0].base
        assert wanted[0].base == wanted[0].head
        for fewer in range(len(suspect.base), until):
            assert asked([replace(suspect, base=base[:fewer], head=head[:fewer])])
        suspect = replace(suspect, base=base[:until], head=head[:until])


@settings(max_examples=200, deadline=None)
@given(base=results, head=results, more=st.integers(0, 8), lost=st.integers(0, MOST_LOST))
def test_the_outcome_is_a_matter_of_the_runs_alone(
    base: Runs, head: Runs, more: int, lost: int
) -> None:
    """Runs beyond those wanted, and lost ones before them, do not change the verdict."""
    suspect = screened()
    while isinstance(wanted := settle([suspect], alpha=ALPHA, confirm_runs=CONFIRM_RUNS), tuple):
        until = len(suspect.base) + wanted[0].base
        suspect = replace(suspect, base=base[:until], head=head[:until])
    plain = wanted["paris"]
    until = len(suspect.base) + more
    with_more = replace(suspect, base=base[:until], head=(None,) * lost + head[:until])
    found = one(with_more)
    assert found.verdict is plain.verdict
    assert found.p_value == plain.p_value or plain.p_value is None
