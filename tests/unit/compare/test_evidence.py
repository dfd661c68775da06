from typing import Any

import pytest

from gradegate.compare.evidence import LONGEST_TEXT, evidence_of
from gradegate.criteria.registry import built
from gradegate.model.evalset import Case, Invocation
from gradegate.model.result import (
    CaseResult,
    CriterionResult,
    InvocationResult,
    RubricScore,
    Status,
)
from gradegate.model.runs import NotRun, Role, ScoredRun, Trace
from tests.runs import a_case

HALLUCINATIONS, MATCH = "hallucinations_v1", "final_response_match_v2"
SENTENCE = {"sentence": "It rains.", "label": "unsupported", "grounded": False}
CASE = a_case(asked="Weather in Paris?")


def said(text: str, *tools: str, asked: str = "Weather in Paris?") -> Invocation:
    """A turn as the agent made it."""
    return Invocation.model_validate(
        {
            "user_content": {"parts": [{"text": asked}]},
            "final_response": {"parts": [{"text": text}]},
            "intermediate_data": {"tool_uses": [{"name": name, "args": {}} for name in tools]},
        }
    )


def a_run(
    status: Status,
    *turns: Invocation,
    error: str | None = None,
    judged: dict[str, InvocationResult] | None = None,
    case: Case = CASE,
) -> ScoredRun:
    """A run with what was said, and how its one turn was judged."""
    criteria = {name: CriterionResult(invocations=(turn,)) for name, turn in (judged or {}).items()}
    result = CaseResult(
        suite=case.suite,
        eval_set=case.eval_set,
        eval_id=case.eval_id,
        status=status,
        criteria=criteria,
    )
    names: dict[str, Any] = {"eval_set": case.eval_set, "eval_id": case.eval_id}
    return ScoredRun(Role.FIRST, Trace(**names, invocations=turns, error=error), result)


def test_a_turn_shows_what_was_asked_expected_answered_and_called() -> None:
    """On each side."""
    base = [a_run(Status.PASSED, said("Sunny.", "get_weather"))]
    head = [a_run(Status.FAILED, said("No idea."))]
    (turn,) = evidence_of(CASE, base, head).turns
    assert turn.asked == "Weather in Paris?"
    assert turn.expected is not None
    assert turn.expected.text == "hi"
    assert turn.base is not None
    assert (turn.base.text, [tool.name for tool in turn.base.tools]) == ("Sunny.", ["get_weather"])
    assert turn.head is not None
    assert (turn.head.text, turn.head.tools) == ("No idea.", ())


def test_the_representative_run_is_one_that_failed_on_head_and_passed_on_base() -> None:
    """Not the first of each, where others say more."""
    base = [a_run(Status.FAILED, said("bad day")), a_run(Status.PASSED, said("good"))]
    head = [a_run(Status.PASSED, said("lucky")), a_run(Status.FAILED, said("broken"))]
    (turn,) = evidence_of(CASE, base, head).turns
    assert (turn.base and turn.base.text, turn.head and turn.head.text) == ("good", "broken")


def test_where_no_run_is_representative_the_first_is_shown() -> None:
    """A case that fails on both sides."""
    base = [a_run(Status.FAILED, said("one")), a_run(Status.FAILED, said("two"))]
    (turn,) = evidence_of(CASE, base, base).turns
    assert turn.base is not None
    assert turn.base.text == "one"


def test_an_agent_that_failed_says_how() -> None:
    """With the turns it got to, and the expected ones it did not."""
    found = evidence_of(CASE, [], [a_run(Status.ERRORED, error="boom")])
    assert (found.head_error, found.base_error) == ("boom", None)
    assert found.turns[0].head is None
    assert found.turns[0].expected is not None


def test_a_run_that_was_not_made_has_nothing_to_show() -> None:
    """The reason stands with the criterion."""
    result = a_run(Status.NOT_EVALUATED).result
    found = evidence_of(CASE, [], [ScoredRun(Role.FIRST, NotRun("no recording"), result)])
    assert found.head_error is None
    assert found.turns[0].head is None


def test_turns_beyond_what_was_expected_are_shown_too() -> None:
    """A simulated user may talk on."""
    head = [a_run(Status.FAILED, said("one"), said("two", asked="And tomorrow?"))]
    turns = evidence_of(CASE, [], head).turns
    assert [turn.asked for turn in turns] == ["Weather in Paris?", "And tomorrow?"]
    assert turns[1].expected is None


def rubric(score: float | None, reason: str = "because") -> InvocationResult:
    """A turn judged by one rubric."""
    return InvocationResult(
        rubrics=(RubricScore(rubric_id="polite", score=score, rationale=reason),)
    )


def test_a_rubric_is_shown_where_it_flipped_or_is_no() -> None:
    """A yes on both sides is no news."""

    def shown(before: float | None, after: float | None) -> list[tuple[str | None, str | None]]:
        base = [a_run(Status.PASSED, said("a"), judged={"r": rubric(before)})]
        head = [a_run(Status.FAILED, said("b"), judged={"r": rubric(after)})]
        (turn,) = evidence_of(CASE, base, head).turns
        return [(one.base, one.head) for one in turn.judged]

    assert shown(1.0, 0.0) == [("yes", "no")]
    assert shown(0.0, 1.0) == [("no", "yes")]
    assert shown(0.0, 0.0) == [("no", "no")]
    assert shown(1.0, 1.0) == []


def test_sentences_and_whole_answers_are_shown_with_the_judges_reason() -> None:
    """As the criteria leave them in their details; an answer as a whole has no other name."""
    sentences = InvocationResult(
        details={
            "sentences": [
                {"sentence": "It rains.", "label": "unsupported", "grounded": False},
                {"sentence": "Hello.", "label": "not_applicable", "grounded": True},
            ]
        }
    )
    whole = InvocationResult(score=0.0, details={"verdict": "invalid", "reasoning": "wrong city"})
    head = [a_run(Status.FAILED, said("b"), judged={HALLUCINATIONS: sentences, MATCH: whole})]
    (turn,) = evidence_of(CASE, [], head).turns
    assert [(one.criterion, one.subject, one.head, one.reason) for one in turn.judged] == [
        (MATCH, "", "invalid", "wrong city"),
        (HALLUCINATIONS, "It rains.", "unsupported", None),
    ]


def test_a_users_own_metric_shows_its_rubrics() -> None:
    """Nothing else of it is known here."""
    head = [a_run(Status.FAILED, said("b"), judged={"kindness": rubric(0.0)})]
    (turn,) = evidence_of(CASE, [], head).turns
    assert [(one.criterion, one.subject, one.head, one.reason) for one in turn.judged] == [
        ("kindness", "polite", "no", "because")
    ]


@pytest.mark.parametrize("name", sorted(built()))
def test_what_a_criterion_has_to_show_is_found_by_its_name(name: str) -> None:
    """Which details there are is the criterion's own business: here a class of its name says."""
    given = InvocationResult(
        score=0.0,
        rubrics=(RubricScore(rubric_id="polite", score=0.0),),
        details={"verdict": "unsafe", "reasoning": "so", "sentences": [SENTENCE]},
    )
    head = [a_run(Status.FAILED, said("b"), judged={name: given})]
    (turn,) = evidence_of(CASE, [], head).turns
    assert [(one.subject, one.head, one.reason or "") for one in turn.judged] == [
        (one.subject, one.verdict, one.reason) for one in built()[name].evidence(given)
    ]


def test_a_very_long_text_is_clipped() -> None:
    """Reports are read by people and posted by programs with limits."""
    (turn,) = evidence_of(CASE, [], [a_run(Status.FAILED, said("x" * 10 * LONGEST_TEXT))]).turns
    assert turn.head is not None
    assert len(turn.head.text) == LONGEST_TEXT + 1
    assert turn.head.text.endswith("…")


@pytest.mark.parametrize("place", [0, 30_000, 59_000])
def test_what_differs_in_very_long_texts_is_kept(place: int) -> None:
    """They are compared before they are clipped, and what they share is left out in both."""
    words = [f"word{number}. " for number in range(10_000)]
    old, new = "".join(words), "".join([*words[: place // 9], "Changed! ", *words[place // 9 :]])
    base, head = [a_run(Status.PASSED, said(old))], [a_run(Status.FAILED, said(new))]
    (turn,) = evidence_of(CASE, base, head).turns
    assert turn.base is not None
    assert turn.head is not None
    assert max(len(turn.base.text), len(turn.head.text)) <= LONGEST_TEXT + 1
    assert "Changed! " in turn.head.text
    assert turn.head.text.replace("Changed! ", "") == turn.base.text


def test_a_rubric_is_shown_with_what_it_asks() -> None:
    """Its id tells a reader nothing; each criterion has rubrics of its own."""
    name = "rubric_based_final_response_quality_v1"
    rubrics = [{"rubric_id": "polite", "rubric_content": {"text_property": "Is it polite?"}}]
    case = a_case(criteria={name: {"threshold": 0.8, "rubrics": rubrics}}, rubrics=["brief"])
    given = InvocationResult(
        score=0.0,
        rubrics=tuple(RubricScore(rubric_id=one, score=0.0) for one in ("polite", "brief")),
    )
    head = [a_run(Status.FAILED, said("b"), judged={name: given, "kindness": rubric(0.0)})]
    (turn,) = evidence_of(case, [], head).turns
    assert [(one.criterion, one.subject, one.rubric_id) for one in turn.judged] == [
        ("kindness", "polite", None),
        (name, "Is it polite?", "polite"),
        (name, "about brief", "brief"),
    ]


def test_runs_that_answered_alike_share_a_number() -> None:
    """Each side counts for itself; calls count too, and a run that failed has no answer."""
    head = [
        a_run(Status.FAILED, said("No.")),
        a_run(Status.FAILED, said("No.", "search")),
        a_run(Status.ERRORED, said("No."), error="it broke"),
        a_run(Status.FAILED, said("No.")),
    ]
    evidence = evidence_of(CASE, [a_run(Status.PASSED, said("Yes."))], head)
    assert [run.answer for run in evidence.base_runs] == [1]
    assert [run.answer for run in evidence.head_runs] == [1, 2, None, 1]
