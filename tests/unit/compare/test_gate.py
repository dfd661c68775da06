from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from gradegate.compare.comparison import compare
from gradegate.compare.gate import Undecided, decide
from gradegate.compare.pairing import Pair
from gradegate.compare.terms import Terms
from gradegate.model.evalset import Case
from gradegate.model.report import Accepted, Decision, Reason, ReasonKind, State, Verdict
from gradegate.model.runs import Role, Runs, ScoredRun, SideName, SideRuns
from gradegate.model.settings import DEFAULT_FAIL_ON, Gate
from tests.runs import (
    MATCH,
    OUTAGE,
    a_case,
    add,
    both,
    runs_of,
    scored,
    terms_of,
    with_score,
)

CASE, OTHER = a_case(), a_case("rome")
ALL_KINDS = tuple(ReasonKind)
FRESH: Mapping[Verdict, Sequence[tuple[SideName, Role, str]]] = {
    Verdict.REGRESSED: [
        ("head", Role.SCREEN, "fff"),
        ("base", Role.CONFIRM, "ppppp"),
        ("head", Role.CONFIRM, "fffff"),
    ],
    Verdict.FLAKY: [("head", Role.SCREEN, "pp")],
    Verdict.UNCERTAIN: [("base", Role.RECHECK, "?????"), ("head", Role.SCREEN, "?????")],
}
"""Fresh runs of a suspect that settle it so."""


def decided(
    base: str | None,
    head: str,
    fresh: Verdict | None = None,
    accepted_by: str | None = None,
    **rules: Any,
) -> Decision:
    """The decision over one case beside one that passes; base None: an added case.

    `fresh` is what fresh runs come to; without them a single run is a recording.
    """
    alone = rules.get("base_suites") == ()
    runs = Runs(
        base={} if alone else runs_of([(OTHER, "p")]),
        head=runs_of([(CASE, head), (OTHER, "p")]),
    )
    if base is not None:
        add(runs, "base", CASE, Role.FIRST, base)
    for side, role, letters in FRESH[fresh] if fresh else ():
        if side == "head" or base is not None:
            add(runs, side, CASE, role, letters)
    pair = both(CASE) if base is not None else Pair(None, CASE)
    other = Pair(None, OTHER) if alone else both(OTHER)
    rerunnable = None if fresh or len(head) > 1 else ()
    terms = terms_of([pair, other], rules.pop("gate", None), rerunnable=rerunnable, **rules)
    return decision_of(terms, runs, accepted_by)


def decision_of(terms: Terms, runs: Runs, accepted_by: str | None = None) -> Decision:
    """Compared and decided."""
    found = compare(terms, runs)
    accepted = None if accepted_by is None else Accepted(accepted_by)
    return decide(found.reasons, found.undecided, terms, accepted)


def given(
    reasons: Iterable[Reason], gate: Gate | None = None, accepted_by: str | None = None
) -> Decision:
    """What is decided on these reasons alone."""
    accepted = None if accepted_by is None else Accepted(accepted_by)
    return decide(reasons, (), terms_of([], gate), accepted)


def gate(*fail_on: ReasonKind) -> Gate:
    """A gate that these kinds of finding keep shut."""
    return Gate(fail_on=fail_on)


def kinds(decision: Decision) -> list[ReasonKind]:
    """What the state rests on."""
    return [reason.kind for reason in decision.reasons]


@pytest.mark.parametrize(
    ("base", "head", "fresh", "kind"),
    [
        ("p", "f", None, ReasonKind.REGRESSION),
        ("p", "e", None, ReasonKind.REGRESSION),
        ("p", "f", Verdict.REGRESSED, ReasonKind.REGRESSION),
        ("p", "e", Verdict.REGRESSED, ReasonKind.REGRESSION),
        (None, "f", None, ReasonKind.NEW_FAILURE),
        (None, "e", None, ReasonKind.NEW_FAILURE),
        ("f", "f", None, ReasonKind.THRESHOLD),
        ("e", "e", None, ReasonKind.THRESHOLD),
    ],
)
def test_each_kind_blocks_where_fail_on_lists_it_and_nowhere_else(
    base: str | None, head: str, fresh: Verdict | None, kind: ReasonKind
) -> None:
    """Elsewhere it is a note."""
    decision = decided(base, head, fresh, gate=gate(kind))
    assert decision.state is State.FAIL
    assert kinds(decision) == [kind]
    others = gate(*(one for one in ALL_KINDS if one is not kind))
    relaxed = decided(base, head, fresh, gate=others)
    assert relaxed.state is State.PASS
    assert [note.kind for note in relaxed.notes] == [kind]


def test_an_agent_that_crashes_on_head_and_passes_on_base_is_blocked() -> None:
    """A crash is no outage: it counts as failing, and is confirmed like any other."""
    decision = decided("p", "e", Verdict.REGRESSED)
    assert decision.state is State.FAIL
    (reason,) = decision.reasons
    assert reason.text == "paris: passed 5 of 5 on base, 0 of 5 on head (p = 0.005)"
    assert (reason.suite, reason.eval_set, reason.eval_id, reason.criterion) == (*CASE.key, MATCH)


def test_a_flip_that_was_not_run_again_says_so() -> None:
    """Nobody should take the any-flip rule for a test."""
    assert "cannot be run again, so a flip blocks" in decided("p", "f").reasons[0].text
    decision = decided("p", "f", gate=Gate(confirm_runs=0))
    assert "`confirm_runs` is 0, so a flip blocks" in decision.reasons[0].text


def test_a_flaky_case_never_blocks() -> None:
    """Not as a regression, a new failure or a threshold."""
    for base in ("p", None):
        decision = decided(base, "f", Verdict.FLAKY, gate=gate(*ALL_KINDS))
        assert (decision.state, decision.reasons, decision.notes) == (State.PASS, (), ())


def test_a_removed_case_blocks_and_names_itself() -> None:
    """Its own key, since head has none."""
    decision = decision_of(terms_of([Pair(CASE, None)]), Runs())
    assert kinds(decision) == [ReasonKind.REMOVED]
    assert decision.reasons[0].eval_id == "paris"
    relaxed = decision_of(terms_of([Pair(CASE, None)], gate(ReasonKind.REGRESSION)), Runs())
    assert relaxed.state is State.PASS


def test_reasons_from_elsewhere_block_by_the_same_list() -> None:
    """What was loosened, what went over budget."""
    for kind in (ReasonKind.LOOSENED, ReasonKind.BUDGET):
        reason = Reason(kind=kind, text="…")
        assert given([reason]).reasons == (reason,)
        passing = given([reason], gate())
        assert (passing.state, passing.notes) == (State.PASS, (reason,))


@pytest.mark.parametrize(
    ("base", "head"), [("p", "f"), (None, "f"), ("f", "f"), ("p", "?"), (None, "?"), ("?", "?")]
)
def test_a_case_in_quarantine_never_blocks(base: str | None, head: str) -> None:
    """It is reported, and neither fails the gate nor leaves it open."""
    rules: dict[str, Any] = {"gate": gate(*ALL_KINDS), "quarantined": frozenset({CASE.key})}
    assert decided(base, head, **rules).state is State.PASS
    assert decided(base, head, gate=gate(*ALL_KINDS)).state is not State.PASS


def test_acceptance_waives_what_base_would_object_to_and_nothing_else() -> None:
    """A new failure, a threshold or a budget is head's own affair."""
    waived = {ReasonKind.REGRESSION, ReasonKind.REMOVED, ReasonKind.LOOSENED}
    for kind in ReasonKind:
        reason = Reason(kind=kind, text="…")
        if kind is ReasonKind.INCONCLUSIVE:
            everything = terms_of([], gate(*ALL_KINDS))
            decision = decide((), [Undecided(reason)], everything, Accepted("octocat"))
            assert decision.state is State.INCONCLUSIVE
        else:
            decision = given([reason], gate(*ALL_KINDS), "octocat")
            assert decision.state is (State.PASS if kind in waived else State.FAIL)
        assert decision.accepted_by == "octocat"


def test_acceptance_without_a_name_is_acceptance_all_the_same() -> None:
    """At a terminal nobody tells who."""
    assert decided("p", "f", accepted_by="").state is State.PASS


def test_with_nothing_to_compare_with_thresholds_alone_decide() -> None:
    """Whatever `fail_on` says; a case is not new there, and passes where it passes."""
    decision = decided(None, "f", gate=gate(), base_suites=())
    assert (decision.state, kinds(decision)) == (State.FAIL, [ReasonKind.THRESHOLD])
    assert decided(None, "p", gate=gate(), base_suites=()).state is State.PASS
    elsewhere = terms_of([Pair(None, CASE), both(a_case("a", suite="shop"))], gate())
    alone = replace(elsewhere, base_suites=frozenset({"desk"}))
    assert alone.thresholds_only == {"shop"}
    runs = Runs(head=runs_of([(CASE, "f")]))
    assert decision_of(alone, runs).state is State.PASS


@pytest.mark.parametrize(
    ("base", "head", "fresh", "fail_on", "state"),
    [
        # Head has no score: worse than base, new and failing, or below its threshold?
        ("p", "?", None, DEFAULT_FAIL_ON, State.INCONCLUSIVE),
        ("?", "?", None, DEFAULT_FAIL_ON, State.INCONCLUSIVE),
        (None, "?", None, DEFAULT_FAIL_ON, State.INCONCLUSIVE),
        ("pp", "p?", None, DEFAULT_FAIL_ON, State.INCONCLUSIVE),
        # Base fails, so head can only be better or the same.
        ("f", "?", None, DEFAULT_FAIL_ON, State.PASS),
        ("e", "?", None, DEFAULT_FAIL_ON, State.PASS),
        # … unless its own threshold blocks.
        ("f", "?", None, ALL_KINDS, State.INCONCLUSIVE),
        # Base has no score: head's failure may be new.
        ("?", "f", None, DEFAULT_FAIL_ON, State.INCONCLUSIVE),
        ("?", "e", None, DEFAULT_FAIL_ON, State.INCONCLUSIVE),
        # Head passes, whatever base did.
        ("?", "p", None, DEFAULT_FAIL_ON, State.PASS),
        ("?", "p", None, ALL_KINDS, State.PASS),
        # The missing run could not turn the majority.
        ("ppp", "pp?", None, ALL_KINDS, State.PASS),
        ("fff", "ff?", None, DEFAULT_FAIL_ON, State.PASS),
        # Fresh runs that could not be had.
        ("p", "f", Verdict.UNCERTAIN, DEFAULT_FAIL_ON, State.INCONCLUSIVE),
        ("f", "f", Verdict.UNCERTAIN, DEFAULT_FAIL_ON, State.INCONCLUSIVE),
        (None, "f", Verdict.UNCERTAIN, DEFAULT_FAIL_ON, State.INCONCLUSIVE),
        # Nothing that is missing could block, because nothing of that kind does.
        ("p", "?", None, (ReasonKind.REMOVED, ReasonKind.INCONCLUSIVE), State.PASS),
        (None, "?", None, (ReasonKind.REGRESSION, ReasonKind.INCONCLUSIVE), State.PASS),
        ("p", "?", None, (ReasonKind.THRESHOLD, ReasonKind.INCONCLUSIVE), State.INCONCLUSIVE),
        # The gate was told not to mind.
        ("p", "?", None, (ReasonKind.REGRESSION,), State.PASS),
    ],
)
def test_not_evaluated_is_not_passed_where_it_could_matter(
    base: str | None,
    head: str,
    fresh: Verdict | None,
    fail_on: tuple[ReasonKind, ...],
    state: State,
) -> None:
    """Inconclusive exactly where a score that is missing could have turned the decision."""
    assert decided(base, head, fresh, gate=gate(*fail_on)).state is state


def test_an_open_case_says_what_could_not_be_had_and_why() -> None:
    """With its place, for the reader and the annotation."""
    (reason,) = decided("p", "?").reasons
    assert reason.kind is ReasonKind.INCONCLUSIVE
    assert reason.text == f"paris: {MATCH} could not be evaluated: {OUTAGE}"
    assert reason.eval_id == "paris"


def test_inconclusive_left_out_of_fail_on_passes_with_a_note() -> None:
    """What is missing is said all the same."""
    decision = decided("p", "?", gate=gate(ReasonKind.REGRESSION))
    assert decision.state is State.PASS
    assert [note.kind for note in decision.notes] == [ReasonKind.INCONCLUSIVE]


def test_what_is_accepted_of_one_case_waives_nothing_of_another() -> None:
    """Nor what speaks of no case."""
    one, other = (
        Reason(kind=ReasonKind.REGRESSION, text="…", eval_id=name) for name in ("one", "other")
    )
    criterion = Reason(kind=ReasonKind.REGRESSION, text="…", criterion="safety_v1")
    accepted = Accepted("octocat", ("one",))
    decision = decide([one, other, criterion], (), terms_of([]), accepted)
    assert decision.reasons == (other, criterion)
    assert decision.notes == (one,)
    assert decision.accepted_cases == ("one",)
    assert decide([one], (), terms_of([]), accepted).state is State.PASS


def test_an_accepted_regression_leaves_thresholds_open() -> None:
    """What could have been a waived regression could have been a blocking threshold as well."""
    accepted: dict[str, Any] = {"accepted_by": "octocat"}
    assert decided("p", "?", **accepted).state is State.PASS
    strict = decided("p", "?", gate=gate(*ALL_KINDS), **accepted)
    assert strict.state is State.INCONCLUSIVE


def test_with_nothing_to_compare_with_a_missing_score_is_open() -> None:
    """It could have been below its threshold, and that blocks there."""
    fail_on = gate(ReasonKind.INCONCLUSIVE)
    decision = decided(None, "?", gate=fail_on, base_suites=())
    assert decision.state is State.INCONCLUSIVE


def test_a_failure_elsewhere_is_not_made_inconclusive() -> None:
    """Any reason that blocks says no, whatever else is missing."""
    lost, broken = a_case("lost"), a_case("broken")
    base, head = runs_of([(lost, "p"), (broken, "p")]), runs_of([(lost, "?"), (broken, "f")])
    terms = terms_of([both(lost), both(broken)], rerunnable=())
    decision = decision_of(terms, Runs(base, head))
    assert decision.state is State.FAIL
    assert [reason.eval_id for reason in decision.reasons if reason.eval_id] == ["broken"]


def many(
    base: Sequence[float | None], head: Sequence[float | None], **rules: Any
) -> tuple[Terms, Runs]:
    """Cases with one score a side, which cannot be run again; None could not be had."""
    cases = [a_case(f"c{number:02}") for number in range(len(base))]

    def side(scores: Sequence[float | None]) -> SideRuns:
        return {case.key: [_run(case, score)] for case, score in zip(cases, scores, strict=True)}

    gate = rules.pop("gate", None)
    terms = terms_of([both(case) for case in cases], gate, rerunnable=(), **rules)
    return terms, Runs(side(base), side(head))


def _run(case: Case, score: float | None) -> ScoredRun:
    return scored(case, 1, "?") if score is None else with_score(case, 1, score)


def test_a_criterion_that_leaks_over_all_cases_blocks() -> None:
    """Though every case passes its threshold."""
    decision = decision_of(*many([1.0] * 20, [0.85] * 20))
    assert kinds(decision) == [ReasonKind.REGRESSION]
    assert decision.reasons[0].criterion == MATCH
    assert decision.reasons[0].eval_id is None
    assert decision_of(*many([1.0] * 20, [0.99] * 20)).state is State.PASS


def test_a_leak_that_missing_scores_could_hide_is_inconclusive() -> None:
    """Base lost its scores, head passes everywhere, and may be worse everywhere."""
    decision = decision_of(*many([None] * 20, [0.85] * 20))
    assert decision.state is State.INCONCLUSIVE
    (reason,) = decision.reasons
    assert (reason.kind, reason.criterion) == (ReasonKind.INCONCLUSIVE, MATCH)
    assert "20/40 scores" in reason.text


@pytest.mark.parametrize(
    ("base", "head", "rules"),
    [
        ([None] * 20, [1.0] * 20, {}),
        ([None] * 3 + [0.85] * 17, [0.85] * 20, {}),
        ([None] * 20, [0.85] * 20, {"accepted_by": "octocat"}),
        ([None] * 20, [0.85] * 20, {"gate": gate(ReasonKind.REMOVED, ReasonKind.INCONCLUSIVE)}),
        ([None] * 20, [0.99] * 20, {}),
    ],
    ids=["head is perfect", "too few", "accepted", "nobody minds", "within the tolerance"],
)
def test_missing_scores_that_could_hide_no_leak_pass(
    base: list[float | None], head: list[float | None], rules: dict[str, Any]
) -> None:
    """Even the worst that they could have been would not have blocked."""
    accepted_by = rules.pop("accepted_by", None)
    terms, runs = many(base, head, **rules)
    assert decision_of(terms, runs, accepted_by).state is State.PASS


def test_what_could_not_be_compared_at_all_is_inconclusive() -> None:
    """A reason of that kind from elsewhere is no "no", and no "yes" either."""
    nothing_seen = Reason(kind=ReasonKind.INCONCLUSIVE, text="the agent failed every case")
    undecided = [Undecided(nothing_seen)]
    decision = decide((), undecided, terms_of([], gate(*ALL_KINDS)))
    assert (decision.state, decision.reasons) == (State.INCONCLUSIVE, (nothing_seen,))
    relaxed = decide((), undecided, terms_of([], gate()))
    assert (relaxed.state, relaxed.notes) == (State.PASS, (nothing_seen,))
