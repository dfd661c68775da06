"""A turn's tool calls on all sides, as a reader sees them: what agrees in one sign."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from gradegate.locales import MINUS, Locale
from gradegate.model.report import ToolUse, TurnEvidence
from gradegate.model.trajectory import CallRow, Mark, Place, Step, call_rows
from gradegate.report.escape import clip, one_line

LONGEST_CALL = 160
LONGEST_VALUE = 60
MOST_PATHS = 8
NEIGHBOURS = 2
"""Calls on which all sides agree that are shown beside one on which they do not."""

_SIGNS = {Mark.SAME: "=", Mark.CHANGED: "≠", Mark.MISSING: MINUS, Mark.ADDED: "+"}


@dataclass(frozen=True)
class ArgumentView:
    """An argument that differs."""

    path: str
    before: str
    """Empty where there was none."""
    after: str


@dataclass(frozen=True)
class CellView:
    """What one side did at one place of the trajectory."""

    sign: str = ""
    """One of = ≠ + ↑ ↓ and a minus, against what it is compared with; empty: with nothing."""
    mark: str = ""
    """The same as a word."""
    call: str = ""
    """Empty where the sign alone tells."""
    moved: str = ""
    """From which place to which."""
    changes: tuple[ArgumentView, ...] = ()


@dataclass(frozen=True)
class CallView:
    """One call as each side made it."""

    number: str
    expected: CellView
    base: CellView
    head: CellView
    quiet: bool
    """Whether all sides agree."""
    folded: str = ""
    """In place of several calls on which all sides agree: how many those are."""


def call(tool: ToolUse) -> str:
    """A tool call as one would write it."""
    args = (
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in (tool.args or {}).items()
    )
    return f"{tool.name}({', '.join(args)})"


def call_views(turn: TurnEvidence, words: Locale, *, fold: bool) -> tuple[CallView, ...]:
    """The calls of the turn; `fold` leaves out stretches on which all sides agree."""
    rows = call_rows(turn)
    views = [call_view(number, row) for number, row in enumerate(rows, start=1)]
    return tuple(_folded(views, words)) if fold else tuple(views)


def step_changes(step: Step) -> tuple[ArgumentView, ...]:
    """Where the arguments of a call differ, of long values what differs."""
    return tuple(
        ArgumentView(one_line(one.path), *(one_line(text) for text in one.shown(LONGEST_VALUE)))
        for one in step.changes[:MOST_PATHS]
    )


def call_view(number: int, row: CallRow) -> CallView:
    """One row of the trajectory, of long calls the beginning."""
    return CallView(
        number=str(number),
        expected=CellView(call=_call(row.expected)),
        base=_cell(row.base_step, row.base),
        head=_cell(row.head_step, row.head),
        quiet=row.is_quiet,
    )


def _cell(step: Step | None, place: Place | None) -> CellView:
    if step is None:
        return CellView(call=_call(place))
    if step.mark is Mark.MOVED:
        was, now = step.numbers
        sign = "↓" if step.is_later else "↑"
        return CellView(sign, step.mark, moved=f"{was} → {now}")
    changes = step_changes(step) if step.mark is Mark.CHANGED else ()
    shown = _call(place) if step.mark is Mark.ADDED else ""
    return CellView(_SIGNS[step.mark], step.mark, shown, changes=changes)


def _call(place: Place | None) -> str:
    return clip(one_line(call(place.call)), LONGEST_CALL) if place else ""


def _folded(views: Sequence[CallView], words: Locale) -> Sequence[CallView]:
    """Long stretches on which all agree, but for the calls next to one that tells."""
    telling = [n for n, view in enumerate(views) if not view.quiet]
    near = {n + by for n in telling for by in range(-NEIGHBOURS, NEIGHBOURS + 1)}
    kept: list[CallView] = []
    for is_near, group in groupby(enumerate(views), key=lambda pair: pair[0] in near):
        own = [view for _, view in group]
        if is_near or len(own) <= NEIGHBOURS + 1:
            kept += own
        else:
            empty = CellView()
            said = words.some("calls.folded", len(own))
            kept.append(CallView("", empty, empty, empty, quiet=True, folded=said))
    return kept
