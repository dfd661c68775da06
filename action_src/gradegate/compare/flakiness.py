"""How steady each case is, by base's history: the least steady first."""

from collections.abc import Iterable, Iterator

from gradegate.compare.stats.bayes import pass_rate_interval, passes_every_time
from gradegate.compare.stats.exact import Count
from gradegate.model.history import Record, Steadiness

BARS = "▁▂▃▄▅▆▇█"
LONGEST = 12
"""Bars of a sparkline."""


def steadiness_of(records: Iterable[Record], *, every: int) -> list[Steadiness]:
    """Of every case and criterion; of several records that of the case as it is now."""
    latest: dict[tuple[str, str, str, str], Record] = {}
    for one in records:
        place = (one.suite, one.eval_set, one.eval_id, one.criterion)
        if place not in latest or latest[place].jobs[-1].at < one.jobs[-1].at:
            latest[place] = one
    found = [_steadiness(record, every) for record in latest.values()]
    return sorted(found, key=lambda one: (one.rate, one.eval_set, one.eval_id, one.criterion))


def _steadiness(record: Record, every: int) -> Steadiness:
    recent = record.since_change()
    seen = Count(*recent.tally)
    return Steadiness(
        suite=record.suite,
        eval_set=record.eval_set,
        eval_id=record.eval_id,
        criterion=record.criterion,
        passed=seen.passed,
        runs=seen.runs,
        rate=seen.passed / seen.runs,
        interval=pass_rate_interval(seen),
        every=every,
        passes_every_time=passes_every_time(seen, every),
        trend="".join(_bars(record.outcomes)),
        changed=len(recent.jobs) < len(record.jobs),
        at=record.jobs[-1].at,
    )


def _bars(outcomes: tuple[bool, ...]) -> Iterator[str]:
    """Pass rates of equal parts, oldest first; runs of before a change included."""
    parts = min(LONGEST, len(outcomes))
    for part in range(parts):
        own = outcomes[part * len(outcomes) // parts : (part + 1) * len(outcomes) // parts]
        yield BARS[round(sum(own) / len(own) * (len(BARS) - 1))]
