"""The whole job with judges, against a stand-in that behaves like the Gemini API."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project, case, scripted, turn
from tests.standins.gemini import Fault, GeminiStandin, always, prompt_of
from tests.standins.gemini.faults import REFUSAL

SETTINGS = '[[suite]]\nname = "desk"\ntraces = "traces.json"\nevals = ["evals"]\n'
CONFIG: dict[str, dict[str, dict[str, Any]]] = {
    "criteria": {
        "final_response_match_v2": {
            "threshold": 1.0,
            "judge_model_options": {"judge_model": "gemini-2.5-flash", "num_samples": 5},
        },
        "rubric_based_final_response_quality_v1": {
            "threshold": 1.0,
            "rubrics": [{"rubric_id": "kind", "rubric_content": {"text_property": "It is kind."}}],
        },
    }
}
CASES = [case(f"case-{n}", turn(f"Question {n}?", f"Answer {n}.")) for n in range(6)]


def judge(body: dict[str, Any]) -> str:
    """Finds every answer valid and kind, unless it says that it is not."""
    bad = "zebra" in prompt_of(body)
    properties = body["generationConfig"]["responseJsonSchema"]["properties"]
    if "rubrics" in properties:
        verdict = {
            "rubric_id": "kind",
            "reasoning": "it is plain",
            "verdict": "no" if bad else "yes",
        }
        return json.dumps({"rubrics": [verdict]})
    return json.dumps({"reasoning": "it differs", "verdict": "invalid" if bad else "valid"})


def recorded(answers: dict[str, str]) -> str:
    """A recording in which each case is answered as expected, or as given."""
    runs = []
    for one in CASES:
        said = dict(one["conversation"][0])
        if one["eval_id"] in answers:
            said["final_response"] = {"parts": [{"text": answers[one["eval_id"]]}]}
        runs.append({"eval_set": "evals/basic.evalset.json", "eval_id": one["eval_id"]})
        runs[-1] |= {"run": 1, "invocations": [said]}
    return json.dumps({"schema": "gradegate/traces/v1", "cases": runs})


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A pull request that gets one of six answers wrong."""
    made = scripted(tmp_path / "repo", CASES, SETTINGS)
    made.put("evals/test_config.json", json.dumps(CONFIG))
    made.put("traces.json", recorded({}))
    made.commit("base")
    made.git("switch", "-qc", "change")
    made.put("traces.json", recorded({"case-3": "A zebra, surely."}))
    made.commit("change")
    return made


def report_of(folder: Path) -> Any:
    """The report that was written."""
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))


def test_a_wrong_answer_blocks_with_the_judges_reason(project: Project, tmp_path: Path) -> None:
    """Equal answers on both sides are asked once, and the report says why it failed."""
    with GeminiStandin(judge) as gemini:
        done = project.gradegate("run", "--out", str(tmp_path / "out"), **gemini.environ)
        assert done.returncode == 1, done.stdout + done.stderr
        report = report_of(tmp_path / "out")
        assert report["usage"]["judge_calls"] == len(gemini.requests)
        # six answers on base, one other on head; three of five samples decide each
        assert len(gemini.requests) == 7 * 3 * 2
        (blocked,) = {reason["eval_id"] for reason in report["decision"]["reasons"]}
        assert blocked == "case-3"
        assert "it differs" in (tmp_path / "out" / "comment.md").read_text(encoding="utf-8")
        again = project.gradegate("run", **gemini.environ)
        assert again.returncode == 1
        assert len(gemini.requests) == 7 * 3 * 2


def test_every_call_refused_is_inconclusive_never_passed(project: Project, tmp_path: Path) -> None:
    """Exit 3, every judged criterion not evaluated, with what the service said."""
    with GeminiStandin(judge, faults=always(Fault.REFUSED)) as gemini:
        done = project.gradegate("run", "--out", str(tmp_path / "out"), **gemini.environ)
    assert done.returncode == 3, done.stdout + done.stderr
    report = report_of(tmp_path / "out")
    assert report["decision"]["state"] == "inconclusive"
    results = json.loads((tmp_path / "out" / "head.results.json").read_text(encoding="utf-8"))
    judged = [
        one
        for case in results["cases"]
        for name, one in case["criteria"].items()
        if name in CONFIG["criteria"]
    ]
    assert {one["status"] for one in judged} == {"not_evaluated"}
    assert all(REFUSAL in one["reason"] for one in judged)
    assert REFUSAL in done.stdout


def test_no_key_says_which_variable_to_set(project: Project) -> None:
    """The first thing a new user meets is a sentence that helps."""
    done = project.gradegate("run")
    assert done.returncode == 3
    assert "GOOGLE_API_KEY" in done.stdout


def test_a_dry_run_tells_the_calls_of_a_cold_run(project: Project) -> None:
    """The run falls between the least and the most, and nothing was asked to say so."""
    with GeminiStandin(judge) as gemini:
        told = project.gradegate("run", "--dry-run", **gemini.environ)
        assert told.returncode == 0, told.stderr
        assert gemini.requests == []
        found = re.search(r"judge calls: ([\d,]+) to ([\d,]+)", told.stdout)
        assert found, told.stdout
        least, most = (int(number.replace(",", "")) for number in found.groups())
        project.gradegate("run", **gemini.environ)
        assert least <= len(gemini.requests) <= most
        assert (least, most) == (7 * 3 * 2, 7 * 5 * 2)
        warm = project.gradegate("run", "--dry-run", **gemini.environ)
        assert "judge calls: 0" in warm.stdout


def test_a_lid_on_the_calls_is_kept_and_told(project: Project) -> None:
    """Past `max_calls` nothing more is asked, and what is missing makes it inconclusive."""
    project.git("checkout", "-q", "main")
    project.put("gradegate.toml", SETTINGS + "[judge]\nmax_calls = 5\n")
    project.commit("lid")
    project.git("checkout", "-q", "change")
    project.git("merge", "-q", "-m", "merge", "main")
    with GeminiStandin(judge) as gemini:
        done = project.gradegate("run", **gemini.environ)
        assert done.returncode == 3, done.stdout + done.stderr
        assert len(gemini.requests) <= 5
    assert "max_calls" in done.stdout


def test_a_model_that_is_no_more_is_named_with_what_to_write(project: Project) -> None:
    """As the judge model of many an old config is."""
    gone = {"judge_model_options": {"judge_model": "gemini-1.5-flash"}}
    old = {name: {**entry, **gone} for name, entry in CONFIG["criteria"].items()}
    project.put("evals/test_config.json", json.dumps({"criteria": old}))
    with GeminiStandin(judge) as gemini:
        done = project.gradegate("run", "--base", "none", **gemini.environ)
    assert done.returncode == 3
    assert "gemini-1.5-flash" in done.stdout
    assert "judge_model" in done.stdout
