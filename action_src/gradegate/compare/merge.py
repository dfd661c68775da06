"""Shards of one side's results, put together again."""

from collections.abc import Sequence

from gradegate.model.errors import InputError
from gradegate.model.result import CriterionUsage, Results, Usage

Shards = Sequence[tuple[str, Results]]
"""Each with its file's name."""


def merge_results(shards: Shards) -> Results:
    """One side, whole.

    Raises:
        InputError: the shards overlap, one is missing, or they are of different commits.
    """
    _same(shards, "commit")
    _same(shards, "fingerprint")
    _complete(shards)
    _no_overlap(shards)
    cases = sorted(
        (case for _, shard in shards for case in shard.cases), key=lambda c: (*c.key, c.run)
    )
    first = shards[0][1]
    return Results(
        commit=first.commit,
        fingerprint=first.fingerprint,
        cases=tuple(cases),
        usage=_sum([shard.usage for _, shard in shards]),
        warnings=tuple(dict.fromkeys(text for _, shard in shards for text in shard.warnings)),
    )


def _same(shards: Shards, field: str) -> None:
    first_name, first = shards[0]
    for name, shard in shards[1:]:
        if getattr(shard, field) != getattr(first, field):
            raise InputError(
                f"{name} has the {field} {getattr(shard, field)!r} and {first_name} "
                f"{getattr(first, field)!r}: merge the shards of one job"
            )


def _complete(shards: Shards) -> None:
    """Shards that say which part they are must be all the parts, each once."""
    named = {name: shard.shard for name, shard in shards if shard.shard}
    if not named:
        return
    if len(named) < len(shards):
        missing = next(name for name, shard in shards if not shard.shard)
        raise InputError(f"{missing} is no shard, and the others are: merge shards only")
    totals = {part.partition("/")[2] for part in named.values()}
    if len(totals) > 1:
        raise InputError(f"the shards are cut in different ways: {', '.join(named.values())}")
    total = int(totals.pop())
    have = sorted(int(part.partition("/")[0]) for part in named.values())
    for number in range(1, total + 1):
        if have.count(number) != 1:
            what = "is missing" if number not in have else "is there twice"
            raise InputError(f"shard {number}/{total} {what}: name each shard's file once")


def _no_overlap(shards: Shards) -> None:
    seen: dict[object, str] = {}
    for name, shard in shards:
        for case in shard.cases:
            key = (case.key, case.run)
            if key in seen:
                raise InputError(
                    f"run {case.run} of {case.eval_id!r} in {case.eval_set} is in both "
                    f"{seen[key]} and {name}: name each shard's file once"
                )
            seen[key] = name


def _sum(usages: Sequence[Usage]) -> Usage:
    """Counts add up; shards run side by side, so the longest is how long it took."""
    names = sorted({name for usage in usages for name in usage.by_criterion})
    return Usage(
        **_added(usages),
        seconds=max(usage.seconds for usage in usages),
        by_criterion={
            name: CriterionUsage(**_added([u.by_criterion.get(name) for u in usages]))
            for name in names
        },
    )


def _added(usages: Sequence[CriterionUsage | None]) -> dict[str, int]:
    present = [usage for usage in usages if usage is not None]
    return {
        field: sum(getattr(usage, field) for usage in present)
        for field in CriterionUsage.model_fields
    }
