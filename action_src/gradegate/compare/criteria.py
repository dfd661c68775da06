"""Criterion by criterion: means over all cases, and whether they moved."""

from collections.abc import Collection, Mapping, Sequence

from gradegate.compare.cases import Judgement
from gradegate.compare.leak import Leak, compare_criterion, verdicts
from gradegate.compare.observe import full_passes
from gradegate.model.case import CaseKey
from gradegate.model.evaluation import Runs
from gradegate.model.report import CriterionComparison, Verdict
from gradegate.model.result import Scale
from gradegate.model.settings import Gate

Grouped = Mapping[str, Sequence[Judgement]]
Scores = list[tuple[float, ...]]


def by_criterion(
    judgements: Sequence[Judgement], leave_out: Collection[CaseKey] = ()
) -> dict[str, list[Judgement]]:
    """The judgements of each criterion; cases in quarantine move nobody's mean."""
    found: dict[str, list[Judgement]] = {}
    for one in judgements:
        if one.pair.key not in leave_out:
            found.setdefault(one.criterion, []).append(one)
    return dict(sorted(found.items()))


def leaks_of(grouped: Grouped, base: Runs, head: Runs) -> dict[str, Leak]:
    """Each criterion over the cases that have a base to be compared with."""
    return {
        name: compare_criterion(
            _scores(name, judgements, base),
            _scores(name, judgements, head),
            scale=scale_in(judgements),
        )
        for name, judgements in grouped.items()
    }


def worst_leaks_of(grouped: Grouped, base: Runs, head: Runs) -> dict[str, Leak]:
    """The same where scores are missing, had each of them been the worst for head."""
    found = {}
    for name, judgements in grouped.items():
        scale = scale_in(judgements)
        worst = (
            _scores(name, judgements, base, missing=scale.best),
            _scores(name, judgements, head, missing=scale.worst),
        )
        if worst != (_scores(name, judgements, base), _scores(name, judgements, head)):
            found[name] = compare_criterion(*worst, scale=scale)
    return found


def scale_in(judgements: Sequence[Judgement]) -> Scale:
    """Between which scores the criterion moves in these cases."""
    scales = [one.head.scale for one in judgements]
    return Scale(
        low=min(scale.low for scale in scales),
        high=max(scale.high for scale in scales),
        lower_is_better=scales[0].lower_is_better,
    )


def _scores(
    name: str, judgements: Sequence[Judgement], runs: Runs, *, missing: float | None = None
) -> Scores:
    keys = [one.pair.key for one in judgements if one.base is not None]
    return [full_passes(runs.get(key, ()), name, missing=missing) for key in keys]


def may_have_regressed(
    leaks: Mapping[str, Leak], worst: Mapping[str, Leak], gate: Gate, *, look: int | None
) -> frozenset[str]:
    """Criteria that the missing scores could turn into regressions."""
    comparable = {name: leak for name, leak in {**leaks, **worst}.items() if leak.n}
    told = verdicts(comparable, gate.tolerance_for, alpha=gate.alpha, look=look)
    return frozenset(
        name for name in worst if name in told and told[name].verdict is Verdict.REGRESSED
    )


def compare_criteria(
    grouped: Grouped, leaks: Mapping[str, Leak], gate: Gate, *, look: int | None
) -> tuple[CriterionComparison, ...]:
    """What the report says of each criterion.

    `look` counts the full passes where more could be bought; None where there is one look.
    """
    comparable = {name: leak for name, leak in leaks.items() if leak.n}
    told = verdicts(comparable, gate.tolerance_for, alpha=gate.alpha, look=look)
    found = []
    for name, judgements in grouped.items():
        leak = comparable.get(name)
        with_base = [one for one in judgements if one.base is not None]
        scale = scale_in(judgements)
        found.append(
            CriterionComparison(
                name=name,
                base=leak.mean_base if leak else None,
                head=leak.mean_head if leak else _mean(judgements),
                delta=leak.delta if leak else None,
                interval=leak.interval if leak else None,
                p_value=told[name].p_value if leak else None,
                scored=(
                    sum(bool(one.base and one.base.values) for one in with_base),
                    sum(bool(one.head.values) for one in judgements),
                ),
                planned=(len(with_base), len(judgements)),
                verdict=told[name].verdict if leak else _without_base(with_base),
                passes_to_settle=told[name].more_passes if leak else None,
                range=(scale.low, scale.high),
                lower_is_better=scale.lower_is_better,
            )
        )
    return tuple(found)


def _without_base(with_base: Sequence[Judgement]) -> Verdict:
    """Nothing to compare with is new; something that could not be scored is uncertain."""
    return Verdict.UNCERTAIN if with_base else Verdict.NEW


def _mean(judgements: Sequence[Judgement]) -> float | None:
    means = [one.head.mean for one in judgements if one.head.mean is not None]
    return sum(means) / len(means) if means else None
