import json
from collections import Counter
from random import Random
from typing import Any

from tests.parity import scripts
from tests.parity.against import Asked, GoogleAdk, differences, ours
from tests.parity.conversations import static_case, turn, with_telling_thresholds

NAME = "response_match_score"
SCRIPTS = (*scripts.WORDS, "Mixed", "Any characters")
CASES_OF_EACH = 25


def content(draw: Random, said: str) -> dict[str, Any]:
    """A text as a content: in one part, or in several with others between."""
    if draw.random() < 0.5:
        return {"role": "model", "parts": [{"text": said}]}
    cut = draw.randint(0, len(said))
    between: list[dict[str, Any]] = [
        {"text": ""},
        {"function_call": {"name": "search"}},
        {"text": "hmm", "thought": True},
    ]
    return {"parts": [{"text": said[:cut]}, draw.choice(between), {"text": said[cut:]}]}


def random_case(draw: Random, script: str) -> Asked:
    """A conversation of up to four turns in one script."""
    pairs = [_texts(draw, script) for _ in range(draw.randint(1, 4))]
    return Asked(
        criterion=NAME,
        options=draw.choice(({}, {"include_intermediate_responses_in_final": False})),
        case=static_case([turn(final_response=content(draw, said)) for said, _ in pairs]),
        actual=tuple(turn(final_response=_answer(draw, said)) for _, said in pairs),
        kind=script,
    )


def _texts(draw: Random, script: str) -> tuple[str, str]:
    if script == "Any characters":
        expected = scripts.characters(draw)
    else:
        expected = scripts.text(draw, script)
    return expected, scripts.slightly_other(draw, expected)


def _answer(draw: Random, said: str) -> dict[str, Any] | None:
    nothing: tuple[dict[str, Any] | None, ...] = (
        None,
        {},
        {"parts": []},
        {"parts": [{"text": ""}]},
    )
    return draw.choice(nothing) if draw.random() < 0.05 else content(draw, said)


async def test_scores_and_statuses_are_google_adks(google_adk: GoogleAdk) -> None:
    """Random conversations score the same, turn by turn, in every script."""
    draw = Random(20260702)
    asked = [random_case(draw, script) for script in SCRIPTS for _ in range(CASES_OF_EACH)]
    asked = await with_telling_thresholds(draw, asked)
    theirs = google_adk(asked)

    assert not await differences(asked, theirs)
    answers = list(zip(asked, theirs, strict=True))
    outcomes = Counter((each.kind, answer["status"]) for each, answer in answers)
    partly = Counter(each.kind for each, answer in answers if 0 < answer["score"] < 1)
    for script in set(SCRIPTS) - {"Nothing"}:
        assert min(outcomes[script, "passed"], outcomes[script, "failed"]) >= 4, outcomes
        assert partly[script] >= 8, f"{script} hardly says anything: {partly}"


async def test_a_turn_that_expects_no_answer_scores_0_on_both_sides(
    google_adk: GoogleAdk,
) -> None:
    """Whoever moves over finds the scores they had."""
    answer = {"parts": [{"text": "the flight leaves at nine"}]}
    expected = [turn(final_response=answer), turn(final_response=None)]
    asked = Asked(NAME, {}, static_case(expected), (turn(final_response=answer),) * 2)

    theirs = google_adk([asked])[0]
    mine = await ours(asked)

    assert [each["score"] for each in theirs["invocations"]] == [1.0, 0.0]
    assert [each.score for each in mine.invocations] == [1.0, 0.0]


async def test_an_empty_reference_is_one(google_adk: GoogleAdk) -> None:
    """An expected answer without words scores 0 on both sides, whatever was answered."""
    contents: tuple[dict[str, Any], ...] = (
        {},
        {"parts": None},
        {"parts": []},
        {"parts": [{"text": ""}]},
        {"parts": [{"text": "…"}]},
        {"parts": [{"function_call": {"name": "search"}}]},
    )
    answers: tuple[dict[str, Any] | None, ...] = (
        {"parts": [{"text": "nine"}]},
        None,
        {"parts": []},
    )
    asked = [
        Asked(
            NAME,
            {},
            static_case([turn(final_response=expected)]),
            (turn(final_response=answer),),
            kind=json.dumps([expected, answer]),
        )
        for expected in contents
        for answer in answers
    ]
    theirs = google_adk(asked)

    assert {answer["score"] for answer in theirs} == {0.0}
    assert not await differences(asked, theirs)
