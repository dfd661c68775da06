"""What a turn costs, on base and on head: the rows of the efficiency table."""

from collections.abc import Iterator
from dataclasses import dataclass

from gradegate import locales
from gradegate.model.report import CriterionComparison, Report
from gradegate.report.escape import clip, one_line

PARTS = ("input_tokens", "output_tokens", "model_seconds", "tool_seconds")
"""Of what a number is made of, what a reader is shown; report.json has all of it."""
LONGEST_NAME = 200


@dataclass(frozen=True)
class EfficiencyView:
    """One number, or a part of the one above it."""

    name: str
    base: str
    head: str
    delta: str
    change: str
    """In percent of base."""
    allowed: str = locales.NOTHING
    is_part: bool = False
    attention: bool = False
    """Whether it is over its budget."""


def efficiency_rows(report: Report) -> tuple[EfficiencyView, ...]:
    """A row a number, its parts under it."""
    over = {reason.criterion for reason in report.decision.reasons if reason.kind == "budget"}
    return tuple(row for one in report.criteria if one.informational for row in _rows(one, over))


def _rows(one: CriterionComparison, over: set[str | None]) -> Iterator[EfficiencyView]:
    yield EfficiencyView(
        name=clip(one_line(one.name), LONGEST_NAME),
        base=locales.score(one.base, beside=one.head),
        head=locales.score(one.head, beside=one.base),
        delta=locales.delta(one.delta),
        change=locales.change(one.base, one.head),
        allowed=locales.score(one.allowed),
        attention=one.name in over,
    )
    for part in PARTS:
        if part in one.breakdown:
            base, head = one.breakdown[part]
            yield EfficiencyView(
                name=part,
                base=locales.score(base, beside=head),
                head=locales.score(head, beside=base),
                delta=locales.delta(None if base is None or head is None else head - base),
                change=locales.change(base, head),
                is_part=True,
            )
