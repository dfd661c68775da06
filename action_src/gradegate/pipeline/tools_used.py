"""Where the answers of recorded tools came from: what is told of it, and what is written down."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from gradegate import locales
from gradegate.files.tool_recordings import made_of
from gradegate.model.notice import Notice, notice
from gradegate.model.runs import SIDES, Runs, SideName, Trace
from gradegate.model.tool_recording import ToolAnswer, ToolRecording
from gradegate.pipeline.prepare import Prepared

_ENOUGH_CALLS = 5
_LONGEST_CALL = 120


def told(prepared: Prepared, runs: Runs) -> Iterator[Notice]:
    """A sentence for each side of a suite, and one more that names what was not recorded."""
    for suite in prepared.head.suites:
        if suite.tools != "live" and (suite.command or suite.traces):
            yield notice("tools.own", suite=suite.name)
        for side in SIDES if suite.tools == "recorded" else ():
            used = [one for trace in _traces(runs, side, suite.name) for one in trace.tools]
            if used:
                yield _answered(suite.name, side, used)
                yield from _missing(suite.name, side, used)


def recordings(prepared: Prepared, runs: Runs) -> Mapping[str, ToolRecording]:
    """What head's tools answered, by eval set, where that is to be written down."""
    suites = [suite.name for suite in prepared.head.suites if suite.tools == "record"]
    return made_of(chain.from_iterable(_traces(runs, "head", name) for name in suites))


def _traces(runs: Runs, side: SideName, suite: str) -> Iterator[Trace]:
    for key, made in (runs.head if side == "head" else runs.base).items():
        if key.suite == suite:
            yield from (run.outcome for run in made if isinstance(run.outcome, Trace))


def _answered(suite: str, side: SideName, used: list[ToolAnswer]) -> Notice:
    counts = Counter(one.source for one in used)
    return notice(
        "tools.answered",
        suite=suite,
        side=side,
        case=locales.count(counts["case"]),
        recording=locales.count(counts["recording"]),
        live=locales.count(counts["live"]),
        missing=locales.count(counts["missing"]),
    )


def _missing(suite: str, side: SideName, used: list[ToolAnswer]) -> Iterator[Notice]:
    calls = list(dict.fromkeys(_shown(one) for one in used if one.source == "missing"))
    if calls:
        more = ", …" if len(calls) > _ENOUGH_CALLS else ""
        listed = ", ".join(calls[:_ENOUGH_CALLS])
        yield notice("tools.missing", suite=suite, side=side, calls=listed + more)


def _shown(one: ToolAnswer) -> str:
    """The call as one would write it, cut where it is long."""
    args = ", ".join(f"{name}={_text(value)}" for name, value in one.args.items())
    text = f"{one.name}({args})" if args else one.name
    return text if len(text) <= _LONGEST_CALL else f"{text[:_LONGEST_CALL]}…"


def _text(value: Any) -> str:
    return repr(value)
