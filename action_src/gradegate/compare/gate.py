"""The gate's word: what is held against a pull request, budgets included, and what it comes to."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from gradegate import locales
from gradegate.compare.case_results import PairedResult
from gradegate.compare.pairing import Pair
from gradegate.compare.terms import Terms
from gradegate.model.budget import parse_budget
from gradegate.model.evalset import CaseKey
from gradegate.model.notice import Notice, notice
from gradegate.model.report import (
    Accepted,
    Change,
    CriterionComparison,
    Decision,
    Reason,
    ReasonKind,
    State,
    Verdict,
)
from gradegate.model.settings import Gate

_NOTHING = Notice(text="")
"""Said of what could have been found and was not."""
LEVELLED = frozenset({ReasonKind.REGRESSION, ReasonKind.NEW_FAILURE, ReasonKind.THRESHOLD})
"""What a criterion or a case that is only advisory does not block by."""
WAIVED_BY_ACCEPTANCE = frozenset({ReasonKind.REGRESSION, ReasonKind.REMOVED, ReasonKind.LOOSENED})


class Undecided(NamedTuple):
    """Something that was not evaluated, and what it could have been."""

    reason: Reason
    could_be: tuple[Reason, ...] = ()
    """Empty: nothing in particular, and so it always counts."""


def decide(
    reasons: Iterable[Reason],
    undecided: Iterable[Undecided],
    terms: Terms,
    accepted: Accepted | None = None,
) -> Decision:
    """Any reason that blocks says no; else, what could not be told and could have.

    `accepted` is what of it somebody accepted that base would object to.
    """

    def blocks(reason: Reason) -> bool:
        return _blocks(reason, terms, accepted=accepted is not None and accepted.covers(reason))

    def decided(state: State, reasons: Iterable[Reason], notes: Iterable[Reason]) -> Decision:
        return Decision(
            state=state,
            reasons=tuple(reasons),
            notes=tuple(notes),
            accepted_by=accepted and accepted.who,
            accepted_cases=accepted and accepted.cases,
        )

    found = list(reasons)
    blocking = _critical_first((reason for reason in found if blocks(reason)), terms)
    notes = tuple(reason for reason in found if not blocks(reason))
    if blocking:
        return decided(State.FAIL, blocking, notes)
    left = _told_once(
        one.reason for one in undecided if not one.could_be or any(map(blocks, one.could_be))
    )
    if left and ReasonKind.INCONCLUSIVE in terms.gate.fail_on:
        return decided(State.INCONCLUSIVE, left, notes)
    return decided(State.PASS, (), (*notes, *left))


def soaked(decision: Decision) -> tuple[Decision, tuple[Notice, ...]]:
    """The decision of a gate that blocks nobody yet, and what it would have been."""
    if decision.state is State.PASS:
        return decision, ()
    passed = Decision(
        state=State.PASS,
        notes=(*decision.reasons, *decision.notes),
        accepted_by=decision.accepted_by,
        accepted_cases=decision.accepted_cases,
    )
    blocked = decision.state is State.FAIL
    return passed, (notice("soak.fail") if blocked else notice("soak.inconclusive"),)


def _critical_first(reasons: Iterable[Reason], terms: Terms) -> tuple[Reason, ...]:
    def rank(reason: Reason) -> bool:
        return terms.gate.level_of(reason.criterion, _key(reason)) != "critical"

    return tuple(sorted(reasons, key=rank))


def _blocks(reason: Reason, terms: Terms, *, accepted: bool) -> bool:
    """Whether this kind of finding, of this case, keeps a pull request out."""
    if accepted and reason.kind in WAIVED_BY_ACCEPTANCE:
        return False
    key = _key(reason)
    if key in terms.quarantined:
        return False
    if reason.kind in LEVELLED and terms.gate.level_of(reason.criterion, key) == "advisory":
        return False
    alone = reason.kind is ReasonKind.THRESHOLD and reason.suite in terms.thresholds_only
    return alone or reason.kind in terms.gate.fail_on


def _told_once(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """A criterion that its cases speak of is not named on its own as well."""
    listed = list(reasons)
    told = {reason.criterion for reason in listed if reason.eval_id is not None}
    return tuple(
        one for one in listed if one.eval_id is not None or one.criterion not in told - {None}
    )


def findings_of_cases(results: Iterable[PairedResult], terms: Terms) -> Iterator[Reason]:
    """What got worse, and what is below its threshold."""
    for one in results:
        if one.verdict is Verdict.REGRESSED:
            yield _reason(ReasonKind.REGRESSION, one, _regression(one, terms.gate))
        elif one.falls_short and _is_new(one, terms):
            yield _reason(ReasonKind.NEW_FAILURE, one, notice("new_failure", what=_below(one)))
        elif one.falls_short:
            yield _reason(ReasonKind.THRESHOLD, one, _below(one))


def _regression(one: PairedResult, gate: Gate) -> Notice:
    compared = one.comparison()
    case = one.pair.key.eval_id
    if not compared.confirmed:
        return notice(
            "regression.cannot_rerun" if gate.confirm_runs else "regression.not_confirmed",
            case=case,
        )
    (base_passed, head_passed), (base_runs, head_runs) = (
        map(locales.count, counts) for counts in (compared.passed, compared.runs)
    )
    told = {
        "case": case,
        "base_passed": base_passed,
        "base_runs": base_runs,
        "head_passed": head_passed,
        "head_runs": head_runs,
    }
    if compared.earlier is not None:
        passed, runs = map(locales.count, compared.earlier)
        return notice("regression.history", earlier_passed=passed, earlier_runs=runs, **told)
    if compared.p_value is None:
        return notice("regression.weighed", **told)
    return notice("regression.confirmed", p=locales.p_value(compared.p_value), **told)


def _below(one: PairedResult) -> Notice:
    case = one.pair.key.eval_id
    if one.head.mean is None:
        return notice("threshold.no_score", case=case)
    return notice(
        "threshold.below",
        case=case,
        criterion=one.criterion,
        score=locales.score(one.head.mean, beside=one.head.threshold),
        needed=locales.score(one.head.threshold, beside=one.head.mean),
    )


def criterion_regressions(criteria: Iterable[CriterionComparison], gate: Gate) -> Iterator[Reason]:
    """Criteria whose mean fell too far."""
    for one in criteria:
        if one.verdict is Verdict.REGRESSED and one.delta is not None:
            low, high = one.range or (0.0, 1.0)
            told = notice(
                "criterion.rose" if one.lower_is_better else "criterion.fell",
                criterion=one.name,
                by=locales.score(abs(one.delta)),
                n=locales.count(one.scored[1]),
                tolerance=locales.score(gate.tolerance_for(one.name) * (high - low)),
                p=locales.p_value(one.p_value),
            )
            yield Reason.of(ReasonKind.REGRESSION, told, criterion=one.name)


def removed_cases(pairs: Iterable[Pair]) -> Iterator[Reason]:
    """Cases that only base has."""
    for pair in pairs:
        if pair.change is Change.REMOVED:
            yield Reason.of(ReasonKind.REMOVED, notice("removed"), pair.key)


def undecided_cases(results: Iterable[PairedResult], terms: Terms) -> Iterator[Undecided]:
    """What was not evaluated, and what it could have shown, had it turned out badly."""
    for one in results:
        could_be = tuple(_reason(kind, one, _NOTHING) for kind in _may_be(one, terms))
        if could_be:
            told = notice(
                "undecided.case",
                case=one.pair.key.eval_id,
                criterion=one.criterion,
                why=one.why or notice("undecided.too_few_runs"),
            )
            yield Undecided(_reason(ReasonKind.INCONCLUSIVE, one, told), could_be)


def _may_be(one: PairedResult, terms: Terms) -> Iterator[ReasonKind]:
    if one.may_be_worse:
        yield ReasonKind.REGRESSION
    if one.is_open:
        yield ReasonKind.NEW_FAILURE if _is_new(one, terms) else ReasonKind.THRESHOLD


def _is_new(one: PairedResult, terms: Terms) -> bool:
    """Whether the case is new beside others that are not."""
    return one.is_added and one.pair.key.suite not in terms.thresholds_only


def undecided_criteria(
    criteria: Iterable[CriterionComparison], names: Collection[str]
) -> Iterator[Undecided]:
    """Criteria whose mean may have fallen too far in the cases that have no score."""
    for one in criteria:
        if one.name in names:
            scored = locales.ratio(sum(one.scored), sum(one.planned))
            told = notice("undecided.criterion", criterion=one.name, scored=scored)
            yield Undecided(
                Reason.of(ReasonKind.INCONCLUSIVE, told, criterion=one.name),
                (Reason.of(ReasonKind.REGRESSION, _NOTHING, criterion=one.name),),
            )


def _reason(kind: ReasonKind, one: PairedResult, told: Notice) -> Reason:
    return Reason.of(kind, told, one.pair.key, criterion=one.criterion)


def _key(reason: Reason) -> CaseKey | None:
    if reason.eval_set is None or reason.eval_id is None:
        return None
    return CaseKey(reason.suite or "", reason.eval_set, reason.eval_id)


_ROUNDING = 1e-9


def with_budgets(
    criteria: Iterable[CriterionComparison], budgets: Mapping[str, str]
) -> tuple[CriterionComparison, ...]:
    """The same, each with the most that its budget allows; only what is better low has one."""
    return tuple(
        one.model_copy(update={"allowed": parse_budget(budgets[one.name]).allowed(one.base)})
        if one.name in budgets and one.lower_is_better
        else one
        for one in criteria
    )


def over_budget(
    criteria: Iterable[CriterionComparison], budgets: Mapping[str, str]
) -> list[Reason]:
    """A reason for each number that exceeds what its budget allows."""
    return [
        Reason.of(ReasonKind.BUDGET, _overrun(one, budgets[one.name]), criterion=one.name)
        for one in criteria
        if one.name in budgets and _exceeds(one)
    ]


def unmeasured(
    criteria: Iterable[CriterionComparison], budgets: Mapping[str, str]
) -> Iterator[Notice]:
    """A warning for each budget that there was nothing to hold against, or nothing to hold."""
    known = {one.name: one for one in criteria}
    for name, budget in budgets.items():
        one = known.get(name)
        if one is None or one.head is None:
            yield notice("budget.unmeasured", criterion=name, budget=budget)
        elif not one.lower_is_better:
            yield notice("budget.more_is_better", criterion=name, budget=budget)
        elif one.allowed is None:
            yield notice("budget.no_base", criterion=name, budget=budget)


def _exceeds(one: CriterionComparison) -> bool:
    if one.allowed is None or one.head is None:
        return False
    return one.head > one.allowed + _ROUNDING * max(abs(one.allowed), 1.0)


def _overrun(one: CriterionComparison, budget: str) -> Notice:
    head, allowed = (locales.score(value) for value in (one.head, one.allowed))
    if one.base is None:
        return notice(
            "budget.over_at_once", criterion=one.name, head=head, allowed=allowed, budget=budget
        )
    return notice(
        "budget.over",
        criterion=one.name,
        base=locales.score(one.base),
        head=head,
        allowed=allowed,
        budget=budget,
    )
