"""Planted runs: what passes that should not, and nothing else is named."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gradegate.criteria.tool_trajectory import MatchType
from gradegate.model.evalset import Case, EvalCase
from gradegate.pipeline.planted import Plant
from gradegate.pipeline.weaknesses import Audit, audit, in_a_line, toothless, unasked
from tests.project import WEATHER, turn
from tests.runs import MATCH, TOOLS, a_case
from tests.standins.scripted_judge import ScriptedJudge

RUBRICS = "rubric_based_final_response_quality_v1"
PARIS = turn("Weather in Paris?", "It is sunny in Paris, take your sunglasses.", WEATHER)
TRAINS = turn("Trains to Lyon?", "There are three trains tomorrow morning.", WEATHER)


def made(eval_id: str, said: Mapping[str, Any], criteria: Mapping[str, Any]) -> Case:
    """A case of one turn."""
    definition = EvalCase.model_validate({"eval_id": eval_id, "conversation": [said]})
    return a_case(eval_id, criteria=criteria).model_copy(update={"definition": definition})


def two(criteria: Mapping[str, Any]) -> list[Case]:
    """Two cases that have little in common."""
    return [made("paris", PARIS, criteria), made("trains", TRAINS, criteria)]


def asking(*names: str) -> dict[str, Any]:
    """The rubric criterion with these rubrics, of which half must be met."""
    return {
        "threshold": 0.5,
        "rubrics": [
            {"rubric_id": name, "rubric_content": {"text_property": f"Is it {name}?"}}
            for name in names
        ],
    }


def audited(cases: Sequence[Case]) -> Audit:
    """Without a judge."""
    return asyncio.run(audit(cases, unasked))


def weak(found: Audit) -> set[tuple[str, Plant]]:
    """Which criteria let what pass."""
    return {(one.place.criterion, one.plant) for one in found.weaknesses}


def test_a_good_set_lets_nothing_pass() -> None:
    """Each planted run fails something, and no criterion is named."""
    found = audited(two({TOOLS: 1.0, MATCH: 0.8}))
    assert not found.is_toothless
    assert weak(found) == set()
    assert asyncio.run(toothless(two({TOOLS: 1.0, MATCH: 0.8}))) == ()


@pytest.mark.parametrize("threshold", [0.0, 0.1])
def test_a_threshold_that_anything_meets_is_named(threshold: float) -> None:
    """With how high the planted answers scored; 0 is met even by nothing."""
    found = audited(two({MATCH: threshold}))
    assert found.is_toothless
    assert (MATCH, Plant.ECHO) in weak(found)
    assert ((MATCH, Plant.NOTHING) in weak(found)) is (threshold == 0)
    assert found.without_an_answer
    assert all(one.highest >= threshold for one in found.weaknesses)


def test_a_criterion_is_named_though_another_keeps_its_cases_red() -> None:
    """The criterion says nothing, the case does."""
    found = audited(two({MATCH: 0.0, TOOLS: 1.0}))
    assert {criterion for criterion, _ in weak(found)} == {MATCH}
    assert found.without_an_answer == ()


def test_a_case_that_expects_no_call_is_no_weakness_of_the_trajectory() -> None:
    """That nothing is called is right there; with nothing else to say, the case stays green."""
    quiet = turn("Hello", "Hello, what can I do for you today?")
    cases = [made("hello", quiet, {TOOLS: 1.0, MATCH: 0.8}), made("paris", PARIS, {TOOLS: 1.0})]
    assert not audited(cases).is_toothless
    alone = audited([made("hello", quiet, {TOOLS: 1.0})])
    assert [key.eval_id for key in alone.without_an_answer] == ["hello"]
    assert weak(alone) == set()


def test_calls_that_may_be_anything_are_a_weakness() -> None:
    """In order, any call fits where none is expected."""
    quiet = turn("Hello", "Hello, what can I do for you today?")
    any_calls = {TOOLS: {"threshold": 1.0, "match_type": "IN_ORDER"}, MATCH: 0.8}
    found = audited([made("hello", quiet, any_calls)])
    assert weak(found) == {(TOOLS, Plant.UNEXPECTED)}
    assert found.is_toothless


@pytest.mark.parametrize("match_type", MatchType)
@pytest.mark.parametrize("ignore_args", [False, True])
def test_what_an_option_allows_is_told_and_is_no_mistake(
    match_type: MatchType, *, ignore_args: bool
) -> None:
    """Another order, or other arguments."""
    both = turn("Both?", "Sunny in Paris, three trains.", WEATHER, {"name": "trains", "args": {}})
    entry = {"threshold": 1.0, "match_type": match_type.value, "ignore_args": ignore_args}
    found = audited([made("both", both, {TOOLS: entry})])
    expected = {(TOOLS, Plant.REORDERED)} if match_type is MatchType.ANY_ORDER else set()
    expected |= {(TOOLS, Plant.ALTERED)} if ignore_args else set()
    assert weak(found) == expected
    assert not found.is_toothless


def test_half_of_the_turns_is_not_enough() -> None:
    """A low threshold lets through what the match type does not."""
    quiet = turn("Hello", "Hello!")
    definition = EvalCase.model_validate({"eval_id": "two", "conversation": [PARIS, quiet]})
    case = a_case("two", criteria={TOOLS: 0.5}).model_copy(update={"definition": definition})
    assert (TOOLS, Plant.ALTERED) in weak(audited([case]))
    assert audited([case]).is_toothless


def test_without_a_judge_what_is_judged_stays_open() -> None:
    """It is neither green nor red, and the line says so."""
    cases = [a_case("one", criteria={RUBRICS: asking("polite")})]
    found = audited(cases)
    assert not found.is_toothless
    assert [key.eval_id for key in found.undecided] == ["one"]
    assert "1 more" in asyncio.run(in_a_line(cases)).text


def test_with_a_judge_rubrics_that_nothing_fails_are_named() -> None:
    """One that is met by nothing at all is a rubric that everything meets."""
    case = a_case("one", criteria={RUBRICS: asking("polite", "exact")})

    def says(question: Any, _sample: int) -> Any:
        asked = [rubric["rubric_id"] for rubric in question.data["rubrics"]]
        return {
            "rubrics": [
                {"rubric_id": name, "reasoning": "", "verdict": VERDICTS[name]} for name in asked
            ]
        }

    found = asyncio.run(audit([case], ScriptedJudge(says)))
    assert [rubric for _, rubric in found.lenient_rubrics] == ["polite"]
    assert (RUBRICS, Plant.NOTHING) in weak(found)
    assert found.without_an_answer == (case.key,)


VERDICTS = {"polite": "yes", "exact": "no"}


def test_cases_that_ask_and_expect_the_same_are_named() -> None:
    """Whatever they are called."""
    same = [made(name, PARIS, {MATCH: 0.8}) for name in ("one", "two")]
    found = audited([*same, made("trains", TRAINS, {MATCH: 0.8})])
    assert [[key.eval_id for key in keys] for keys in found.equal] == [["one", "two"]]
