"""Users' own metrics: what is asked of them, and what of their answers is believed."""

from typing import Any

import pytest

from gradegate.criteria.custom import CustomMetric, custom_metrics_of
from gradegate.model.evalset import Content, DatasetCase, EvalConfig, HistoryEvent, Part
from gradegate.model.result import CriterionResult, Scale, Status
from tests.standins.turns import call, case_of, event, placed, trace_of, turn

CODE = {"code_config": {"name": "my.metrics.length"}}
INTERVAL = {"metric_value_info": {"interval": {"min_value": -10, "max_value": 10}}}
GOOD = {"score": 0.5, "status": "passed", "invocations": [{"score": 0.5, "status": "passed"}]}


def metric(entry: Any = 0.5, **config: Any) -> CustomMetric:
    """The one metric of a config."""
    made = EvalConfig.model_validate(
        {
            "criteria": {"response_match_score": 0.8, "length": entry},
            "custom_metrics": {"length": {**CODE, **config}},
        }
    )
    (found,) = custom_metrics_of(made)
    return found


async def scored(returned: dict[str, Any] | str, **config: Any) -> CriterionResult:
    """What becomes of this answer of the function's."""

    async def measure(request: dict[str, Any]) -> dict[str, Any] | str:
        del request
        return returned

    return await metric(**config).score(placed(case_of(turn("hi"))), trace_of(turn("hi")), measure)


async def test_the_function_gets_what_google_adk_would_give_it() -> None:
    """One shape of intermediate data, the criterion with its own fields, no thresholds of ours."""
    asked: list[dict[str, Any]] = []

    async def measure(request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request)
        return GOOD

    actual = turn("hi", event(call("look", "x", city="Paris")))
    entry = {"threshold": 0.5, "language": "fr"}
    await metric(entry).score(placed(case_of(turn("ho"))), trace_of(actual), measure)
    (request,) = asked
    assert request["function"] == "my.metrics.length"
    assert request["metric"] == {"metric_name": "length", "criterion": entry}
    assert list(request["actual"][0]["intermediate_data"]) == ["invocation_events"]
    assert (len(request["expected"]), request["scenario"]) == (1, None)


EVALUATE = "def evaluate(instance):\n    return len(instance['response']['parts'][0]['text'])\n"


async def explained(said: dict[str, Any], entry: Any) -> tuple[CriterionResult, dict[str, Any]]:
    """What becomes of an answer of `evaluate`, and what it was asked."""
    asked: list[dict[str, Any]] = []

    async def measure(request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request)
        return said

    made = EvalConfig.model_validate(
        {
            "criteria": {"length": entry},
            "custom_metrics": {"length": {"custom_function": EVALUATE, "range": [1, 5]}},
        }
    )
    (one,) = custom_metrics_of(made)
    case = placed(
        case_of(turn("The capital of France is Paris.")),
        DatasetCase(
            history=(HistoryEvent(author="user", content=Content(parts=(Part(text="Hi"),))),),
            fields={"context": "A page on France.", "topic": "geography"},
        ),
    )
    actual = turn("It is Paris.", event(call("look", "x", city="Paris")))
    return await one.score(case, trace_of(actual), measure), asked[0]


async def test_a_function_of_a_dataset_gets_the_instance() -> None:
    """The case as it is written, the answer, and the conversation with what led to it."""
    result, request = await explained({"score": 4, "explanation": "short"}, {"threshold": 3})
    instance = request["instance"]
    assert (request["source"], request["name"]) == (EVALUATE, "length")
    assert instance["response"]["parts"][0]["text"] == "It is Paris."
    assert instance["reference"]["response"]["parts"][0]["text"].endswith("is Paris.")
    assert (instance["context"], instance["topic"]) == ("A page on France.", "geography")
    (only,) = instance["agent_data"]["turns"]
    texts = [event["content"]["parts"][0].get("text") for event in only["events"]]
    assert (texts[0], texts[-1]) == ("Hi", "It is Paris.")
    assert any("function_call" in e["content"]["parts"][0] for e in only["events"])
    assert (result.score, result.status, result.threshold) == (4.0, Status.PASSED, 3.0)
    assert result.scale == Scale(low=1, high=5)
    assert result.invocations[0].details == {"verdict": "4", "reasoning": "short"}


@pytest.mark.parametrize(
    ("entry", "score", "status"),
    [
        ({"threshold": 3}, 2.9, Status.FAILED),
        ({"threshold": 3}, 3, Status.PASSED),
        ({}, 1, "passed"),
    ],
)
async def test_a_threshold_of_ours_decides_where_the_function_knows_none(
    entry: dict[str, Any], score: float, status: Status
) -> None:
    """Without one every score passes, and only the mean can fall."""
    result, _ = await explained({"score": score}, entry)
    assert result.status == status


async def test_what_the_function_says_is_its_status() -> None:
    """Whatever the threshold: only the function knows which way is good."""
    result = await scored(GOOD, entry=0.9, lower_is_better=True)
    assert (result.score, result.status, result.threshold) == (0.5, Status.PASSED, 0.9)
    assert result.scale == Scale(lower_is_better=True)


@pytest.mark.parametrize(
    ("returned", "why"),
    [
        ("RuntimeError: no\n  line 3", "RuntimeError: no\n  line 3"),
        ({**GOOD, "status": "not_evaluated"}, "did not evaluate it"),
        ({**GOOD, "score": None}, "the status passed and no score"),
        ({**GOOD, "invocations": []}, "results for 0 of 1 turns"),
        ({**GOOD, "status": "splendid"}, "something odd"),
        ({**GOOD, "score": "high"}, "something odd"),
        ({**GOOD, "score": 11.0}, "goes from -10 to 10"),
    ],
)
async def test_what_cannot_be_used_is_not_evaluated(
    returned: dict[str, Any] | str, why: str
) -> None:
    """With the reason, and never a score."""
    result = await scored(returned, metric_info=INTERVAL)
    assert (result.score, result.status) == (None, Status.NOT_EVALUATED)
    assert why in str(result.reason)


async def test_without_metric_info_any_number_is_one() -> None:
    """As google-adk has it."""
    assert (await scored({**GOOD, "score": 300.0})).score == 300.0


async def test_an_informational_metric_reports_and_gates_nothing() -> None:
    """It need not tell of every turn."""
    result = await scored({"score": 3.0, "status": "informational"})
    assert (result.score, result.status) == (3.0, Status.INFORMATIONAL)
