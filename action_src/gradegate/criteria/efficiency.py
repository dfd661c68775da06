"""What a turn costs: tool calls, model calls, tokens, time. Always reported, lower is better.

These have no threshold and neither pass nor fail; `[gate.budget]` holds them against base.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradegate.model.evalset import Invocation
from gradegate.model.result import CriterionResult, InvocationResult, Status
from gradegate.model.runs import Trace

Reading = Mapping[str, float | None]
"""A turn's numbers by name: `TOTAL`, which is the score, and what it is made of."""
TOTAL = "total"
_MILLISECONDS = 3
_MOST = 1e15
"""Tokens or seconds; sums of such numbers are still exact."""


@dataclass(frozen=True)
class Efficiency:
    """One thing that is counted or timed."""

    name: str
    summary: str
    unit: str
    read: Callable[[Invocation], Reading]
    mean: Callable[[Sequence[float | None]], float | None]

    def score(self, trace: Trace) -> CriterionResult | None:
        """The mean over the turns; None where the trace does not tell."""
        readings = [self.read(turn) for turn in trace.invocations]
        names = dict.fromkeys(name for reading in readings for name in reading)
        means = {name: self.mean([one.get(name) for one in readings]) for name in names}
        told = {name: value for name, value in means.items() if value is not None}
        if TOTAL not in told:
            return None
        return CriterionResult(
            score=told.pop(TOTAL),
            status=Status.INFORMATIONAL,
            invocations=tuple(_turn(reading) for reading in readings),
            breakdown=told,
        )


def efficiency_of(trace: Trace) -> dict[str, CriterionResult]:
    """All that the trace tells of what it cost."""
    found = {one.name: one.score(trace) for one in METRICS.values()}
    return {name: result for name, result in found.items() if result is not None}


def _turn(reading: Reading) -> InvocationResult:
    parts = {name: value for name, value in reading.items() if name != TOTAL and value is not None}
    return InvocationResult(score=reading.get(TOTAL), status=Status.INFORMATIONAL, details=parts)


def _tool_calls(turn: Invocation) -> Reading:
    return {TOTAL: float(len(turn.tool_calls))}


def _model_calls(turn: Invocation) -> Reading:
    """Events that came from a model; the older shape of a turn does not tell."""
    data = turn.intermediate_data
    if data is None or data.invocation_events is None:
        return {}
    events = data.invocation_events
    made = [e for e in events if e.usage_metadata is not None or e.model_version is not None]
    return {TOTAL: float(len(made))}


_TOKENS = {
    "prompt_tokens": "prompt_token_count",
    "cached_tokens": "cached_content_token_count",
    "tool_use_tokens": "tool_use_prompt_token_count",
    "candidates_tokens": "candidates_token_count",
    "reasoning_tokens": "thoughts_token_count",
}
"""Our names for what a model call reports. Cached tokens are among those of the prompt."""
_DIRECTIONS = {
    "input_tokens": ("prompt_tokens", "tool_use_tokens"),
    "output_tokens": ("candidates_tokens", "reasoning_tokens"),
}


def _tokens(turn: Invocation) -> Reading:
    """Summed over the turn's model calls; the total is input and output, whatever they report."""
    data = turn.intermediate_data
    events = (data.invocation_events or ()) if data else ()
    calls = [event.usage_metadata for event in events if event.usage_metadata]
    parts = {name: _sum(_count(call, field) for call in calls) for name, field in _TOKENS.items()}
    sides = {name: _sum(parts[part] for part in of) for name, of in _DIRECTIONS.items()}
    return {TOTAL: _sum(sides.values()), **sides, **parts}


def _count(usage: Mapping[str, Any], field: str) -> float | None:
    head, *rest = field.split("_")
    value = usage.get(field, usage.get(head + "".join(word.title() for word in rest)))
    return _believable(float(value)) if isinstance(value, int | float) else None


def _believable(value: float | None) -> float | None:
    """What an agent reports of itself, where it can be; endless or negative costs cannot."""
    return value if value is not None and 0 <= value <= _MOST else None


def _sum(counts: Any) -> float | None:
    """What nobody reported is unknown, not zero."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _times(turn: Invocation) -> Reading:
    """Models, tools, and the rest of the turn, which only shows where both are known."""
    duration = _believable(turn.duration)
    if duration is None:
        return {}
    model, tool = _believable(turn.model_duration), _believable(turn.tool_duration)
    rest = None
    if model is not None and tool is not None:
        rest = round(max(duration - model - tool, 0.0), _MILLISECONDS)
    parts = {"model_seconds": model, "tool_seconds": tool, "framework_seconds": rest}
    return {TOTAL: duration, **parts}


def _mean_of_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _mean_of_times(values: Sequence[float | None]) -> float | None:
    mean = _mean_of_known(values)
    return None if mean is None else round(mean, _MILLISECONDS)


def _mean_of_tokens(values: Sequence[float | None]) -> float | None:
    """A turn that reports none of a kind spent none of it, if other turns report some."""
    known = [value for value in values if value is not None]
    return sum(known) / len(values) if known else None


METRICS: Mapping[str, Efficiency] = {
    one.name: one
    for one in (
        Efficiency("tool_call_count_v1", "tool calls a turn", "calls", _tool_calls, _mean_of_known),
        Efficiency(
            "inference_call_count_v1", "model calls a turn", "calls", _model_calls, _mean_of_known
        ),
        Efficiency("token_usage_v1", "tokens a turn", "tokens", _tokens, _mean_of_tokens),
        Efficiency(
            "invocation_duration_v1", "seconds a turn takes", "seconds", _times, _mean_of_times
        ),
    )
}
