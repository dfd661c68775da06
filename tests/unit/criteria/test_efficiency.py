"""What a turn costs, as far as a trace tells."""

from typing import Any

from gradegate.criteria.efficiency import efficiency_of
from tests.standins.turns import call, event, trace_of, turn

SPENT = {"prompt_token_count": 100, "cached_content_token_count": 40, "candidates_token_count": 5}


def model_call(**usage: int) -> dict[str, Any]:
    """An event that came from a model."""
    return event(call("look"), usage_metadata=usage)


def test_tokens_are_summed_by_direction_and_averaged_over_all_turns() -> None:
    """Cached ones are part of the prompt's; a turn that reports none spent none."""
    trace = trace_of(
        turn("a", model_call(**SPENT), model_call(**SPENT, thoughts_token_count=30)),
        turn("b", event(call("look"), usage_metadata={"promptTokenCount": 10})),
        turn("c"),
    )
    tokens = efficiency_of(trace)["token_usage_v1"]
    assert [one.score for one in tokens.invocations] == [240, 10, None]
    assert tokens.score == 250 / 3
    assert tokens.breakdown == {
        "input_tokens": 70,
        "output_tokens": 40 / 3,
        "prompt_tokens": 70,
        "cached_tokens": 80 / 3,
        "candidates_tokens": 10 / 3,
        "reasoning_tokens": 10,
    }
    assert (tokens.status, tokens.threshold) == ("informational", None)


def test_time_is_split_where_both_parts_are_known() -> None:
    """A turn that nobody timed is left out of the mean."""
    trace = trace_of(
        turn("a", duration=3.0, model_duration=2.0, tool_duration=0.5),
        turn("b", duration=1.0),
        turn("c"),
    )
    time = efficiency_of(trace)["invocation_duration_v1"]
    assert (time.score, time.breakdown) == (
        2.0,
        {"model_seconds": 2.0, "tool_seconds": 0.5, "framework_seconds": 0.5},
    )


def test_calls_are_counted() -> None:
    """Of tools in either shape of a turn; of models only where events tell."""
    older = turn("b", intermediate_data={"tool_uses": [{"name": "x"}, {"name": "y"}]})
    found = efficiency_of(trace_of(turn("a", model_call(), event(call("z"))), older))
    assert found["tool_call_count_v1"].score == 2.0
    assert found["inference_call_count_v1"].score == 1.0


def test_what_nobody_tells_is_not_reported() -> None:
    """Rather than a zero that nobody measured."""
    assert set(efficiency_of(trace_of(turn("a")))) == {"tool_call_count_v1"}
