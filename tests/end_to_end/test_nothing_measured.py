"""Cases that nothing measures: said first, and never a pass where it is all of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project, case, eval_set, scripted, turn


def bare(eval_id: str) -> dict[str, Any]:
    """A case that asks and expects nothing."""
    asked = {"user_content": {"parts": [{"text": f"{eval_id}?"}]}}
    return {"eval_id": eval_id, "conversation": [asked]}


MEASURED = case("paris", turn("Paris?", "Sunny."))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A pull request that breaks every answer of an agent whose only case is measured."""
    made = scripted(tmp_path / "repo", [MEASURED])
    made.git("switch", "-qc", "change")
    return made


def ask(project: Project, *cases: dict[str, Any]) -> None:
    """These cases on both sides, and an agent that helps nobody on head."""
    project.git("switch", "-q", "main")
    project.put("evals/basic.evalset.json", eval_set(*cases))
    project.commit("cases")
    project.git("switch", "-q", "change")
    project.git("merge", "-q", "main")
    project.answers({}, default={"text": "I cannot help."})
    project.commit("broken")


def test_where_nothing_is_measured_the_gate_says_so(project: Project) -> None:
    """Exit 3, with what to add, in place of a green that means nothing."""
    ask(project, bare("paris"), bare("rome"))
    outcome = project.evaluate()
    assert (outcome.code, outcome.state) == (3, "inconclusive"), outcome.stdout
    (reason,) = outcome.report["decision"]["reasons"]
    assert "final_response" in reason["text"]
    assert "eval_config.json" in reason["text"]
    assert outcome.stdout.startswith("⚠️ Inconclusive: nothing was measured")
    assert "2 of 2 cases (100 %) are measured by nothing." in outcome.stdout
    assert "unchanged" not in outcome.stdout


def test_a_share_of_unmeasured_cases_is_in_the_first_lines(project: Project) -> None:
    """A regression is found beside them, and they are called neither passed nor unchanged."""
    ask(project, MEASURED, bare("rome"), bare("oslo"), bare("bonn"))
    outcome = project.evaluate()
    assert (outcome.code, outcome.kinds) == (1, ["regression"])
    comment = (outcome.folder / "comment.md").read_text(encoding="utf-8")
    first = "\n".join(comment.splitlines()[:6])
    assert "3 of 4 cases (75 %) are measured by nothing." in first
    assert "Measured by nothing (3)" in comment
    assert "cases are unchanged" not in comment
    assert outcome.case("rome")["unmeasured"]["code"] == "score.missing"


@pytest.mark.parametrize("cases", [[], [bare("paris")]], ids=["no case", "no reference"])
def test_without_a_base_nothing_measured_meets_no_threshold(
    project: Project, cases: list[dict[str, Any]]
) -> None:
    """Thresholds that nothing was held against are not met."""
    project.put("evals/basic.evalset.json", eval_set(*cases))
    outcome = project.evaluate("--base", "none")
    assert (outcome.code, outcome.state) == (3, "inconclusive"), outcome.stdout
    assert "Thresholds met" not in outcome.stdout


def test_a_reference_taken_out_is_loosened(project: Project) -> None:
    """Else a pull request could blind its own gate."""
    project.put("evals/basic.evalset.json", eval_set(bare("paris")))
    outcome = project.evaluate()
    assert outcome.code == 1
    told = {(one["kind"], one["criterion"]) for one in outcome.report["decision"]["reasons"]}
    assert told == {
        ("loosened", "response_match_score"),
        ("loosened", "tool_trajectory_avg_score"),
    }


def test_a_config_without_criteria_measures_nothing(project: Project) -> None:
    """It is listed as loosened, criterion by criterion."""
    project.put("evals/test_config.json", json.dumps({"criteria": {}}))
    outcome = project.evaluate()
    assert (outcome.code, outcome.kinds) == (1, ["loosened", "loosened"])
    assert "1 of 1 cases (100 %) is measured by nothing." in outcome.stdout


def test_scores_that_are_missing_have_their_reasons_told(project: Project) -> None:
    """By `score`, each once, with what to set: a count alone helps nobody."""
    traces = {
        "schema": "gradegate/traces/v1",
        "cases": [
            {"eval_set": "evals/basic.evalset.json", "eval_id": name, "invocations": [asked]}
            for name, asked in (
                ("paris", turn("Paris?", "Sunny.")),
                ("rome", turn("Rome?", "Rain.")),
            )
        ],
    }
    project.put("evals/basic.evalset.json", eval_set(MEASURED, case("rome", turn("Rome?", "x"))))
    project.put("traces.json", json.dumps(traces))
    project.put("safe.json", '{"criteria": {"safety_v1": 0.8}}')
    arguments = ["--evals", "evals", "--traces", "traces.json", "--config", "safe.json"]
    done = project.gradegate("score", *arguments, "--out", "results.json")
    assert done.returncode == 3
    told = done.stderr.splitlines()
    assert told[-2] == "2 not_evaluated"
    assert told[-1].startswith("safety_v1 has no score in 2 runs: ")
    assert "GOOGLE_CLOUD_PROJECT" in told[-1]
