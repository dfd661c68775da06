"""What made cases worse, and which of them share it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gradegate.compare.causes import last_line, with_causes
from gradegate.compare.pairing import Pair
from gradegate.model.report import CaseComparison, Verdict
from tests.runs import MATCH, TOOLS, a_case, both

JUDGED = "rubric_based_final_response_quality_v1"
BAD = {"base": 1, "head": 0, "threshold": 1, "passed": [6, 0], "runs": [6, 6]}


def tools(*names: str) -> dict[str, Any]:
    """A side's calls; `name=kg` weighs a parcel."""
    found = (name.partition("=") for name in names)
    return {
        "tools": [
            {"name": name, "args": {"options": {"parcels": [{"kg": float(kg)}]}} if kg else {}}
            for name, _, kg in found
        ]
    }


def a_turn(base: Sequence[str], head: Sequence[str], **more: Any) -> dict[str, Any]:
    """A turn with the calls of both sides."""
    return {"asked": "?", "base": tools(*base), "head": tools(*head), **more}


def causes(
    *evidence: Mapping[str, Any],
    criteria: Mapping[str, Any] | None = None,
    verdict: Verdict = Verdict.REGRESSED,
) -> list[str | None]:
    """Of one case for each of the evidences."""
    config = {TOOLS: 1.0} if criteria is None else criteria
    pairs = [both(a_case(f"c{n}", criteria=config)) for n, _ in enumerate(evidence)]
    cases = [
        CaseComparison.model_validate(
            {
                **pair.key._asdict(),
                "criteria": {name: {**BAD, "verdict": verdict} for name in config},
                "evidence": one,
            }
        )
        for pair, one in zip(pairs, evidence, strict=True)
    ]
    return [case.cause.text if case.cause else None for case in with_causes(cases, pairs)]


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (a_turn(["a", "b"], ["a"]), "b is no longer called"),
        (a_turn(["a"], ["a", "b"]), "b is called, and was not on base"),
        (a_turn(["a", "b", "c"], ["c", "a", "b"]), "c is called at another place"),
        (a_turn(["a=0.4"], ["a=4"]), "a is called with another options.parcels[].kg"),
        (a_turn(["a"], ["a"], expected=tools("a", "b")), "b is not called"),
        (a_turn(["a", "b"], ["a", "b"], expected=tools("a")), "b is called, and is not expected"),
        (a_turn(["a"], ["a"], expected=tools("a")), f"{TOOLS} is lower"),
    ],
)  # fmt: skip
def test_calls_tell_what_changed(turn: dict[str, Any], expected: str) -> None:
    """Against base first: that is what the pull request did."""
    assert causes({"turns": [turn]}) == [expected]


def test_the_cause_that_explains_most_cases_is_each_ones() -> None:
    """A case that lacks two calls belongs with those that lack the one."""
    lacks_both = {"turns": [a_turn(["log", "order"], [])]}
    lacks_order = {"turns": [a_turn(["order"], [])]}
    assert causes(lacks_both, lacks_order, lacks_order) == ["order is no longer called"] * 3


def test_arguments_at_different_places_of_a_list_are_one_cause() -> None:
    """Which parcel it is does not matter."""
    one = {"name": "send", "args": {"parcels": [{"kg": 1}, {"kg": 2}]}}
    first, second = (
        {"turns": [{"asked": "?", "base": {"tools": [one]}, "head": {"tools": [
            {"name": "send", "args": {"parcels": parcels}}]}}]}
        for parcels in ([{"kg": 9}, {"kg": 2}], [{"kg": 1}, {"kg": 9}])
    )  # fmt: skip
    assert causes(first, second) == ["send is called with another parcels[].kg"] * 2


@pytest.mark.parametrize(
    ("rule", "turn", "expected"),
    [
        ({"match_type": "IN_ORDER"}, a_turn(["a", "b"], ["x", "a"]), "b is no longer called"),
        ({"match_type": "ANY_ORDER"}, a_turn(["a", "b"], ["b"]), "a is no longer called"),
        ({"match_type": "ANY_ORDER"}, a_turn(["a", "b"], ["b", "a"]), f"{TOOLS} is lower"),
        ({"ignore_args": True}, a_turn(["a=1", "b"], ["a=2"]), "b is no longer called"),
    ],
)
def test_what_the_case_does_not_mind_is_no_cause(
    rule: dict[str, Any], turn: dict[str, Any], expected: str
) -> None:
    """As its own match type and `ignore_args` say."""
    criteria = {TOOLS: {"threshold": 1.0, **rule}}
    assert causes({"turns": [turn]}, criteria=criteria) == [expected]


def test_a_crash_is_told_by_the_last_line_of_its_log() -> None:
    """Of a traceback, that is the error."""
    log = "the program ended\nits log ends with:\nTraceback:\n  File 'x'\nKeyError: 'city'\n\n"
    assert causes({"head_error": log}) == ["the agent failed: KeyError: 'city'"]
    assert last_line(" \n") == ""


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        ({"subject": "Polite?", "base": "yes", "head": "no"}, 'rubric failed: "Polite?"'),
        (
            {"subject": "It rains.", "base": None, "head": "unsupported"},
            f"the answer says what it has no ground for ({JUDGED})",
        ),
        (
            {"subject": "", "base": "valid", "head": "invalid"},
            f"the judge no longer accepts the answer ({JUDGED})",
        ),
        ({"subject": "Is it polite?", "base": "no", "head": "no"}, f"{JUDGED} is lower"),
    ],
)  # fmt: skip
def test_what_a_judge_turned_on_is_the_cause(judged: dict[str, Any], expected: str) -> None:
    """Where calls are not what the case is scored by."""
    turn = a_turn(["a"], ["a"], judged=[{"criterion": JUDGED, "reason": "So.", **judged}])
    assert causes({"turns": [turn]}, criteria={JUDGED: 0.8}) == [expected]


def test_calls_that_changed_are_told_where_only_words_are_scored() -> None:
    """Nothing else explains them better."""
    evidence = {"turns": [a_turn(["a", "b"], ["a"])]}
    assert causes(evidence, criteria={MATCH: 0.8}) == ["b is no longer called"]


def test_a_case_that_is_well_has_no_cause() -> None:
    """Nor one that is flaky."""
    turn = {"turns": [a_turn(["a"], [])]}
    assert causes(turn, verdict=Verdict.FLAKY) == [None]
    fine = CaseComparison(eval_set="s", eval_id="i")
    assert with_causes([fine], [Pair(None, a_case())]) == (fine,)
