"""Both sides compared as a whole; cases and criteria have modules of their own."""

from collections.abc import Mapping, Sequence

import pytest

from gradegate.compare.comparison import Comparison, always_failing, compare
from gradegate.model.evalset import Case, CaseKey
from gradegate.model.notice import notice
from gradegate.model.report import ReasonKind, Verdict
from gradegate.model.result import CaseResult, CriterionResult, Status
from gradegate.model.runs import Role, Runs, ScoredRun, Trace
from tests.runs import MATCH, a_case, add, both, runs_of, scored, terms_of, with_score

CASES = [a_case(name) for name in "ab"]


def compared(
    base: Sequence[float | None],
    head: Sequence[float | None],
    quarantined: frozenset[CaseKey] = frozenset(),
) -> Comparison:
    """Cases with one score a side, which cannot be run again; None could not be had."""
    cases = [a_case(f"c{number:02}") for number in range(len(base))]

    def side(scores: Sequence[float | None]) -> Mapping[CaseKey, list[ScoredRun]]:
        return {case.key: [_run(case, score)] for case, score in zip(cases, scores, strict=True)}

    terms = terms_of([both(case) for case in cases], rerunnable=(), quarantined=quarantined)
    return compare(terms, Runs(side(base), side(head)))


def _run(case: Case, score: float | None) -> ScoredRun:
    return scored(case, 1, "?") if score is None else with_score(case, 1, score)


def test_scored_and_planned_stand_beside_every_mean() -> None:
    """Counted in cases, on each side; the mean is over those scored on both."""
    (one,) = compared([1.0, None, 0.9], [1.0, 0.9, None]).criteria
    assert (one.scored, one.planned) == ((2, 2), (3, 3))
    assert (one.base, one.head) == (1.0, 1.0)


def test_cases_in_quarantine_move_no_mean() -> None:
    """Neither up nor down."""
    keys = frozenset({a_case("c00").key})
    (one,) = compared([1.0, 1.0, 1.0], [0.0, 1.0, 1.0], quarantined=keys).criteria
    assert (one.head, one.planned) == (1.0, (2, 2))


def test_evidence_is_gathered_for_what_needs_attention_and_nothing_else() -> None:
    """A report of ten thousand quiet cases stays small."""
    report = compared([1.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    assert [bool(case.evidence.turns) for case in report.cases] == [False, True, True]


def sides(base: Mapping[str, str], head: Mapping[str, str]) -> Runs:
    """First passes of cases by name."""
    return Runs(
        *(runs_of([(a_case(name), one) for name, one in side.items()]) for side in (base, head))
    )


@pytest.mark.parametrize(
    ("base", "head", "told"),
    [("ee", "ee", True), ("ee", "pp", False), ("pe", "pe", False), ("ee", "", False)],
)
def test_an_agent_that_fails_everywhere_is_noticed(base: str, head: str, *, told: bool) -> None:
    """Both sides look alike then, and the gate would pass without having seen anything."""
    runs = sides(dict(zip("ab", base, strict=True)), dict(zip("ab", head, strict=False)))
    found = list(always_failing(terms_of([both(case) for case in CASES]), runs))
    assert bool(found) == told
    for one in found:
        assert one.reason.kind is ReasonKind.INCONCLUSIVE
        assert one.could_be == ()
        assert one.reason.text.startswith("suite desk: the agent failed every case on both sides")
        assert one.reason.text.endswith("The first failure: it does not say why")


def test_what_fresh_runs_came_to_stands_with_the_case() -> None:
    """The numbers of both sides and the p-value; another case keeps its first pass."""
    terms = terms_of([both(case) for case in CASES])
    runs = sides({"a": "p", "b": "p"}, {"a": "f", "b": "p"})
    add(runs, "head", CASES[0], Role.SCREEN, "fff")
    add(runs, "base", CASES[0], Role.CONFIRM, "ppppp")
    add(runs, "head", CASES[0], Role.CONFIRM, "fffff")
    broken, fine = compare(terms, runs).cases
    one = broken.criteria[MATCH]
    assert (one.verdict, one.confirmed) == (Verdict.REGRESSED, True)
    assert one.p_value == pytest.approx(5 * 0.25**5)
    assert (one.passed, one.runs) == ((5, 0), (5, 5))
    assert fine.criteria[MATCH].verdict is Verdict.UNCHANGED
    assert fine.criteria[MATCH].runs == (1, 1)


def test_a_flaky_case_tells_of_all_runs_that_showed_it() -> None:
    """Also of the failed one that made it a suspect: 2 of 2 would be no flaky case at all."""
    runs = sides({"a": "p"}, {"a": "f"})
    add(runs, "head", CASES[0], Role.SCREEN, "pp")
    (case,) = compare(terms_of([both(CASES[0])]), runs).cases
    one = case.criteria[MATCH]
    assert one.verdict is Verdict.FLAKY
    assert (one.passed, one.runs) == ((1, 2), (1, 3))


def test_a_case_that_fails_on_base_as_well_tells_of_all_runs_that_showed_it() -> None:
    """Of those run again, too; not of passes that were bought for the mean of all cases."""
    runs = sides({"a": "f"}, {"a": "f"})
    add(runs, "base", CASES[0], Role.RECHECK, "f")
    add(runs, "head", CASES[0], Role.AGAIN, "p")
    (case,) = compare(terms_of([both(CASES[0])]), runs).cases
    one = case.criteria[MATCH]
    assert one.verdict is Verdict.UNCHANGED
    assert (one.passed, one.runs) == ((0, 0), (2, 1))


def silent(name: str) -> ScoredRun:
    """A run that no criterion says anything of."""
    why = notice("score.no_expected_answer")
    case = a_case(name)
    result = CaseResult(
        suite=case.suite,
        eval_set=case.eval_set,
        eval_id=case.eval_id,
        status=Status.NOT_EVALUATED,
        notice=why,
        criteria={MATCH: CriterionResult(threshold=0.8, notice=why, applies=False)},
    )
    trace = Trace(suite=case.suite, eval_set=case.eval_set, eval_id=case.eval_id)
    return ScoredRun(Role.FIRST, trace, result)


def unmeasured(names: str) -> Comparison:
    """Case a passes; the others are measured by nothing."""
    cases = [a_case(name) for name in names]
    side = {c.key: [scored(c, 1, "p") if c.eval_id == "a" else silent(c.eval_id)] for c in cases}
    return compare(terms_of(map(both, cases), rerunnable=()), Runs(side, side))


def test_a_case_that_nothing_measures_says_so() -> None:
    """It is not unchanged: nobody looked."""
    compared_ = unmeasured("ab")
    assert [case.unmeasured is None for case in compared_.cases] == [True, False]
    assert compared_.undecided == ()


def test_where_nothing_is_measured_nothing_can_be_said() -> None:
    """Whatever could have been found, it would not have been."""
    (open_,) = unmeasured("bc").undecided
    assert (open_.reason.code, open_.could_be) == ("undecided.nothing_measured", ())
    assert "final_response" in open_.reason.text


def test_no_cases_at_all_are_no_pass() -> None:
    """An empty eval set measures nothing either."""
    (open_,) = compare(terms_of([]), Runs({}, {})).undecided
    assert open_.reason.code == "undecided.no_cases"
