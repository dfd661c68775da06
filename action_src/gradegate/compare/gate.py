"""The gate's word: what is held against the pull request, and what that comes to.

`[gate.budget]`: how much more than base a pull request may spend.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gradegate import locales
from gradegate.compare.case_results import PairedResult
from gradegate.compare.pairing import Pair
from gradegate.model.evalset import CaseKey
from gradegate.model.report import (
    Change,
    CriterionComparison,
    Decision,
    Reason,
    ReasonKind,
    State,
    Verdict,
)
from gradegate.model.settings import Gate, parse_budget

WAIVED_BY_ACCEPTANCE = frozenset({ReasonKind.REGRESSION, ReasonKind.REMOVED, ReasonKind.LOOSENED})


@dataclass(frozen=True)
class Rules:
    """What the gate goes by, beside what was measured."""

    gate: Gate
    thresholds_only: frozenset[str] = frozenset()
    """Suites with nothing to compare with: there every score below its threshold blocks."""
    accepted_by: str | None = None
    """Who accepted what base would object to; empty where nobody tells who."""
    quarantined: frozenset[CaseKey] = frozenset()

    def blocks(self, reason: Reason) -> bool:
        """Whether this kind of finding, of this case, keeps a pull request out."""
        if self.accepted_by is not None and reason.kind in WAIVED_BY_ACCEPTANCE:
            return False
        if _key(reason) in self.quarantined:
            return False
        alone = reason.kind is ReasonKind.THRESHOLD and reason.suite in self.thresholds_only
        return alone or reason.kind in self.gate.fail_on

    def is_new(self, one: PairedResult) -> bool:
        """Whether the case is new beside others that are not."""
        return one.is_added and one.pair.key.suite not in self.thresholds_only


def decide(  # noqa: PLR0913 - all that a decision rests on
    rules: Rules,
    pairs: Sequence[Pair],
    judgements: Sequence[PairedResult],
    criteria: Sequence[CriterionComparison],
    others: Iterable[Reason] = (),
    *,
    open_criteria: Collection[str] = (),
) -> Decision:
    """Any reason that blocks says no; else, what could not be told and could have.

    `open_criteria` are those that the missing scores could turn into regressions.
    """
    given = tuple(others)
    open_ends = tuple(one for one in given if one.kind is ReasonKind.INCONCLUSIVE)
    found = [
        *_of_cases(judgements, rules),
        *_of_criteria(criteria, rules.gate),
        *_removed(pairs),
        *(one for one in given if one.kind is not ReasonKind.INCONCLUSIVE),
    ]
    blocking = tuple(reason for reason in found if rules.blocks(reason))
    notes = tuple(reason for reason in found if not rules.blocks(reason))
    if blocking:
        return Decision(
            state=State.FAIL, reasons=blocking, notes=notes, accepted_by=rules.accepted_by
        )
    undecided = (*open_ends, *_undecided(judgements, rules))
    told = {reason.criterion for reason in undecided}
    undecided += tuple(_open_criteria(set(open_criteria) - told, criteria, rules))
    if undecided and ReasonKind.INCONCLUSIVE in rules.gate.fail_on:
        state, reasons = State.INCONCLUSIVE, undecided
    else:
        state, reasons = State.PASS, ()
        notes = (*notes, *undecided)
    return Decision(state=state, reasons=reasons, notes=notes, accepted_by=rules.accepted_by)


def _of_cases(judgements: Iterable[PairedResult], rules: Rules) -> Iterator[Reason]:
    for one in judgements:
        if one.verdict is Verdict.REGRESSED:
            yield _reason(ReasonKind.REGRESSION, one, _regression(one, rules.gate))
        elif one.falls_short and rules.is_new(one):
            yield _reason(ReasonKind.NEW_FAILURE, one, f"new, and fails: {_below(one)}")
        elif one.falls_short:
            yield _reason(ReasonKind.THRESHOLD, one, _below(one))


def _regression(one: PairedResult, gate: Gate) -> str:
    compared = one.comparison()
    name = one.pair.key.eval_id
    if compared.confirmed:
        sides = [
            f"{passed} of {runs} on {side}"
            for passed, runs, side in zip(
                compared.passed, compared.runs, ("base", "head"), strict=True
            )
        ]
        return f"{name}: passed {', '.join(sides)} ({locales.p_value(compared.p_value)})"
    why = "it cannot be run again" if gate.confirm_runs else "`confirm_runs` is 0"
    return f"{name}: passed on base and fails on head; {why}, so a flip blocks"


def _below(one: PairedResult) -> str:
    if one.head.mean is None:
        return f"{one.pair.key.eval_id} has no score"
    needed = locales.score(one.head.threshold, beside=one.head.mean)
    score = locales.score(one.head.mean, beside=one.head.threshold)
    return f"{one.pair.key.eval_id}: {one.criterion} is {score} and needs {needed}"


def _of_criteria(criteria: Iterable[CriterionComparison], gate: Gate) -> Iterator[Reason]:
    for one in criteria:
        if one.verdict is Verdict.REGRESSED and one.delta is not None:
            moved = "rose" if one.lower_is_better else "fell"
            by = locales.score(abs(one.delta))
            low, high = one.range or (0.0, 1.0)
            tolerance = locales.score(gate.tolerance_for(one.name) * (high - low))
            text = (
                f"{one.name} {moved} by {by} over {locales.count(one.scored[1])} cases, more than "
                f"the tolerance of {tolerance} ({locales.p_value(one.p_value)})"
            )
            yield Reason(kind=ReasonKind.REGRESSION, text=text, criterion=one.name)


def _removed(pairs: Iterable[Pair]) -> Iterator[Reason]:
    for pair in pairs:
        if pair.change is Change.REMOVED:
            yield _at(ReasonKind.REMOVED, pair, "base has this case and head has not")


def _undecided(judgements: Iterable[PairedResult], rules: Rules) -> Iterator[Reason]:
    """What was not evaluated and would have blocked, had it turned out badly."""
    for one in judgements:
        if any(rules.blocks(_reason(kind, one, "")) for kind in _may_be(one, rules)):
            why = one.head.reason or (one.base.reason if one.base else None) or "too few runs"
            text = f"{one.pair.key.eval_id}: {one.criterion} could not be evaluated: {why}"
            yield _reason(ReasonKind.INCONCLUSIVE, one, text)


def _may_be(one: PairedResult, rules: Rules) -> Iterator[ReasonKind]:
    """What the missing scores could have shown."""
    if one.may_be_worse:
        yield ReasonKind.REGRESSION
    if one.is_open:
        yield ReasonKind.NEW_FAILURE if rules.is_new(one) else ReasonKind.THRESHOLD


def _open_criteria(
    names: Collection[str], criteria: Iterable[CriterionComparison], rules: Rules
) -> Iterator[Reason]:
    """Criteria whose mean may have fallen too far in the cases that have no score."""
    for one in criteria:
        scored, planned = sum(one.scored), sum(one.planned)
        text = (
            f"{one.name}: {locales.ratio(scored, planned)} scores could be had; the missing ones "
            "could hide a regression"
        )
        reason = Reason(kind=ReasonKind.REGRESSION, text=text, criterion=one.name)
        if one.name in names and rules.blocks(reason):
            yield reason.model_copy(update={"kind": ReasonKind.INCONCLUSIVE})


def _reason(kind: ReasonKind, one: PairedResult, text: str) -> Reason:
    return _at(kind, one.pair, text, one.criterion)


def _at(kind: ReasonKind, pair: Pair, text: str, criterion: str | None = None) -> Reason:
    key = pair.key
    return Reason(
        kind=kind,
        text=text,
        suite=key.suite,
        eval_set=key.eval_set,
        eval_id=key.eval_id,
        criterion=criterion,
    )


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
        Reason(kind=ReasonKind.BUDGET, text=_text(one, budgets[one.name]), criterion=one.name)
        for one in criteria
        if one.name in budgets and _exceeds(one)
    ]


def unmeasured(criteria: Sequence[CriterionComparison], budgets: Mapping[str, str]) -> list[str]:
    """A warning for each budget that there was nothing to hold against, or nothing to hold."""
    known = {one.name: one for one in criteria}
    warnings = []
    for name, budget in budgets.items():
        one = known.get(name)
        if one is None or one.head is None:
            warnings.append(f"the budget for {name} ({budget}): no run tells its {name}")
        elif not one.lower_is_better:
            warnings.append(
                f"the budget for {name} ({budget}) is ignored: of {name} more is better; give it a "
                "threshold in test_config.json"
            )
        elif one.allowed is None:
            warnings.append(f"the budget for {name} ({budget}): base has none to hold it against")
    return warnings


def _exceeds(one: CriterionComparison) -> bool:
    if one.allowed is None or one.head is None:
        return False
    return one.head > one.allowed + _ROUNDING * max(abs(one.allowed), 1.0)


def _text(one: CriterionComparison, budget: str) -> str:
    head, allowed = (locales.score(value) for value in (one.head, one.allowed))
    if one.base is None:
        return f"{one.name} is {head}, and its budget allows {allowed} ({budget})"
    base = locales.score(one.base)
    return f"{one.name} goes from {base} to {head}, and its budget allows {allowed} ({budget})"
