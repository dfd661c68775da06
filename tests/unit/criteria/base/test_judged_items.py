"""What a criterion has to show of a turn, read from what it left in the turn's result."""

from typing import Any

import pytest

from gradegate.criteria import registry
from gradegate.criteria.base.judged import Judged
from gradegate.locales import NOTHING
from gradegate.model.result import InvocationResult, RubricScore

MATCH, SIMULATOR = "final_response_match_v2", "per_turn_user_simulator_quality_v1"
SENTENCES, SAFETY, TOOLS = "hallucinations_v1", "safety_v1", "tool_trajectory_avg_score"
RUBRICS = "rubric_based_tool_use_quality_v1"


def shown(name: str, score: float | None = 0.0, **fields: Any) -> list[Judged]:
    """The evidence that a criterion finds in a turn."""
    return list(registry.evidence(name, InvocationResult(score=score, **fields)))


def test_a_rubric_is_met_or_not_or_was_not_scored() -> None:
    """With the judge's reason, where it gave one."""
    rubrics = (
        RubricScore(rubric_id="kind", score=1.0, rationale="it says please"),
        RubricScore(rubric_id="brief", score=0.0),
        RubricScore(rubric_id="lost"),
    )
    assert shown(RUBRICS, rubrics=rubrics) == [
        Judged("kind", "yes", good=True, reason="it says please"),
        Judged("brief", "no", good=False),
        Judged("lost", NOTHING, good=False),
    ]


@pytest.mark.parametrize("name", [MATCH, SIMULATOR, SAFETY])
@pytest.mark.parametrize(("score", "good"), [(1.0, True), (0.0, False), (None, False)])
def test_the_answer_as_a_whole_has_no_name(name: str, score: float | None, *, good: bool) -> None:
    """Whether the verdict is a good one, the score says."""
    details = {"verdict": "as it is", "reasoning": "because"}
    assert shown(name, score, details=details) == [Judged("", "as it is", good, "because")]


def test_the_services_own_rubrics_come_before_its_word_on_the_whole() -> None:
    """Both are shown."""
    rubrics = (RubricScore(rubric_id="no insult", score=1.0),)
    assert shown(SAFETY, 1.0, rubrics=rubrics, details={"verdict": "safe"}) == [
        Judged("no insult", "yes", good=True),
        Judged("", "safe", good=True),
    ]


def test_a_sentence_is_shown_with_its_label() -> None:
    """Whether it is grounded is the label's business, not the score's."""
    sentences = [
        {"sentence": "It rains.", "label": "unsupported", "grounded": False, "reasoning": "no"},
        {"response": 2, "sentence": "Hi.", "label": "not_applicable", "grounded": True},
    ]
    assert shown(SENTENCES, 0.5, details={"sentences": sentences}) == [
        Judged("It rains.", "unsupported", good=False, reason="no"),
        Judged("Hi.", "not_applicable", good=True),
    ]


@pytest.mark.parametrize("name", [TOOLS, MATCH, SENTENCES, SAFETY, RUBRICS, "token_usage_v1"])
def test_where_no_judge_said_anything_there_is_nothing_to_show(name: str) -> None:
    """A score alone, or the parts of a number."""
    assert shown(name) == shown(name, details={"input_tokens": 3.0}) == []


def test_details_of_another_criterion_are_not_read() -> None:
    """Each knows its own."""
    assert shown(TOOLS, details={"verdict": "valid", "sentences": [{}]}) == []
    assert shown(MATCH, details={"sentences": [{}]}) == []
