"""Metrics that users wrote for google-adk, in the whole job."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.project import SETTINGS, Outcome, Project, case, scripted, turn

# Written for google-adk as its documentation has it, and nothing in it is ours.
METRICS = """
import time
from typing import Optional

from google.adk.evaluation.eval_case import ConversationScenario, Invocation
from google.adk.evaluation.eval_metrics import EvalMetric
from google.adk.evaluation.evaluator import EvalStatus, EvaluationResult, PerInvocationResult


def answer_of(invocation: Invocation) -> str:
    parts = invocation.final_response.parts if invocation.final_response else []
    return " ".join(part.text for part in parts if part.text)


def result(scores, passed, invocations):
    statuses = [EvalStatus.PASSED if ok else EvalStatus.FAILED for ok in passed]
    return EvaluationResult(
        overall_score=sum(scores) / len(scores),
        overall_eval_status=EvalStatus.PASSED if all(passed) else EvalStatus.FAILED,
        per_invocation_results=[
            PerInvocationResult(actual_invocation=i, score=score, eval_status=status)
            for i, score, status in zip(invocations, scores, statuses)
        ],
    )


def polite(
    eval_metric: EvalMetric,
    actual_invocations: list[Invocation],
    expected_invocations: Optional[list[Invocation]],
    conversation_scenario: Optional[ConversationScenario] = None,
) -> EvaluationResult:
    scores = [float("please" in answer_of(i).lower()) for i in actual_invocations]
    passed = [score >= eval_metric.criterion.threshold for score in scores]
    return result(scores, passed, actual_invocations)


async def wordiness(eval_metric, actual_invocations, expected_invocations, conversation_scenario):
    assert len(expected_invocations) == len(actual_invocations) and conversation_scenario is None
    scores = [float(len(answer_of(i).split())) for i in actual_invocations]
    passed = [score <= eval_metric.criterion.threshold for score in scores]
    return result(scores, passed, actual_invocations)


def raises(eval_metric, actual_invocations, expected_invocations, conversation_scenario):
    raise RuntimeError("the dictionary of manners is missing")


def hangs(eval_metric, actual_invocations, expected_invocations, conversation_scenario):
    time.sleep(3600)


def babbles(eval_metric, actual_invocations, expected_invocations, conversation_scenario):
    return 7


def exits(eval_metric, actual_invocations, expected_invocations, conversation_scenario):
    import os
    os._exit(3)
"""

CONFIG = """
{"criteria": {"response_match_score": 0.8, %s},
 "custom_metrics": {
   "polite": {"code_config": {"name": "metrics.manners.polite"}},
   "wordiness": {"code_config": {"name": "metrics.manners.wordiness"}, "lower_is_better": true,
     "metric_info": {"metric_name": "wordiness",
       "metric_value_info": {"interval": {"min_value": 0, "max_value": 100}}}},
   "raises": {"code_config": {"name": "metrics.manners.raises"}},
   "hangs": {"code_config": {"name": "metrics.manners.hangs"}},
   "babbles": {"code_config": {"name": "metrics.manners.babbles"}},
   "exits": {"code_config": {"name": "metrics.manners.exits"}},
   "missing": {"code_config": {"name": "metrics.manners.there_is_none"}}}}
"""
WITH_ADK = SETTINGS + 'requirements = "requirements.txt"\n'
CASES = [case(f"c{number}", turn("hello", "Please sit down.")) for number in range(1, 7)]


INDEX = {
    name: value
    for name, value in os.environ.items()
    if name.startswith(("UV_", "SSL_")) or name.lower().endswith("_proxy")
}
"""What uv needs here to get at packages."""


def project_with(place: Path, criteria: str, settings: str = WITH_ADK) -> Project:
    """A repository whose agent is polite, measured by these custom metrics."""
    project = scripted(place / "repo", CASES, settings)
    project.put("requirements.txt", "google-adk==2.13.0\n")
    project.put("metrics/__init__.py", "")
    project.put("metrics/manners.py", METRICS)
    project.put("evals/test_config.json", CONFIG % criteria)
    project.commit("base")
    return project


def with_python(python: Path) -> str:
    """Settings for metrics that are called with this interpreter."""
    return f'{SETTINGS}python = "{python}"\n'


def evaluate(project: Project, cache: Path, *arguments: str) -> Outcome:
    """`gradegate run` with the environments that all tests share, and a store of its own."""
    store = str(project.root.parent / "store.sqlite")
    return project.evaluate(*arguments, "--store", store, XDG_CACHE_HOME=str(cache), **INDEX)


def scores(outcome: Outcome, side: str, criterion: str) -> list[Any]:
    """A criterion's results of all cases of a side."""
    results = outcome.read(f"{side}.results.json")
    return [one["criteria"][criterion] for one in results["cases"]]


def test_metrics_written_for_google_adk_run_unchanged(place: Path, cache: Path) -> None:
    """Sync and async; what the function says is the status, and the gate goes by it."""
    project = project_with(place, '"polite": 1.0, "wordiness": 10')
    said = {"text": "Please sit down and wait for me here until I have found your papers again"}
    project.answers({one["eval_id"]: [said] for one in CASES})
    outcome = evaluate(project, cache, "--base", "main")
    assert [one["score"] for one in scores(outcome, "base", "wordiness")] == [3.0] * 6
    head = scores(outcome, "head", "wordiness")
    assert {(one["score"], one["status"], one["threshold"]) for one in head} == {
        (15.0, "failed", 10.0)
    }
    assert head[0]["scale"] == {"low": 0.0, "high": 100.0, "lower_is_better": True}
    assert {one["status"] for one in scores(outcome, "head", "polite")} == {"passed"}
    assert outcome.code == 1
    blamed = {reason["criterion"] for reason in outcome.report["decision"]["reasons"]}
    assert "wordiness" in blamed
    assert "polite" not in blamed
    (row,) = [one for one in outcome.report["criteria"] if one["name"] == "wordiness"]
    assert (row["base"], row["head"], row["delta"]) == (3.0, 15.0, 12.0)
    assert (row["lower_is_better"], row["range"]) == (True, [0.0, 100.0])
    assert row["verdict"] != "improved"


BROKEN = ("raises", "babbles", "exits", "missing")


@pytest.mark.parametrize(
    ("broken", "limit"),
    [
        (BROKEN, ""),
        pytest.param(("hangs", *BROKEN), "turn_timeout = 20.0\n", marks=pytest.mark.slow),
    ],
    ids=["at once", "not at all"],
)
def test_broken_metrics_are_not_evaluated_and_touch_no_other_score(
    place: Path, cache: Path, warm_adk: Path, broken: Sequence[str], limit: str
) -> None:
    """One raises, one hangs, one returns nonsense, one ends its process, one is not there."""
    listed = ", ".join(f'"{name}": 0.5' for name in broken)
    project = project_with(place, f'"polite": 1.0, {listed}', with_python(warm_adk) + limit)
    outcome = evaluate(project, cache, "--base", "none", "--case", "c1")
    for name in ("polite", "response_match_score"):
        assert {one["status"] for one in scores(outcome, "head", name)} == {"passed"}
    for name in broken:
        assert {one["status"] for one in scores(outcome, "head", name)} == {"not_evaluated"}
    reasons = {name: scores(outcome, "head", name)[0]["reason"] for name in broken}
    assert reasons["raises"].startswith("RuntimeError: the dictionary of manners is missing\n")
    assert "metrics/manners.py" in reasons["raises"]
    assert "returned a int, and google-adk wants an EvaluationResult" in reasons["babbles"]
    assert "exit code 3" in reasons["exits"]
    assert "there_is_none" in reasons["missing"]
    if "hangs" in broken:
        assert reasons["hangs"].startswith("the metric did not answer within 20 s")
    assert (outcome.code, outcome.state) == (3, "inconclusive")


def test_a_metric_that_changed_is_no_agent_that_changed(
    place: Path, cache: Path, warm_adk: Path
) -> None:
    """Head's function scores both sides."""
    project = project_with(place, '"polite": 1.0', with_python(warm_adk))
    stricter = METRICS.replace('"please"', '"pretty please"')
    project.put("metrics/manners.py", stricter)
    outcome = evaluate(project, cache, "--base", "main")
    for side in ("base", "head"):
        assert [one["score"] for one in scores(outcome, side, "polite")] == [0.0] * 6
    assert outcome.kinds == ["loosened"], "code that computes a score has changed, and no more"


def test_a_suite_without_google_adk_says_what_is_needed(place: Path, cache: Path) -> None:
    """A program of any kind may be the agent; its metrics need an interpreter all the same."""
    project = project_with(place, '"polite": 1.0', SETTINGS)
    outcome = evaluate(project, cache, "--base", "none", "--case", "c1")
    (one,) = scores(outcome, "head", "polite")
    assert one["status"] == "not_evaluated"
    assert "suite `desk` has no environment" in one["reason"]
    assert 'python = ".venv/bin/python"' in one["reason"]
