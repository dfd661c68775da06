from datetime import date
from typing import Any

import pytest

from gradegate.compare.loosened import loosened
from gradegate.compare.pairing import Pair
from gradegate.evalsets.load import digest_of
from gradegate.model.evalset import Case, EvalCase, EvalConfig
from gradegate.model.report import ReasonKind
from gradegate.model.settings import CriterionGate, Gate, Quarantine, Settings, Suite
from tests.runs import MATCH, SET, TOOLS, a_case

RUBRICS = "rubric_based_final_response_quality_v1"


def told(base: Gate | Settings | None, head: Gate | Settings | None) -> list[str]:
    """What is said of a change of the settings."""
    sides = [Settings(gate=one) if isinstance(one, Gate) else one for one in (base, head)]
    found = loosened((), *sides)
    assert all(reason.kind is ReasonKind.LOOSENED for reason in found)
    return [reason.text for reason in found]


def of_config(base: dict[str, Any], head: dict[str, Any]) -> list[str]:
    """What is said of a change of an eval set's config, of two cases at once."""
    pairs = [Pair(a_case(name, criteria=base), a_case(name, criteria=head)) for name in ("a", "b")]
    found = loosened(pairs, None, None)
    assert all(reason.eval_set == SET and reason.eval_id is None for reason in found)
    return [reason.text.removeprefix(f"{SET}: ") for reason in found]


@pytest.mark.parametrize(
    ("base", "head", "said"),
    [
        (
            Gate(),
            Gate(fail_on=(ReasonKind.REGRESSION, ReasonKind.INCONCLUSIVE)),
            "`fail_on` no longer lists new_failure, loosened, removed, budget",
        ),
        (Gate(), Gate(tolerance=0.05), "the gate's `tolerance` goes from 0.02 to 0.05"),
        (Gate(), Gate(alpha=0.01), "the gate's `alpha` goes from 0.02 to 0.01"),
        (Gate(), Gate(confirm_runs=8), "the gate's `confirm_runs` goes from 16 to 8"),
        (Gate(confirm_runs=0), Gate(), "the gate's `confirm_runs` goes from 0 to 16"),
        (
            Gate(),
            Gate(criteria={MATCH: CriterionGate(tolerance=0.1)}),
            f"the tolerance for {MATCH} goes from 0.02 to 0.1",
        ),
        (
            Gate(criteria={MATCH: CriterionGate(tolerance=0.01)}),
            Gate(),
            f"the tolerance for {MATCH} goes from 0.01 to 0.02",
        ),
        (
            Gate(budget={"token_usage_v1": "+10%"}),
            Gate(budget={"token_usage_v1": "+20%"}),
            "the budget for token_usage_v1 goes from +10% to +20%",
        ),
        (
            Gate(budget={"token_usage_v1": "+10%"}),
            Gate(),
            "the budget for token_usage_v1 goes from +10% to nothing",
        ),
        (
            Gate(budget={"token_usage_v1": "+10%"}),
            Gate(budget={"token_usage_v1": "<= 10"}),
            "the budget for token_usage_v1 goes from +10% to <= 10",
        ),
    ],
)
def test_a_relaxed_rule_of_the_gate_is_told(base: Gate, head: Gate, said: str) -> None:
    """Once, with what it was and what it is; the other way round is nobody's business."""
    assert told(base, head) == [said]


@pytest.mark.parametrize(
    ("base", "head"),
    [
        (Gate(), Gate()),
        (Gate(tolerance=0.05), Gate()),
        (Gate(alpha=0.01), Gate()),
        (Gate(confirm_runs=8), Gate()),
        (Gate(), Gate(confirm_runs=0)),
        (Gate(), Gate(criteria={MATCH: CriterionGate(tolerance=0.01)})),
        (Gate(criteria={MATCH: CriterionGate(tolerance=0.1)}), Gate()),
        (Gate(), Gate(budget={"token_usage_v1": "+10%"})),
        (Gate(budget={"token_usage_v1": "+20%"}), Gate(budget={"token_usage_v1": "+10%"})),
        (Gate(fail_on=(ReasonKind.REGRESSION,)), Gate()),
    ],
)
def test_a_stricter_rule_of_the_gate_is_not(base: Gate, head: Gate) -> None:
    """Nothing is held against a pull request that makes the gate stricter."""
    assert told(base, head) == []


def test_a_criterion_without_a_tolerance_of_its_own_is_not_told_beside_the_gates() -> None:
    """One change, one line."""
    named = {MATCH: CriterionGate()}
    assert told(Gate(criteria=named), Gate(tolerance=0.05, criteria=named)) == [
        "the gate's `tolerance` goes from 0.02 to 0.05"
    ]


def test_deleting_the_settings_is_held_against_the_defaults() -> None:
    """A file that is stricter than they are cannot be deleted unseen."""
    strict = Settings(gate=Gate(fail_on=(*Gate().fail_on, ReasonKind.THRESHOLD), tolerance=0.0))
    assert told(strict, None) == [
        "`fail_on` no longer lists threshold",
        "the gate's `tolerance` goes from 0 to 0.02",
    ]


def test_a_first_settings_file_loosens_nothing() -> None:
    """There was none to be looser than."""
    assert told(None, Gate(tolerance=0.5)) == []


def quarantine(eval_id: str, until: str) -> Quarantine:
    """A case in quarantine."""
    return Quarantine(
        eval_set=SET, eval_id=eval_id, owner="@a", reason="b", until=date.fromisoformat(until)
    )


def test_quarantine_that_is_added_or_extended_is_told() -> None:
    """One that is removed or shortened is stricter."""
    before = [quarantine(name, "2026-06-30") for name in ("kept", "ended", "longer", "shorter")]
    after = [
        quarantine("kept", "2026-06-30"),
        quarantine("longer", "2026-07-31"),
        quarantine("shorter", "2026-05-31"),
        quarantine("new", "2026-06-30"),
    ]
    assert told(Settings(quarantine=tuple(before)), Settings(quarantine=tuple(after))) == [
        "the quarantine of longer is extended from 2026-06-30 to 2026-07-31",
        "new is put in quarantine until 2026-06-30",
    ]


@pytest.mark.parametrize(
    ("base", "head", "said"),
    [
        ({MATCH: 0.8}, {MATCH: 0.7}, f"{MATCH}: the threshold goes from 0.8 to 0.7"),
        ({MATCH: 0.8}, {MATCH: {"threshold": 0.5}}, f"{MATCH}: the threshold goes from 0.8 to 0.5"),
        (
            {MATCH: {"threshold": "0.8"}},
            {MATCH: {"threshold": "0.5"}},
            f"{MATCH}: the threshold goes from 0.8 to 0.5",
        ),
        (
            {MATCH: {"threshold": "0.8"}},
            {MATCH: 0.5},
            f"{MATCH}: the threshold goes from 0.8 to 0.5",
        ),
        (
            {MATCH: 0.8},
            {MATCH: {"threshold": "0.5"}},
            f"{MATCH}: the threshold goes from 0.8 to 0.5",
        ),
        ({MATCH: 0.8, TOOLS: 1.0}, {MATCH: 0.8}, f"{TOOLS} is no longer asked for"),
        (
            {TOOLS: 1.0},
            {TOOLS: {"threshold": 1.0, "matchType": "in-order"}},
            f"{TOOLS}: `match_type` goes from EXACT to IN_ORDER",
        ),
        (
            {TOOLS: {"threshold": 1.0, "match_type": "IN ORDER"}},
            {TOOLS: {"threshold": 1.0, "match_type": "any_order"}},
            f"{TOOLS}: `match_type` goes from IN_ORDER to ANY_ORDER",
        ),
        (
            {TOOLS: 1.0},
            {TOOLS: {"threshold": 1.0, "ignoreArgs": True}},
            f"{TOOLS}: `ignore_args` is switched on",
        ),
        (
            {"final_response_match_v2": 0.8},
            {
                "final_response_match_v2": {
                    "threshold": 0.8,
                    "judgeModelOptions": {"numSamples": 3},
                }
            },
            "final_response_match_v2: `num_samples` goes from 5 to 3",
        ),
        (
            {"hallucinations_v1": {"threshold": 0.8, "judge_model_options": {"num_samples": 3}}},
            {"hallucinations_v1": 0.8},
            "hallucinations_v1: `num_samples` goes from 3 to 1",
        ),
        (
            {"hallucinations_v1": {"threshold": 0.8, "evaluateIntermediateNlResponses": True}},
            {"hallucinations_v1": {"threshold": 0.8}},
            "hallucinations_v1: `evaluate_intermediate_nl_responses` is switched off",
        ),
        (
            {RUBRICS: {"threshold": 0.8, "rubrics": [{"rubricId": "a"}, {"rubric_id": "b"}]}},
            {RUBRICS: {"threshold": 0.8, "rubrics": [{"rubric_id": "a"}]}},
            f"{RUBRICS}: the rubric `b` is taken out",
        ),
    ],
)
def test_a_relaxed_config_is_told_once_for_its_eval_set(
    base: dict[str, Any], head: dict[str, Any], said: str
) -> None:
    """However many cases the set has; the same change the other way is stricter."""
    assert of_config(base, head) == [said]
    assert of_config(head, base) == [] or "num_samples" in said


def test_what_has_no_order_is_never_loosened() -> None:
    """Another wording, one more criterion."""
    one = {"threshold": 0.8, "rubrics": [{"rubric_id": "a", "rubric_content": {"x": "kind"}}]}
    other = {
        "threshold": 0.8,
        "rubrics": [{"rubric_id": "a", "rubric_content": {"x": "polite"}}],
    }
    assert of_config({RUBRICS: one}, {RUBRICS: other, MATCH: 0.8}) == []


def test_rubrics_that_cases_and_turns_lose_are_told_with_their_case() -> None:
    """In the order of their names."""
    before = a_case(rubrics=["d", "c", "b", "kept"], turn_rubrics=["a"])
    found = loosened([Pair(before, a_case(rubrics=["kept"]))], None, None)
    assert [reason.text for reason in found] == [
        f"the rubric `{name}` is taken out" for name in "abcd"
    ]
    assert {reason.eval_id for reason in found} == {"paris"}


def test_a_rubric_that_moves_to_a_turn_is_still_there() -> None:
    """It is asked for in another place."""
    pair = Pair(a_case(rubrics=["a"]), a_case(turn_rubrics=["a"]))
    assert loosened([pair], None, None) == ()


def test_a_rubric_of_another_type_is_no_longer_the_criterions() -> None:
    """Nobody asks about it any more, though its id is still there."""
    typed = a_case(rubrics=["a"])
    rubric = (typed.definition.rubrics or ())[0].model_copy(update={"type": "TOOL_USE_QUALITY"})
    definition = typed.definition.model_copy(update={"rubrics": (rubric,)})
    retyped = typed.model_copy(update={"definition": definition})
    (found,) = loosened([Pair(typed, retyped)], None, None)
    assert found.text == "the rubric `a` is taken out"


def test_fewer_runs_of_a_suite_are_told() -> None:
    """They find less; more of them are stricter."""
    several, once = (Settings(suite=(Suite(name="desk", runs=runs),)) for runs in (3, 1))
    assert told(several, once) == ["`runs` of suite desk goes from 3 to 1"]
    assert told(once, several) == []


def test_added_and_removed_cases_loosen_nothing() -> None:
    """A removed case is told as removed."""
    assert loosened([Pair(a_case(), None), Pair(None, a_case())], None, None) == ()


def test_where_low_is_good_a_raised_threshold_is_the_looser_one() -> None:
    """A user's own metric may say so."""

    def config(threshold: float) -> Case:
        made = EvalConfig.model_validate(
            {
                "criteria": {"length": threshold},
                "custom_metrics": {
                    "length": {"code_config": {"name": "m.length"}, "lowerIsBetter": True}
                },
            }
        )
        return a_case().model_copy(update={"config": made})

    def said(base: float, head: float) -> list[str]:
        return [one.text for one in loosened([Pair(config(base), config(head))], None, None)]

    assert said(40, 50) == [f"{SET}: length: the threshold goes from 40 to 50"]
    assert said(50, 40) == []


def expecting(*answers: str | None) -> Case:
    """A case with an expected answer a turn; None expects none."""
    turns = [
        {
            "user_content": {"parts": [{"text": "hello"}]},
            "final_response": answer and {"parts": [{"text": answer}]},
        }
        for answer in answers
    ]
    definition = EvalCase.model_validate({"eval_id": "paris", "conversation": turns})
    update = {"definition": definition, "digest": digest_of(definition)}
    return a_case(criteria={MATCH: 0.8}).model_copy(update=update)


@pytest.mark.parametrize(
    ("base", "head", "lost"),
    [
        (["hi"], [None], "1 of 1"),
        (["hi", "ho"], ["hi", None], "1 of 2"),
        (["hi", None], [None], "1 of 1"),
        (["hi"], ["hello"], None),
        (["hi", "ho"], ["hi"], None),
        (["hi"], [None, "hi"], None),
        ([None], [None, None], None),
    ],
)
def test_a_case_that_loses_its_reference_is_told(
    base: list[str | None], head: list[str | None], lost: str | None
) -> None:
    """Another answer is an edit, and so is a turn taken out with its own."""
    found = loosened([Pair(expecting(*base), expecting(*head))], None, None)
    said = f"{MATCH} loses what it compares with in {lost} turns"
    assert [(one.text, one.eval_id) for one in found] == ([(said, "paris")] if lost else [])


def test_a_case_that_a_model_now_plays_has_lost_its_reference() -> None:
    """Nothing is expected of a simulated conversation."""
    scenario = {"starting_prompt": "hello", "conversation_plan": "say hello"}
    definition = EvalCase.model_validate({"eval_id": "paris", "conversation_scenario": scenario})
    update = {"definition": definition, "digest": digest_of(definition)}
    (found,) = loosened([Pair(expecting("hi"), a_case().model_copy(update=update))], None, None)
    assert found.code == "loosened.reference"


def test_a_config_that_loses_its_last_criterion_is_told() -> None:
    """Nothing is left that could fail."""
    (found,) = loosened([Pair(a_case(), a_case(criteria={}))], None, None)
    assert found.text == f"{SET}: {MATCH} is no longer asked for"
