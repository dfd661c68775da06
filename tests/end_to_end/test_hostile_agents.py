"""What a running agent tries against what measures it, and against the end of the job."""

import json
from pathlib import Path

import pytest

from tests.end_to_end.test_custom_metrics import CASES, METRICS, evaluate, with_python
from tests.project import AGENT, Project, scripted

pytestmark = pytest.mark.trust

CONFIG = {
    "criteria": {"polite": 1.0},
    "custom_metrics": {"polite": {"code_config": {"name": "metrics.manners.polite"}}},
}
REWRITES = """
import glob, os
for found in glob.glob("../*/metrics/manners.py") + ["metrics/manners.py"]:
    try:
        text = open(found).read()
        open(found, "w").write(text.replace('float("please" in', '1.0 or float("please" in'))
    except OSError:
        pass
"""
RUDE = {one["eval_id"]: [{"text": "Sit down."}] for one in CASES}


def measured(place: Path, python: Path) -> Project:
    """A repository whose agent is polite by a metric of its own; a branch to change it on."""
    project = scripted(place / "repo", CASES, with_python(python))
    project.put("metrics/__init__.py", "")
    project.put("metrics/manners.py", METRICS)
    project.put("evals/test_config.json", json.dumps(CONFIG))
    project.commit("base")
    project.git("switch", "-qc", "change")
    return project


@pytest.mark.parametrize("agent", [AGENT, REWRITES + AGENT], ids=["control", "attack"])
def test_an_agent_cannot_rewrite_the_metric_that_scores_it(
    place: Path, cache: Path, warm_adk: Path, agent: str
) -> None:
    """An agent that got worse rewrites the code of the custom metric while it is asked."""
    project = measured(place, warm_adk)
    project.answers(RUDE)
    project.put("agent.py", agent)
    outcome = evaluate(project, cache, "--base", "main")
    assert (outcome.code, set(outcome.kinds)) == (1, {"regression"}), outcome.stderr
    assert {c["criteria"]["polite"]["head"] for c in outcome.report["cases"]} == {0.0}


DIGS = """
import os
here = os.getcwd()
for top in (".", os.environ["HOME"]):
    os.chdir(top)
    for _ in range(1500):
        try:
            os.mkdir("d")
        except OSError:
            break
        os.chdir("d")
    os.chdir(here)
"""


def test_an_agent_cannot_break_the_end_of_the_job(place: Path) -> None:
    """An agent fills its folders with folders in folders, which whoever removes them must leave."""
    project = scripted(place / "repo", CASES)
    project.git("switch", "-qc", "change")
    project.put("agent.py", DIGS + AGENT)
    temporary = place / "tmp"
    temporary.mkdir()
    temporary.chmod(0o711)
    done = project.evaluate(TMPDIR=str(temporary))
    assert done.code == 0, done.stderr
    assert list(temporary.iterdir()) == []
    project.answers(RUDE)
    control = project.evaluate(TMPDIR=str(temporary))
    assert (control.code, set(control.kinds)) == (1, {"regression"})


def test_a_repository_hidden_in_the_tree_starts_no_program(place: Path) -> None:
    """Head has a bare repository as a folder, whose settings name programs to be run by git."""
    project = Project.create(place / "repo")
    project.put("agent.txt", "x")
    project.commit()
    project.git("switch", "-qc", "change")
    inner = Project.create(project.root / "evil" / "work")
    inner.put("agent.py", "root_agent = None")
    inner.commit()
    (inner.root / ".git").rename(project.root / "evil" / "bare")
    proof = place / "proof"
    settings = "repositoryformatversion = 0", "bare = false", "worktree = ../work"
    runs = f'fsmonitor = "touch {proof};"', f'sshCommand = "touch {proof};"'
    config = "\n".join(("[core]", *settings, *runs, ""))
    (project.root / "evil" / "bare" / "config").write_text(config)
    project.commit()
    evals = project.root / "evil" / "one.evalset.json"
    evals.write_text(json.dumps({"eval_set_id": "x", "eval_cases": CASES[:1]}))
    out = str(place / "traces.json")
    agent = str(project.root / "evil" / "bare")
    done = project.gradegate("record", "--agent", agent, "--evals", str(evals), "--out", out)
    assert "internal error" not in done.stderr
    assert not proof.exists()
    for how in (["--working-directory", "evil/bare"], ["--repo", agent]):
        done = project.gradegate("run", *how, "--base", "none")
        assert "internal error" not in done.stderr
        assert not proof.exists(), how
    project.git("-C", agent, "status")
    assert proof.exists(), "the control: git itself does start one"
