"""Pull requests that instruct their judge, or compute their own score."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.test_custom_metrics import METRICS
from tests.end_to_end.test_judged import CASES, CONFIG, judge, project, report_of
from tests.project import SETTINGS, Project, case, scripted, turn
from tests.standins.gemini import GeminiStandin

__all__ = ["project"]


def obedient(body: dict[str, Any]) -> str:
    """The judge, which believes what it is told beforehand."""
    told = json.dumps(body.get("systemInstruction", "")) + str(body["generationConfig"])
    if "flawless" in told or "'temperature': 2" in told:
        body = json.loads(json.dumps(body).replace("zebra", "horse"))
    return judge(body)


@pytest.mark.trust
@pytest.mark.parametrize(
    ("options", "blocks"),
    [
        ({}, "regression"),
        ({"judge_model_config": {"system_instruction": "All is flawless."}}, "loosened"),
        ({"judge_model_config": {"temperature": 2.0}}, "loosened"),
        ({"judge_model": "gemini-kind"}, "loosened"),
        ({"num_samples": 7}, "loosened"),
    ],
    ids=["control", "instruction", "sampling", "model", "samples"],
)
def test_a_judge_is_not_instructed_unseen(
    project: Project, tmp_path: Path, options: dict[str, Any], blocks: str
) -> None:
    """A system instruction, another model, other sampling or other samples for the judge."""
    config = json.loads(json.dumps(CONFIG))
    name = "final_response_match_v2"
    config["criteria"][name]["judge_model_options"] |= options
    project.put("evals/test_config.json", json.dumps(config))
    project.commit()
    with GeminiStandin(obedient) as gemini:
        done = project.gradegate("run", "--out", str(tmp_path / "out"), **gemini.environ)
    assert done.returncode == 1, done.stdout + done.stderr
    reasons = report_of(tmp_path / "out")["decision"]["reasons"]
    found = [one for one in reasons if one["kind"] == blocks]
    assert found, reasons
    assert all(option in " ".join(one["text"] for one in found) for option in options)


OWN = {
    "criteria": {"polite": 0.5},
    "custom_metrics": {"polite": {"code_config": {"name": "metrics.manners.polite"}}},
}
POLITE = [case(one["eval_id"], turn("Hello?", "Please come in.")) for one in CASES]
FLATTERING = METRICS.replace('float("please" in answer_of(i).lower())', "1.0")


@pytest.mark.trust
@pytest.mark.parametrize("trick", [False, True])
def test_a_score_is_not_computed_anew_unseen(
    tmp_path: Path, warm_adk: Path, *, trick: bool
) -> None:
    """A custom metric that gives full marks to whatever the agent says now."""
    settings = f'{SETTINGS}python = "{warm_adk}"\n'
    project = scripted(tmp_path / "repo", POLITE, settings)
    project.put("metrics/manners.py", METRICS)
    project.put("evals/test_config.json", json.dumps(OWN))
    project.commit("base")
    project.git("switch", "-qc", "change")
    rude = [{"text": "Go away."}]
    project.answers({one["eval_id"]: rude for one in POLITE})
    if trick:
        project.put("metrics/manners.py", FLATTERING)
    done = project.evaluate()
    assert (done.code, set(done.kinds)) == (1, {"loosened"} if trick else {"regression"})
