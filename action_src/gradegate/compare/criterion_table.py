"""Criterion by criterion: means over all cases and whether they moved, and what a turn costs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean

from gradegate.compare.case_results import PairedResult, full_passes, scale_of
from gradegate.compare.criterion_shift import CriterionShift, compare_criterion, verdicts
from gradegate.compare.pairing import Pair
from gradegate.model.evalset import CaseKey
from gradegate.model.report import CriterionComparison, Verdict
from gradegate.model.result import CriterionResult, Scale, Status
from gradegate.model.runs import Role, ScoredRun, SideRuns
from gradegate.model.settings import Gate

Grouped = Mapping[str, Sequence[PairedResult]]
Scores = list[tuple[float, ...]]


def by_criterion(
    judgements: Sequence[PairedResult], leave_out: Collection[CaseKey] = ()
) -> dict[str, list[PairedResult]]:
    """The judgements of each criterion; cases in quarantine move nobody's mean."""
    found: dict[str, list[PairedResult]] = {}
    for one in judgements:
        if one.pair.key not in leave_out:
            found.setdefault(one.criterion, []).append(one)
    return dict(sorted(found.items()))


def shifts_of(grouped: Grouped, base: SideRuns, head: SideRuns) -> dict[str, CriterionShift]:
    """Each criterion over the cases that have a base to be compared with."""
    return {
        name: compare_criterion(
            _scores(name, judgements, base),
            _scores(name, judgements, head),
            scale=scale_in(judgements),
        )
        for name, judgements in grouped.items()
    }


def worst_shifts_of(grouped: Grouped, base: SideRuns, head: SideRuns) -> dict[str, CriterionShift]:
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


def scale_in(judgements: Sequence[PairedResult]) -> Scale:
    """Between which scores the criterion moves in these cases."""
    scales = [one.head.scale for one in judgements]
    return Scale(
        low=min(scale.low for scale in scales),
        high=max(scale.high for scale in scales),
        lower_is_better=scales[0].lower_is_better,
    )


def _scores(
    name: str, judgements: Sequence[PairedResult], runs: SideRuns, *, missing: float | None = None
) -> Scores:
    keys = [one.pair.key for one in judgements if one.base is not None]
    return [full_passes(runs.get(key, ()), name, missing=missing) for key in keys]


def may_have_regressed(
    leaks: Mapping[str, CriterionShift],
    worst: Mapping[str, CriterionShift],
    gate: Gate,
    *,
    look: int | None,
) -> frozenset[str]:
    """Criteria that the missing scores could turn into regressions."""
    comparable = {name: leak for name, leak in {**leaks, **worst}.items() if leak.n}
    told = verdicts(comparable, gate.tolerance_for, alpha=gate.alpha, look=look, rule=gate.rule)
    return frozenset(
        name for name in worst if name in told and told[name].verdict is Verdict.REGRESSED
    )


def compare_criteria(
    grouped: Grouped, leaks: Mapping[str, CriterionShift], gate: Gate, *, look: int | None
) -> tuple[CriterionComparison, ...]:
    """What the report says of each criterion.

    `look` counts the full passes where more could be bought; None where there is one look.
    """
    comparable = {name: leak for name, leak in leaks.items() if leak.n}
    told = verdicts(comparable, gate.tolerance_for, alpha=gate.alpha, look=look, rule=gate.rule)
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


def _without_base(with_base: Sequence[PairedResult]) -> Verdict:
    """Nothing to compare with is new; something that could not be scored is uncertain."""
    return Verdict.UNCERTAIN if with_base else Verdict.NEW


def _mean(judgements: Sequence[PairedResult]) -> float | None:
    means = [one.head.mean for one in judgements if one.head.mean is not None]
    return sum(means) / len(means) if means else None


Numbers = list[tuple[float, ...]]
"""By case, one for each full pass."""


def informational(
    pairs: Iterable[Pair],
    base: SideRuns | None,
    head: SideRuns,
    leave_out: Collection[CaseKey] = (),
    *,
    alpha: float,
) -> tuple[CriterionComparison, ...]:
    """Every informational number over the cases that have it on both sides, else on head.

    A verdict here says what the numbers can carry, and blocks nothing.
    """
    chosen = [p for p in pairs if p.head is not None and p.key not in leave_out]
    after = [_told(head.get(pair.key, ())) for pair in chosen]
    before = [_told(base.get(p.key, ()) if base and p.base else ()) for p in chosen]
    names = sorted({name for runs in after for one in runs for name in one})
    return tuple(_compared(name, before, after, alpha) for name in names)


Told = list[dict[str, CriterionResult]]


def _told(runs: Sequence[ScoredRun]) -> Told:
    """What each full pass of a case tells."""
    return [
        {
            name: one
            for name, one in run.result.criteria.items()
            if one.status is Status.INFORMATIONAL and one.score is not None
        }
        for run in runs
        if run.role in (Role.FIRST, Role.AGAIN)
    ]


def _compared(
    name: str, before: Sequence[Told], after: Sequence[Told], alpha: float
) -> CriterionComparison:
    example = next(one[name] for runs in after for one in runs if name in one)
    old, new = _of(name, before), _of(name, after)
    leak = compare_criterion(old, new, scale=scale_of(name, example))
    alone = [value for runs in new for value in runs]
    return CriterionComparison(
        name=name,
        base=leak.mean_base,
        head=leak.mean_head if leak.n else fmean(alone),
        delta=leak.delta,
        interval=leak.interval,
        p_value=leak.p_value,
        scored=(_count(old), _count(new)),
        planned=(sum(map(bool, before)), sum(map(bool, after))),
        verdict=_verdict(leak, alpha),
        lower_is_better=leak.scale.lower_is_better,
        informational=True,
        breakdown={part: _part(name, part, before, after) for part in _parts(name, after)},
    )


def _of(name: str, cases: Sequence[Told], part: str | None = None) -> Numbers:
    """A number, or one of its parts, of all cases and passes that have it."""
    return [
        tuple(
            value for one in runs if name in one and (value := _value(one[name], part)) is not None
        )
        for runs in cases
    ]


def _value(one: CriterionResult, part: str | None) -> float | None:
    return one.score if part is None else one.breakdown.get(part)


def _parts(name: str, after: Sequence[Told]) -> list[str]:
    found = (part for runs in after for one in runs if name in one for part in one[name].breakdown)
    return list(dict.fromkeys(found))


def _part(
    name: str, part: str, before: Sequence[Told], after: Sequence[Told]
) -> tuple[float | None, float | None]:
    """The part's mean a side, over the cases that have it on both, else over head's."""
    old, new = _of(name, before, part), _of(name, after, part)
    both = [(fmean(b), fmean(h)) for b, h in zip(old, new, strict=True) if b and h]
    if both:
        return fmean(b for b, _ in both), fmean(h for _, h in both)
    return None, fmean(value for runs in new for value in runs)


def _count(numbers: Numbers) -> int:
    return sum(map(bool, numbers))


def _verdict(leak: CriterionShift, alpha: float) -> Verdict:
    """What can be told of a change: by a test, or because nothing moved at all."""
    if not leak.n:
        return Verdict.NEW
    if leak.p_value is not None and leak.p_value <= alpha:
        return Verdict.REGRESSED
    if leak.p_better is not None and leak.p_better <= alpha:
        return Verdict.IMPROVED
    return Verdict.UNCERTAIN if leak.delta else Verdict.UNCHANGED
