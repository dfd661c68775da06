from collections import Counter
from random import Random
from typing import Any

from tests.parity import conversations
from tests.parity.against import Asked, GoogleAdk, differences
from tests.parity.conversations import static_case, turn

NAME = "tool_trajectory_avg_score"
SPELLINGS: dict[str, tuple[Any, ...]] = {
    "EXACT": ("EXACT", "exact", " Exact ", 0),
    "IN_ORDER": ("IN_ORDER", "in_order", "in-order", "In Order", 1),
    "ANY_ORDER": ("ANY_ORDER", "any-order", "any order", "Any_Order", 2),
}
CASES_OF_EACH = 100


def options(draw: Random, match_type: str) -> dict[str, Any]:
    """The match type in one of its spellings, with and without ignoring arguments."""
    if match_type == "EXACT" and draw.random() < 0.2:
        return {}
    key = draw.choice(("match_type", "matchType"))
    chosen: dict[str, Any] = {key: draw.choice(SPELLINGS[match_type])}
    if draw.random() < 0.5:
        chosen[draw.choice(("ignore_args", "ignoreArgs"))] = draw.random() < 0.7
    return chosen


def random_case(draw: Random, match_type: str) -> Asked:
    """A conversation of up to five turns, and what an agent may have done in it."""
    expected = [conversations.calls(draw) for _ in range(draw.randint(1, 5))]
    actual = [conversations.slightly_other(draw, each) for each in expected]
    return Asked(
        criterion=NAME,
        options=options(draw, match_type),
        case=static_case([_turn(draw, each) for each in expected]),
        actual=tuple(_turn(draw, each) for each in actual),
        kind=match_type,
    )


def _turn(draw: Random, made: list[dict[str, Any]]) -> dict[str, Any]:
    return turn(intermediate_data=conversations.intermediate_data(draw, made))


async def test_scores_and_statuses_are_google_adks(google_adk: GoogleAdk) -> None:
    """Random conversations score the same, turn by turn, for every match type."""
    draw = Random(20260701)
    asked = [random_case(draw, kind) for kind in SPELLINGS for _ in range(CASES_OF_EACH)]
    asked += [random_case(draw, draw.choice(tuple(SPELLINGS))) for _ in range(CASES_OF_EACH)]
    asked = await conversations.with_telling_thresholds(draw, asked)
    theirs = google_adk(asked)

    assert not await differences(asked, theirs)
    outcomes = Counter(
        (each.kind, answer["status"]) for each, answer in zip(asked, theirs, strict=True)
    )
    turns = Counter(
        (each.kind, scored["score"])
        for each, answer in zip(asked, theirs, strict=True)
        for scored in answer["invocations"]
    )
    for kind in SPELLINGS:
        assert min(outcomes[kind, "passed"], outcomes[kind, "failed"]) >= 20, outcomes
        assert min(turns[kind, 0.0], turns[kind, 1.0]) >= 40, turns


async def test_what_google_adk_cannot_score_we_do_not_score(google_adk: GoogleAdk) -> None:
    """No turns, other numbers of turns and simulated cases have no score on either side."""
    scenario = {"starting_prompt": "hello", "conversation_plan": "say hello"}
    asked = [
        Asked(NAME, {}, static_case([]), (), kind="no turns"),
        Asked(NAME, {}, static_case([turn(), turn()]), (turn(),), kind="fewer turns"),
        Asked(NAME, {}, static_case([turn()]), (turn(), turn()), kind="more turns"),
        Asked(
            NAME,
            {},
            {"eval_id": "case", "conversation_scenario": scenario},
            (turn(),),
            kind="simulated",
        ),
    ]
    theirs = google_adk(asked)

    assert [answer["status"] for answer in theirs] == ["not_evaluated"] * 4
    assert not await differences(asked, theirs)
