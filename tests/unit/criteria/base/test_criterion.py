"""What all criteria share: turns beside the case's own, and what a looser entry is."""

from typing import Any

import pytest

from gradegate.criteria import registry
from gradegate.criteria.base.criterion import ConversationCriterion, TurnCriterion
from gradegate.model.evalset import EvalConfig
from gradegate.model.result import Status
from tests.standins.scripted_judge import ScriptedJudge
from tests.standins.turns import case_of, trace_of, turn

ALL = sorted(registry.built())
JUDGED = sorted(name for name, cls in registry.built().items() if cls.needs.judge)
TURN_BY_TURN = sorted(n for n, cls in registry.built().items() if issubclass(cls, TurnCriterion))
AS_A_WHOLE = sorted(n for n, c in registry.built().items() if issubclass(c, ConversationCriterion))
TOOLS, SENTENCES = "tool_trajectory_avg_score", "hallucinations_v1"
RUBRICS = "rubric_based_tool_use_quality_v1"
HALF = {"threshold": 0.5}


def looser(name: str, base: Any, head: Any) -> list[str]:
    """What is said of an entry that becomes another."""
    configs = [EvalConfig(criteria={name: entry}) for entry in (base, head)]
    return [one.text for one in registry.loosened(name, *configs)]


def own(base: Any, head: Any, **config: Any) -> list[str]:
    """The same for a user's own metric."""
    metric = {"mine": {"code_config": {"name": "a.b"}, **config}}
    configs = [EvalConfig(criteria={"mine": e}, custom_metrics=metric) for e in (base, head)]
    return [one.text for one in registry.loosened("mine", *configs)]


def unasked(*_: Any) -> Any:
    """No judge should have been asked."""
    raise AssertionError


def test_most_criteria_score_turn_by_turn_or_the_whole() -> None:
    """What is told of either below is told of all of these."""
    assert len(TURN_BY_TURN) >= 8
    assert len(AS_A_WHOLE) >= 4


@pytest.mark.parametrize("name", TURN_BY_TURN)
async def test_turns_that_do_not_pair_are_not_scored(name: str) -> None:
    """Whatever the criterion looks at."""
    case, trace = case_of(turn("a"), turn("b")), trace_of(turn("a"))
    result = await registry.parse(name, HALF).score(case, trace, ScriptedJudge(unasked))
    assert (result.score, result.status) == (None, Status.NOT_EVALUATED)
    assert result.reason == "the case has 2 turns and the trace 1"


@pytest.mark.parametrize("name", AS_A_WHOLE)
async def test_a_conversation_without_turns_is_not_scored(name: str) -> None:
    """There is nothing to judge."""
    result = await registry.parse(name, HALF).score(case_of(), trace_of(), ScriptedJudge(unasked))
    assert (result.score, result.reason) == (None, "the case has no turns")


@pytest.mark.parametrize("name", ALL)
def test_a_lowered_threshold_is_looser(name: str) -> None:
    """However it is written; a raised one is not."""
    said = ["the threshold goes from 0.5 to 0.25"]
    assert looser(name, 0.5, 0.25) == looser(name, HALF, {"threshold": "0.25"}) == said
    assert looser(name, {"threshold": "0.5"}, {"threshold": "0.25"}) == said
    assert looser(name, 0.25, 0.5) == looser(name, 0.5, HALF) == []


@pytest.mark.parametrize("name", JUDGED)
def test_whatever_tells_a_judge_how_to_judge_counts(name: str) -> None:
    """Whichever way; where no samples are named, as many vote as the criterion usually has."""
    usual = 1 if name == SENTENCES else 5
    nine = {**HALF, "judgeModelOptions": {"numSamples": 9}}
    assert looser(name, nine, HALF) == [f"`num_samples` goes from 9 to {usual}"]
    assert looser(name, HALF, nine) == [f"`num_samples` goes from {usual} to 9"]
    for option, value in (("judge_model", "kind"), ("judge_model_config", {"temperature": 2})):
        other = {**HALF, "judge_model_options": {option: value}}
        told = f"`{option}`, which tells the judge how to judge, is changed"
        assert looser(name, HALF, other) == looser(name, other, HALF) == [told]


def test_an_option_is_held_against_the_criterion_that_has_it() -> None:
    """To any other it is a field that nobody reads."""
    options = {
        **HALF,
        "ignore_args": True,
        "match_type": "ANY_ORDER",
        "judge_model_options": {"num_samples": 1},
    }
    assert looser("response_match_score", HALF, options) == []
    assert looser(TOOLS, HALF, options) == [
        "`match_type` goes from EXACT to ANY_ORDER",
        "`ignore_args` is switched on",
    ]


def test_a_switch_is_read_as_the_criterion_reads_it() -> None:
    """`"false"` is off, though it is a text."""
    assert looser(TOOLS, HALF, {**HALF, "ignore_args": "false"}) == []
    assert looser(TOOLS, HALF, {**HALF, "ignore_args": "yes"}) == ["`ignore_args` is switched on"]


def test_what_is_told_of_one_entry_comes_in_a_fixed_order() -> None:
    """The threshold first, then the options."""
    before = {
        "threshold": 0.5,
        "judge_model_options": {"num_samples": 3},
        "evaluate_intermediate_nl_responses": True,
    }
    assert looser(SENTENCES, before, 0.25) == [
        "the threshold goes from 0.5 to 0.25",
        "`evaluate_intermediate_nl_responses` is switched off",
        "`num_samples` goes from 3 to 1",
    ]


def test_an_option_that_is_wrong_hides_no_other() -> None:
    """It counts as not written; `check` says what is wrong with it."""
    wrong = {"match_type": "SOMEHOW", "ignore_args": True}
    assert looser(TOOLS, {**HALF, "match_type": 7}, {"threshold": 0.25, **wrong}) == [
        "the threshold goes from 0.5 to 0.25",
        "`ignore_args` is switched on",
    ]
    both = {**HALF, "ignore_args": "perhaps", "ignoreArgs": "perhaps", "match_type": "IN_ORDER"}
    assert looser(TOOLS, HALF, both) == ["`match_type` goes from EXACT to IN_ORDER"]
    assert looser(TOOLS, {}, {"threshold": "high"}) == []
    assert looser(TOOLS, 0.5, {"threshold": "high"}) == ["the threshold goes from 0.5 to 0"]


@pytest.mark.parametrize("rubrics", [None, "a", [None, 3, {"rubric_id": 7}, {}]])
def test_rubrics_that_are_none_are_passed_over(rubrics: Any) -> None:
    """The others are still looked for."""
    before = {**HALF, "rubrics": [{"rubric_id": "a", "rubric_content": {}}]}
    assert looser(RUBRICS, before, {**HALF, "rubrics": rubrics}) == ["the rubric `a` is taken out"]
    assert looser(RUBRICS, {**HALF, "rubrics": rubrics}, before) == []


def test_a_users_own_metric_is_given_what_adks_criteria_are_given() -> None:
    """So it may go by their options, and they have the same order."""
    before = {**HALF, "rubrics": [{"rubric_id": "a"}], "judge_model_options": {"num_samples": 7}}
    assert own(before, {"threshold": 0.25, "ignore_args": True}) == [
        "the threshold goes from 0.5 to 0.25",
        "`ignore_args` is switched on",
        "`num_samples` goes from 7 to 5",
        "the rubric `a` is taken out",
    ]


def test_of_a_users_own_metric_base_says_which_end_is_good() -> None:
    """Where that cannot be read, high is."""
    assert own(40, 50, lowerIsBetter=True) == ["the threshold goes from 40 to 50"]
    assert own(40, 50) == own(40, 50, lower_is_better="perhaps") == []
    assert own(50, 40, lower_is_better="perhaps") == ["the threshold goes from 50 to 40"]
