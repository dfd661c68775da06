from collections.abc import Callable, Iterable, Iterator, Sequence

import pytest

from gradegate.compare.next_runs import (
    confirmations,
    extra_passes,
    first_pass,
    fresh_runs,
    merged,
    passes_made,
    wanted_of_part,
    wanted_runs,
)
from gradegate.compare.pairing import Pair
from gradegate.compare.terms import Terms
from gradegate.model.evalset import Case, CaseKey
from gradegate.model.report import Verdict
from gradegate.model.runs import SIDES, Role, RunRequest, Runs, SideName
from gradegate.model.settings import Gate
from tests.oracle.worlds import World
from tests.runs import MATCH, TOOLS, a_case, add, both, runs_of, scored, terms_of

CASE = a_case()
Letter = Callable[[str, Role], str]
Sides = Sequence[tuple[Case, str | None, str]]
"""The first pass of cases on base (None: it has not the case) and on head."""


def begun(sides: Sides, quarantined: Iterable[CaseKey] = ()) -> tuple[Terms, Runs]:
    """The first pass made."""
    pairs = [both(case) if base else Pair(None, case) for case, base, _ in sides]
    runs = Runs(
        base=runs_of([(case, base) for case, base, _ in sides if base]),
        head=runs_of([(case, head) for case, _, head in sides]),
    )
    return terms_of(pairs, quarantined=quarantined), runs


def suspected(base: str | None, head: str, gate: Gate | None = None, *, again: bool = True) -> bool:
    """Whether fresh runs of a case are wanted."""
    pair = both(CASE) if base else Pair(None, CASE)
    runs = Runs(base=runs_of([(CASE, base)]) if base else {}, head=runs_of([(CASE, head)]))
    terms = terms_of([pair], gate, rerunnable=None if again else ())
    return bool(fresh_runs(terms, runs))


@pytest.mark.parametrize("sides", ["pf", "pe", "ff", "fp", "pp", "p?", "?f", "?p"])
def test_what_looks_worse_or_fails_on_both_is_a_suspect(sides: str) -> None:
    """Nothing that passes or is unknown."""
    assert suspected(*sides) == (sides in {"pf", "pe", "ff"})


@pytest.mark.parametrize("head", "pf?e")
def test_a_new_case_that_fails_is_a_suspect(head: str) -> None:
    """There is nothing for it to be worse than."""
    assert suspected(None, head) == (head in "fe")


def test_nobody_is_suspected_who_cannot_be_run_again() -> None:
    """Nor where the first pass is to have the last word."""
    for base in ("p", "f", None):
        assert suspected(base, "f")
        assert not suspected(base, "f", again=False)
        assert not suspected(base, "f", Gate(confirm_runs=0))


def played(terms: Terms, runs: Runs, answer: Letter) -> list[RunRequest]:
    """Make every fresh run that is asked for until none is; what was asked."""
    cases = {pair.key: pair.head for pair in terms.pairs}
    asked: list[RunRequest] = []
    while wanted := fresh_runs(terms, runs):
        asked += wanted
        for side, key, role, total in wanted:
            case = cases[key]
            assert case is not None
            more = total - len(runs.of(side, key, role))
            assert more > 0
            add(runs, side, case, role, answer(side, role) * more)
    return asked


def verdicts(terms: Terms, runs: Runs) -> dict[str, Verdict]:
    """What became of each suspect."""
    return {key.eval_id: one.verdict for (key, _), one in confirmations(terms, runs).items()}


def fresh(runs: Runs, side: SideName) -> int:
    """How many runs a side has made because of how a case had done."""
    made = runs.base if side == "base" else runs.head
    return sum(run.role is not Role.FIRST for own in made.values() for run in own)


def test_an_agent_that_crashes_on_head_and_passes_on_base_is_confirmed() -> None:
    """Screened on head, then fresh runs of both sides."""
    terms, runs = begun([(CASE, "p", "e")])
    asked = played(terms, runs, lambda side, _: "p" if side == "base" else "e")
    assert verdicts(terms, runs) == {"paris": Verdict.REGRESSED}
    assert {one.role for one in asked} == {Role.SCREEN, Role.CONFIRM}
    assert all(one.side == "head" for one in asked if one.role is Role.SCREEN)


def test_a_case_that_passes_when_run_again_is_flaky() -> None:
    """Base is not even asked."""
    terms, runs = begun([(CASE, "p", "f")])
    played(terms, runs, lambda _side, _role: "p")
    assert verdicts(terms, runs) == {"paris": Verdict.FLAKY}
    assert fresh(runs, "base") == 0


def test_a_case_that_fails_on_both_is_unchanged_where_base_fails_again() -> None:
    """One more run of base is all it costs."""
    terms, runs = begun([(CASE, "f", "f")])
    asked = played(terms, runs, lambda _side, _role: "f")
    assert verdicts(terms, runs) == {"paris": Verdict.UNCHANGED}
    assert asked == [RunRequest("base", CASE.key, Role.RECHECK, 1)]


def test_a_new_case_that_keeps_failing_fails() -> None:
    """Three fresh failures; base has nothing to say."""
    terms, runs = begun([(CASE, None, "f")])
    played(terms, runs, lambda _side, _role: "f")
    assert verdicts(terms, runs) == {"paris": Verdict.UNCHANGED}
    assert (fresh(runs, "base"), fresh(runs, "head")) == (0, 3)


def test_a_new_case_that_fails_now_and_then_is_flaky() -> None:
    """Two passes are enough."""
    terms, runs = begun([(CASE, None, "f")])
    played(terms, runs, lambda _side, _role: "p")
    assert verdicts(terms, runs) == {"paris": Verdict.FLAKY}
    assert fresh(runs, "head") == 2


@pytest.mark.parametrize("base", ["p", "f", None])
def test_fresh_runs_that_cannot_be_evaluated_come_to_an_end(base: str | None) -> None:
    """A dead judge makes a suspect uncertain, not the job endless; four lost are tolerated."""
    terms, runs = begun([(CASE, base, "f")])
    played(terms, runs, lambda _side, _role: "?")
    assert verdicts(terms, runs) == {"paris": Verdict.UNCERTAIN}
    side: SideName = "base" if base == "f" else "head"
    assert 4 < fresh(runs, side) <= 6
    assert fresh(runs, "base") + fresh(runs, "head") == fresh(runs, side)


def test_one_run_of_a_case_serves_all_of_its_criteria() -> None:
    """Two criteria that fail together cost no more than one."""
    names = [MATCH, TOOLS]
    runs = Runs(runs_of([(CASE, "p")], names=names), runs_of([(CASE, "f")], names=names))
    terms = terms_of([both(CASE)])
    assert fresh_runs(terms, runs) == (RunRequest("head", CASE.key, Role.SCREEN, 2),)
    assert len(confirmations(terms, runs)) == 0


def test_of_several_requests_for_the_same_the_largest_counts() -> None:
    """By side, case and role."""
    rome = a_case("rome").key
    some = [
        RunRequest("head", rome, Role.SCREEN, 2),
        RunRequest("head", CASE.key, Role.CONFIRM, 5),
        RunRequest("head", rome, Role.SCREEN, 3),
        RunRequest("base", CASE.key, Role.CONFIRM, 4),
    ]
    assert merged(some) == (some[3], some[1], some[2])


def test_a_case_in_quarantine_is_tested_by_itself() -> None:
    """It takes nothing from the level of those that can block."""
    other = a_case("rome")
    sides = [(CASE, "p", "f"), (other, "p", "f")]

    def broken(side: str, _role: Role) -> str:
        return "p" if side == "base" else "f"

    terms, together = begun(sides)
    played(terms, together, broken)
    terms, apart = begun(sides, {other.key})
    played(terms, apart, broken)
    assert fresh(apart, "base") < fresh(together, "base")


def test_a_new_case_is_screened_while_others_are_confirmed() -> None:
    """Nobody waits for it: it takes no part in the test."""
    new = a_case("new")
    terms, runs = begun([(CASE, "p", "f"), (new, None, "f")])
    add(runs, "head", CASE, Role.SCREEN, "fff")
    assert {one.role for one in fresh_runs(terms, runs)} == {Role.SCREEN, Role.CONFIRM}


def test_the_first_pass_comes_first_and_base_has_no_part_in_what_is_new() -> None:
    """Nor in a suite that it cannot run."""
    shop = a_case("shop", suite="shop")
    pairs = [both(CASE), Pair(None, a_case("new")), Pair(a_case("gone"), None), both(shop)]
    terms = terms_of(pairs, runs=2, base_suites=["desk"])
    wanted = tuple(first_pass(terms))
    assert [(side, key.eval_id, total) for side, key, _, total in wanted] == [
        ("base", "paris", 2),
        ("head", "paris", 2),
        ("head", "new", 2),
        ("head", "shop", 2),
    ]
    assert wanted_runs(terms, Runs()) == wanted
    some = Runs(head=runs_of([(CASE, "ff")]))
    assert wanted_runs(terms, some) == (wanted[0], *wanted[2:])


def leaking(*, runs: int = 1, rerunnable: Iterable[tuple[SideName, str]] | None = None) -> Terms:
    """Six cases, so many that all of them falling looks close."""
    return terms_of([both(a_case(f"c{n}")) for n in range(6)], runs=runs, rerunnable=rerunnable)


def all_fell(terms: Terms, runs: int = 1) -> Runs:
    """Every case passed on base and fails on head."""
    cases = [pair.head for pair in terms.pairs if pair.head]
    return Runs(*(runs_of([(case, letter * runs) for case in cases]) for letter in "pf"))


@pytest.mark.parametrize("per_pass", [1, 2])
def test_a_pass_is_bought_of_both_sides_and_finished_once_begun(per_pass: int) -> None:
    """Whatever the first of its runs look like: half a pass tells nothing."""
    terms = leaking(runs=per_pass)
    runs = all_fell(terms, per_pass) if per_pass == 1 else near(terms)
    bought = extra_passes(terms, runs)
    assert {one.role for one in bought} == {Role.AGAIN}
    assert [one.total for one in bought] == [per_pass] * 12
    for number, (side, key, role, total) in enumerate(bought, start=1):
        case = next(pair.head for pair in terms.pairs if pair.key == key)
        assert case is not None
        add(runs, side, case, role, "p" * total)
        left = bought[number:]
        assert passes_made(terms, runs) == (1 if left else 2)
        if left:
            assert wanted_runs(terms, runs) == left


def near(terms: Terms) -> Runs:
    """Two runs of a pass: most cases failed one of theirs on head."""
    cases = [pair.head for pair in terms.pairs if pair.head]
    runs = Runs(base=runs_of([(case, "pp") for case in cases]))
    for case, letters in zip(cases, ["pf", "pf", "pf", "pf", "pf", "pp"], strict=True):
        for number, letter in enumerate(letters, start=1):
            runs.add("head", case.key, scored(case, number, letter))
    return runs


def test_no_pass_is_bought_where_a_side_is_recorded() -> None:
    """Nor once suspects are being run: then the passes are all made."""
    terms = leaking()
    assert extra_passes(terms, all_fell(terms))
    recorded = leaking(rerunnable=[("head", "desk")])
    assert extra_passes(recorded, all_fell(recorded)) == ()
    runs = all_fell(terms)
    add(runs, "head", a_case("c0"), Role.SCREEN, "f")
    assert extra_passes(terms, runs) == ()


def rounds(world: World) -> Iterator[tuple[Runs, tuple[RunRequest, ...]]]:
    """A job's runs before each of its rounds, and what it wants then."""
    runs = Runs()
    while missing := runs.missing(wanted_runs(world.terms, runs)):
        yield Runs(runs.base, runs.head), missing
        for one in missing:
            make(world, runs, one)


def make(world: World, runs: Runs, request: RunRequest) -> None:
    """What a request lacks."""
    side, key, role, total = request
    for _ in range(total - len(runs.of(side, key, role))):
        number = len(runs.of(side, key)) + 1
        runs.add(side, key, world.run(side, key, number, role))


def test_a_job_that_reads_its_runs_back_goes_on_where_it_was() -> None:
    """After each round from a copy of the runs, and within a pass with the rest of that pass."""
    worlds = [World(seed) for seed in range(60)]
    told = [(world, runs, missing) for world in worlds for runs, missing in rounds(world)]
    assert {one.role for _, _, missing in told for one in missing} == set(Role) - {Role.REFRESH}
    for world, runs, missing in told:
        assert runs.missing(wanted_runs(world.terms, runs)) == missing
        if missing[0].role in (Role.FIRST, Role.AGAIN):
            for number, one in enumerate(missing[:-1], start=1):
                make(world, runs, one)
                left = runs.missing(wanted_runs(world.terms, runs))
                assert left == missing[number:], world.seed


def test_parts_of_what_is_wanted_are_the_whole() -> None:
    """Of suspects to be screened; and each part goes on with its own, with no look at others."""
    cases = [a_case(name) for name in "abcd"]
    terms, runs = begun([(case, "p", "f") for case in cases])
    begin = wanted_runs(terms, runs)
    parts = [{case.key for case in half} for half in (cases[:2], cases[2:])]
    asked = [wanted_of_part(terms, begin, part, 2, runs) for part in parts]
    assert sorted([*asked[0], *asked[1]]) == sorted(begin)
    assert [{one.case for one in each} for each in asked] == parts
    for case in cases[:2]:
        add(runs, "head", case, Role.SCREEN, "fff")
    more = wanted_of_part(terms, begin, parts[0], 2, runs)
    assert {(one.case, one.role) for one in more} == {(key, Role.CONFIRM) for key in parts[0]}
    for case in cases[2:]:
        add(runs, "head", case, Role.SCREEN, "fff")
    in_all = {(one.side, one.case): one.total for one in wanted_runs(terms, runs)}
    assert all(one.total >= in_all[one.side, one.case] for one in more)


def test_a_part_of_a_full_pass_is_that_and_no_more() -> None:
    """What comes after it hangs on all of the cases."""
    cases = [a_case(name) for name in "ab"]
    terms, runs = begun([(case, "p", "f") for case in cases])
    begin = [RunRequest(side, case.key, Role.AGAIN, 1) for case in cases for side in SIDES]
    part = {cases[0].key}
    assert wanted_of_part(terms, begin, part, 2, runs) == tuple(begin[:2])
    for side in SIDES:
        add(runs, side, cases[0], Role.AGAIN, "p")
    assert wanted_of_part(terms, begin, part, 2, runs) == ()
