"""What is reported beside the scores: what a turn costs, on base and on head."""

from collections.abc import Collection, Iterable, Sequence
from statistics import fmean

from gradegate.compare.leak import Leak, compare_criterion
from gradegate.compare.observe import scale_of
from gradegate.compare.pairing import Pair
from gradegate.model.case import CaseKey
from gradegate.model.evaluation import Role, Runs, Scored
from gradegate.model.report import CriterionComparison, Verdict
from gradegate.model.result import CriterionResult, Status

Numbers = list[tuple[float, ...]]
"""By case, one for each full pass."""


def informational(
    pairs: Iterable[Pair],
    base: Runs | None,
    head: Runs,
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


def _told(runs: Sequence[Scored]) -> Told:
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


def _verdict(leak: Leak, alpha: float) -> Verdict:
    """What can be told of a change: by a test, or because nothing moved at all."""
    if not leak.n:
        return Verdict.NEW
    if leak.p_value is not None and leak.p_value <= alpha:
        return Verdict.REGRESSED
    if leak.p_better is not None and leak.p_better <= alpha:
        return Verdict.IMPROVED
    return Verdict.UNCERTAIN if leak.delta else Verdict.UNCHANGED
