import pytest

from gradegate.compare.comparison import compare
from gradegate.compare.gate import decide
from gradegate.compare.next_runs import wanted_runs
from gradegate.compare.no_base import remarks, with_sound_base
from gradegate.compare.pairing import Pair
from gradegate.compare.terms import Terms
from gradegate.model.notice import texts_of
from gradegate.model.report import State, Verdict
from gradegate.model.runs import Role, Runs
from tests.runs import a_case, both, runs_of, terms_of


def measured(base: str, head: str, *, suite: str = "desk") -> tuple[Terms, Runs]:
    """A suite with so many cases, a letter each."""
    cases = [a_case(f"c{number:02}", suite=suite) for number in range(len(head))]
    runs = Runs(
        base=runs_of(list(zip(cases, base, strict=True))),
        head=runs_of(list(zip(cases, head, strict=True))),
    )
    return terms_of(map(both, cases)), runs


@pytest.mark.parametrize(
    ("base", "head", "broken"),
    [
        ("eeee", "fffp", True),
        ("e", "p", True),
        ("ee??", "pp??", True),
        ("fffff", "ppppp", True),
        ("ffffffff", "ffpppppp", True),
        ("ffffffff", "fffppppp", False),
        ("ffff", "pppp", False),
        ("feee", "fppp", False),
        ("f", "p", False),
        ("fffffffffp", "pppppppppp", True),
        ("ffffffffpp", "pppppppppp", False),
        ("ffff", "ffff", False),
        ("fffffffff", "ffffffffp", False),
        ("????", "pppp", False),
        ("ffff", "????", False),
        ("pppp", "pppp", False),
    ],
)
def test_a_base_that_fails_nearly_everything_is_none(base: str, head: str, *, broken: bool) -> None:
    """But where head fails as well, nobody can say, or it may be chance."""
    terms, runs = measured(base, head)
    sound, left = with_sound_base(terms, runs)
    assert sound.thresholds_only == (frozenset({"desk"}) if broken else frozenset())
    assert bool(left.base) is not broken
    assert left.head == runs.head
    assert len(texts_of(remarks(terms, runs))) == broken


def test_a_suite_is_told_with_its_numbers() -> None:
    """Of base's first runs, as far as they could be evaluated."""
    terms, runs = measured("ee?e", "pp?f")
    assert texts_of(remarks(terms, runs)) == (
        (
            "suite desk: base fails 3 of 3 runs and this pull request does not, so there is no "
            "base to compare with: its thresholds alone decide"
        ),
    )


def test_another_suite_keeps_its_base() -> None:
    """Also the mean of a criterion that both have goes by the other alone."""
    terms, runs = measured("eeee", "pppf")
    others, more = measured("pppp", "pppp", suite="shop")
    both_suites = terms_of((*terms.pairs, *others.pairs))
    sound, left = with_sound_base(
        both_suites, Runs({**runs.base, **more.base}, {**runs.head, **more.head})
    )
    assert sound.thresholds_only == {"desk"}
    assert {key.suite for key in left.base} == {"shop"}


def test_a_case_that_base_has_not_says_nothing_of_base() -> None:
    """New cases pass or fail on head alone."""
    old, new = a_case("old"), a_case("new")
    runs = Runs(runs_of([(old, "f")]), runs_of([(old, "f"), (new, "p")]))
    terms = terms_of([both(old), Pair(None, new)])
    assert with_sound_base(terms, runs) == (terms, runs)


def test_what_fails_is_run_again_on_head_alone_and_blocks() -> None:
    """Base's failures are asked nothing more, and what is flaky does not block."""
    terms, runs = measured("eeee", "pppf")
    while wanted := runs.missing(wanted_runs(terms, runs)):
        assert {(one.side, one.role) for one in wanted} == {("head", Role.SCREEN)}
        for one in wanted:
            case = terms.pairs[3].head
            assert case is not None
            (again,) = runs_of([(case, "f")], role=Role.SCREEN).values()
            runs.add("head", one.case, again[0])
    found = compare(terms, runs)
    decision = decide(found.reasons, found.undecided, found.terms)
    assert decision.state is State.FAIL
    assert [reason.eval_id for reason in decision.reasons] == ["c03"]
    verdicts = {one.verdict for case in found.cases for one in case.criteria.values()}
    assert verdicts == {Verdict.NEW}
