"""`[gate.budget]`: how much more than base a pull request may spend."""

from collections.abc import Iterable, Mapping, Sequence

from gradegate import numbers
from gradegate.model.budget import parse_budget
from gradegate.model.report import CriterionComparison, Reason, ReasonKind

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
    head, allowed = (numbers.score(value) for value in (one.head, one.allowed))
    if one.base is None:
        return f"{one.name} is {head}, and its budget allows {allowed} ({budget})"
    base = numbers.score(one.base)
    return f"{one.name} goes from {base} to {head}, and its budget allows {allowed} ({budget})"
