import json
from pathlib import Path
from typing import Any

import pytest

from gradegate.files.results_json import read_results, read_traces
from gradegate.model.errors import FileError
from gradegate.model.result import Status

TURN = {"userContent": {"parts": [{"text": "hi"}]}, "finalResponse": {"parts": [{"text": "ho"}]}}
OURS = {
    "schema": "gradegate/traces/v1",
    "cases": [
        {"suite": "w", "eval_set": "x.evalset.json", "eval_id": "a", "invocations": [TURN]},
        {"eval_set": "x.evalset.json", "eval_id": "a", "run": 2, "error": "it broke"},
    ],
}


def metric(status: object, score: float | None, **more: object) -> dict[str, Any]:
    """One metric's result as ADK writes it."""
    return {"metricName": "response_match_score", "evalStatus": status, "score": score, **more}


def adk_case(eval_id: str, status: int, *metrics: dict[str, Any]) -> dict[str, Any]:
    """One case's result as ADK writes it."""
    return {
        "evalSetFile": None,
        "evalSetId": "basics",
        "evalId": eval_id,
        "finalEvalStatus": status,
        "overallEvalMetricResults": list(metrics),
        "evalMetricResultPerInvocation": [
            {"actualInvocation": TURN, "expectedInvocation": TURN, "evalMetricResults": [*metrics]}
        ],
        "sessionId": "s",
    }


ADK = {
    "evalSetResultId": "r",
    "evalSetId": "basics",
    "creationTimestamp": 1.0,
    "evalCaseResults": [
        adk_case("a", 1, metric(1, 0.9, threshold=0.8)),
        adk_case(
            "a",
            2,
            metric(
                2,
                0.1,
                criterion={"threshold": 0.7},
                details={"rubricScores": [{"rubricId": "r", "score": 1.0, "rationale": "so"}]},
            ),
        ),
        adk_case("b", 3, metric(3, None)),
    ],
}


def file(folder: Path, value: object) -> Path:
    """A file with this value, or this text."""
    path = folder / "f.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_a_traces_file_is_read(tmp_path: Path) -> None:
    """Runs, answers and errors as recorded."""
    first, second = read_traces(file(tmp_path, OURS)).cases
    assert (first.key, first.run) == (("w", "x.evalset.json", "a"), 1)
    assert first.invocations[0].response_text == "ho"
    assert (second.suite, second.run, second.error) == ("", 2, "it broke")


@pytest.mark.parametrize("wrapped", [False, True])
def test_adk_results_are_read_as_traces(tmp_path: Path, *, wrapped: bool) -> None:
    """Also where an old version wrote JSON into a JSON text; a case again is its next run."""
    path = file(tmp_path, json.dumps(json.dumps(ADK)) if wrapped else ADK)
    traces = read_traces(path).cases
    assert [(t.eval_set, t.eval_id, t.run) for t in traces] == [
        ("basics", "a", 1),
        ("basics", "a", 2),
        ("basics", "b", 1),
    ]
    assert traces[0].invocations[0].response_text == "ho"


def test_adk_results_are_read_as_results(tmp_path: Path) -> None:
    """Statuses, scores and thresholds, overall and turn by turn."""
    one, two, three = read_results(file(tmp_path, ADK)).cases
    assert [c.status for c in (one, two, three)] == ["passed", "failed", "not_evaluated"]
    first = one.criteria["response_match_score"]
    assert (first.score, first.threshold, first.status) == (0.9, 0.8, Status.PASSED)
    assert [(t.score, t.status) for t in first.invocations] == [(0.9, "passed")]
    second = two.criteria["response_match_score"]
    assert (second.threshold, second.rubrics[0].rationale) == (0.7, "so")
    third = three.criteria["response_match_score"]
    assert (third.score, third.status) == (None, Status.NOT_EVALUATED)
    assert third.reason


def test_results_of_ours_are_read(tmp_path: Path) -> None:
    """A results file comes back as it was written."""
    results = read_results(file(tmp_path, ADK))
    again = read_results(file(tmp_path, results.model_dump_json()))
    assert again == results


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ('{"schema": "gradegate/traces/v1",\n "cases": [}', r"f\.json:2:12: a value is missing"),
        ({"schema": "gradegate/traces/v2"}, r"1:12: `schema` must be \"gradegate/traces/v1\""),
        ({"cases": []}, r"1:1: `schema` must be .* not 'nothing'"),
        ([], r"1:1: must be an object with"),
        (
            '{"schema": "gradegate/traces/v1", "cases": [\n{"eval_set": "x"}]}',
            r"2:1: `cases\[0\]\.eval_id` is missing",
        ),
        (
            (
                '{"schema": "gradegate/traces/v1", "cases": [\n{"eval_set": "x", "eval_id": "a"},\n'
                '{"eval_set": "x", "eval_id": "a"}]}'
            ),
            r"3:1: run 1 of `a` in x is here twice",
        ),
        (
            '{"evalSetId": "s", "evalCaseResults": [\n{"evalId": "a", "finalEvalStatus": 9}]}',
            r"2:36: `evalCaseResults\[0\]\.finalEvalStatus` must be 'passed'",
        ),
        ('"{"', r"1:1: a text that should hold JSON: the file ends too early"),
    ],
)
def test_a_broken_file_is_refused_at_its_place(tmp_path: Path, value: object, says: str) -> None:
    """File, line and column; nothing is repaired here."""
    with pytest.raises(FileError, match=says):
        read_traces(file(tmp_path, value))


def test_a_missing_file_is_the_users_mistake(tmp_path: Path) -> None:
    """No traceback for a wrong name."""
    with pytest.raises(FileError, match="cannot be read: No such file"):
        read_traces(tmp_path / "gone.json")
