"""What is reported beside the scores, and the budgets that hold it down."""

from collections.abc import Sequence

import pytest

from gradegate.compare.case_results import paired_results
from gradegate.compare.comparison import compare
from gradegate.compare.criterion_table import (
    by_criterion,
    compare_criteria,
    informational,
    shifts_of,
)
from gradegate.compare.gate import decide, over_budget, unmeasured, with_budgets
from gradegate.model.evalset import Case
from gradegate.model.report import CriterionComparison, State, Verdict
from gradegate.model.result import CriterionResult, Scale, Status
from gradegate.model.runs import Role, Runs, ScoredRun, SideRuns
from gradegate.model.settings import Gate
from tests.runs import MATCH, a_case, both, runs_of, scored, terms_of

TOKENS = "token_usage_v1"
CASES = [a_case(f"c{number}") for number in range(6)]


def spending(case: Case, *tokens: float | None, role: Role = Role.FIRST) -> list[ScoredRun]:
    """Runs that cost so many tokens each; None: it does not tell."""
    made = []
    for number, spent in enumerate(tokens, start=1):
        run = scored(case, number, "p", role=role)
        if spent is not None:
            told = CriterionResult(
                score=spent, status=Status.INFORMATIONAL, breakdown={"input_tokens": spent - 5}
            )
            criteria = {**run.result.criteria, TOKENS: told}
            run = ScoredRun(role, run.outcome, run.result.model_copy(update={"criteria": criteria}))
        made.append(run)
    return made


def side(*tokens: Sequence[float | None]) -> SideRuns:
    """A side's runs, case by case."""
    return {case.key: spending(case, *spent) for case, spent in zip(CASES, tokens, strict=False)}


def compared(base: SideRuns | None, head: SideRuns) -> CriterionComparison:
    """The one number that both tell."""
    pairs = [both(case) for case in CASES if case.key in head]
    (found,) = informational(pairs, base, head, alpha=0.02)
    return found


def test_both_sides_stand_beside_each_other() -> None:
    """Over the cases that tell on both; a case is the mean of its passes."""
    found = compared(side([100], [200], [None]), side([110], [230, 250], [900]))
    assert (found.base, found.head, found.delta) == (150.0, 175.0, 25.0)
    assert (found.scored, found.planned) == ((2, 3), (3, 3))
    assert found.breakdown == {"input_tokens": (145.0, 170.0)}
    assert (found.informational, found.lower_is_better) == (True, True)


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(2.0, Verdict.REGRESSED), (0.5, Verdict.IMPROVED), (1.0, Verdict.UNCHANGED)],
)
def test_a_verdict_says_what_six_cases_can_carry(factor: float, verdict: Verdict) -> None:
    """More is worse; three cases carry nothing but doubt."""
    spent = [[100.0 + 7 * n] for n in range(6)]
    now = [[factor * one[0]] for one in spent]
    assert compared(side(*spent), side(*now)).verdict is verdict
    few = compared(side(*spent[:3]), side(*now[:3])).verdict
    assert few is (Verdict.UNCHANGED if factor == 1 else Verdict.UNCERTAIN)


def test_without_a_base_head_stands_alone() -> None:
    """There is nothing to compare with."""
    found = compared(None, side([100], [200]))
    assert (found.base, found.head, found.delta, found.verdict) == (None, 150.0, None, Verdict.NEW)


def test_runs_made_because_of_how_a_case_did_do_not_count() -> None:
    """Confirming runs are no fair sample of costs either."""
    head = {CASES[0].key: [*spending(CASES[0], 100), *spending(CASES[0], 900, role=Role.CONFIRM)]}
    assert compared(side([100]), head).head == 100.0


def told_of(rows: Sequence[CriterionComparison], budget: str) -> list[str]:
    """The warnings about a budget."""
    return [one.text for one in unmeasured(rows, {TOKENS: budget})]


@pytest.mark.parametrize(
    ("budget", "over"),
    [
        ("+20%", False),
        ("+19%", True),
        ("+20", False),
        ("+19.5", True),
        ("<= 120", False),
        ("<= 119", True),
    ],
)
def test_a_budget_is_kept_or_not(budget: str, over: bool) -> None:  # noqa: FBT001 - a table
    """From 100 to 120, to the last token."""
    row = compared(side([100]), side([120]))
    (row,) = with_budgets([row], {TOKENS: budget})
    assert bool(over_budget([row], {TOKENS: budget})) == over
    assert told_of([row], budget) == []


def test_a_budget_without_anything_to_hold_it_against_is_told() -> None:
    """Relative ones need a base; an absolute one does not."""
    alone = compared(None, side([120]))
    for budget, told in (("+20%", "base has none"), ("<= 119", "")):
        (row,) = with_budgets([alone], {TOKENS: budget})
        assert told in "".join(told_of([row], budget))
        assert bool(over_budget([row], {TOKENS: budget})) == (not told)
    assert "no run tells" in told_of([], "+20%")[0]


def test_what_is_better_high_has_no_budget() -> None:
    """A better score must not block."""
    row = compared(side([100]), side([200])).model_copy(update={"lower_is_better": False})
    (row,) = with_budgets([row], {TOKENS: "+20%"})
    assert over_budget([row], {TOKENS: "+20%"}) == []
    assert "is ignored: of token_usage_v1 more is better" in told_of([row], "+20%")[0]


def reported(base: SideRuns, head: SideRuns, gate: Gate) -> tuple[State, list[str], list[str]]:
    """The gate's word on two sides: its state, its reasons' kinds, its notes' kinds."""
    terms = terms_of([both(case) for case in CASES[: len(head)]], gate)
    found = compare(terms, Runs(base, head))
    reasons = (*found.reasons, *over_budget(found.criteria, gate.budget))
    decision = decide(reasons, found.undecided, terms)
    return (
        decision.state,
        [one.kind.value for one in decision.reasons],
        [one.kind.value for one in decision.notes],
    )


def test_only_a_budget_makes_costs_block() -> None:
    """And only where `fail_on` lets it; without one they are never inconclusive either."""
    base, head = side(*[[100]] * 6), side(*[[250]] * 6)
    gate = Gate(budget={TOKENS: "+20%"})
    assert reported(base, head, gate) == (State.FAIL, ["budget"], [])
    assert reported(base, head, Gate()) == (State.PASS, [], [])
    lenient = Gate(budget={TOKENS: "+20%"}, fail_on=("regression",))
    assert reported(base, head, lenient) == (State.PASS, [], ["budget"])
    assert reported(base, side(*[[None]] * 6), gate) == (State.PASS, [], [])


def rated(letters: str, scale: Scale, score: float) -> SideRuns:
    """Six cases with a score on this scale."""
    made = runs_of([(case, letters) for case in CASES])
    return {
        key: [
            ScoredRun(
                run.role,
                run.outcome,
                run.result.model_copy(
                    update={
                        "criteria": {
                            MATCH: run.result.criteria[MATCH].model_copy(
                                update={
                                    "score": None if letters == "e" else score,
                                    "scale": scale,
                                }
                            )
                        }
                    }
                ),
            )
            for run in runs
        ]
        for key, runs in made.items()
    }


@pytest.mark.parametrize(
    ("scale", "before", "after", "verdict"),
    [
        (Scale(low=1, high=5), 4.5, 4.43, Verdict.UNCHANGED),
        (Scale(low=1, high=5), 4.5, 4.4, Verdict.REGRESSED),
        (Scale(), 0.9, 0.87, Verdict.REGRESSED),
        (Scale(high=100, lower_is_better=True), 10.0, 13.0, Verdict.REGRESSED),
        (Scale(high=100, lower_is_better=True), 10.0, 7.0, Verdict.IMPROVED),
        (Scale(high=100, lower_is_better=True), 10.0, 11.5, Verdict.UNCHANGED),
    ],
)
def test_a_tolerance_is_a_share_of_the_criterions_own_range(
    scale: Scale, before: float, after: float, verdict: Verdict
) -> None:
    """0.02 of 1 to 5 is 0.08, and of 0 to 100 it is 2; which way is worse is the scale's to say."""
    base, head = rated("p", scale, before), rated("p", scale, after)
    pairs = [both(case) for case in CASES]
    grouped = by_criterion([one for pair in pairs for one in paired_results(pair, base, head, {})])
    gate = Gate(alpha=0.1)
    (found,) = compare_criteria(grouped, shifts_of(grouped, base, head), gate, look=None)
    assert found.verdict is verdict
    assert found.range == (scale.low, scale.high)


@pytest.mark.parametrize(
    ("scale", "worst"),
    [(Scale(low=1, high=5), 1.0), (Scale(high=100, lower_is_better=True), 100.0)],
)
def test_a_failed_run_has_the_worst_score_of_its_range(scale: Scale, worst: float) -> None:
    """On a scale that begins at 1, a crash is not below it; where low is good, it is high."""
    base, head = rated("p", scale, 3.0), rated("e", scale, 0.0)
    pairs = [both(case) for case in CASES]
    grouped = by_criterion([one for pair in pairs for one in paired_results(pair, base, head, {})])
    assert shifts_of(grouped, base, head)[MATCH].mean_head == worst
