"""What a turn costs is what google-adk says it costs."""

from random import Random
from typing import Any

import pytest

from gradegate.criteria.efficiency import METRICS, efficiency_of
from gradegate.model.runs import Trace
from tests.parity import conversations
from tests.parity.against import CLOSE, Asked, GoogleAdk
from tests.parity.conversations import static_case, turn

CASES_OF_EACH = 60
COUNTS = (
    "prompt_token_count",
    "cached_content_token_count",
    "tool_use_prompt_token_count",
    "candidates_token_count",
    "thoughts_token_count",
)
TOTALS = {"total_tokens", "total_seconds"}


def random_turn(draw: Random) -> dict[str, Any]:
    """A turn that tells more or less of what it cost, in either shape."""
    made = turn()
    data = conversations.intermediate_data(draw, conversations.calls(draw))
    if data is not None:
        made["intermediate_data"] = data
        for event in data.get("invocation_events") or data.get("invocationEvents") or ():
            if draw.random() < 0.7:
                told = draw.sample(COUNTS, draw.randint(0, len(COUNTS)))
                event["usage_metadata"] = {name: draw.randint(0, 5000) for name in told}
            if draw.random() < 0.5:
                event["model_version"] = "gemini-2.5-flash"
    if draw.random() < 0.7:
        made["duration"] = round(draw.random() * 20, 3)
        if draw.random() < 0.7:
            made["model_duration"] = round(draw.random() * 12, 3)
            made["tool_duration"] = round(draw.random() * 9, 3)
    return made


@pytest.mark.parametrize("name", sorted(METRICS))
def test_numbers_are_google_adks(google_adk: GoogleAdk, name: str) -> None:
    """The mean and what it is made of, turn by turn; what nobody told is not told."""
    draw = Random(name)
    asked = [
        Asked(name, {}, static_case([turn()] * len(turns)), tuple(turns))
        for turns in (
            [random_turn(draw) for _ in range(draw.randint(1, 4))] for _ in range(CASES_OF_EACH)
        )
    ]
    answers = google_adk.always_on(asked)
    told = 0
    for each, theirs in zip(asked, answers, strict=True):
        trace = Trace.model_validate({"eval_set": "s", "eval_id": "c", "invocations": each.actual})
        mine = efficiency_of(trace).get(name)
        if mine is None:
            assert theirs["score"] is None, each
            continue
        told += 1
        assert theirs["status"] == mine.status == "informational"
        assert mine.score == pytest.approx(theirs["score"], abs=CLOSE)
        for ours, other in zip(mine.invocations, theirs["invocations"], strict=True):
            assert ours.score == pytest.approx(other["score"], abs=CLOSE)
        parts = {part: value for part, value in theirs["breakdown"].items() if part not in TOTALS}
        assert mine.breakdown == pytest.approx(parts, abs=CLOSE)
    assert told > CASES_OF_EACH / 2
