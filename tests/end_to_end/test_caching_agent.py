"""An agent that keeps its answers: what it said once by chance is not said for good."""

from pathlib import Path

import pytest

from tests.project import SETTINGS, Outcome, Project, case, eval_set, turn

ASKED = 20
UNSTEADY = [f"unsteady-{number}" for number in range(10)]
STEADY = [f"steady-{number}" for number in range(10)]
RIGHT = "All is well."
# What it says of a case is drawn once in a process, and kept there and in its home. The draw
# depends on the side and on the run that asked for it, so that the test comes out alike each time.
AGENT = """
import json, pathlib, random, sys
side = open("side.txt").read()
kept, cases = {}, {}
def answer(case, run):
    file = pathlib.Path.home() / case
    if not file.exists():
        fails = "broken" in side and case == "steady-0"
        luck = case.startswith("steady") or random.Random(f"{side} {case} {run}").random() < 0.5
        file.write_text("No idea." if fails or not luck else "All is well.")
    return kept.setdefault(case, file.read_text())
for line in sys.stdin:
    message = json.loads(line)
    session, said = message["session"], {"ok": True}
    if message["op"] == "open":
        cases[session] = message["eval_id"], message["run"]
    elif message["op"] == "turn":
        text = answer(*cases[session])
        said = {"invocation": {"final_response": {"parts": [{"text": text}]}}}
    print(json.dumps({"session": session, **said}), flush=True)
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Twenty cases, of which ten pass half of the time."""
    project = Project.create(tmp_path / "repo")
    cases = [case(name, turn(name, RIGHT)) for name in (*UNSTEADY, *STEADY)]
    project.put("agent.py", AGENT)
    project.put("gradegate.toml", SETTINGS)
    project.put("evals/basic.evalset.json", eval_set(*cases))
    project.put("evals/test_config.json", '{"criteria": {"response_match_score": 0.8}}')
    project.put("side.txt", "base")
    project.commit("base")
    return project


def evaluated(project: Project, side: str) -> Outcome:
    """A pull request that says so, judged as if there had been none before it."""
    project.git("switch", "-qC", "change", "main")
    project.put("side.txt", side)
    project.commit(side)
    store = project.root.parent / f"{side}.sqlite"
    return project.evaluate("--base", "main", "--store", str(store))


@pytest.mark.slow
def test_pull_requests_that_change_nothing_pass(project: Project) -> None:
    """Each fresh run draws anew, as behind no cache at all."""
    outcomes = [evaluated(project, f"pull-{number}") for number in range(ASKED)]
    blocked = [done for done in outcomes if done.code != 0]
    assert len(blocked) <= 1, [done.stdout for done in blocked]


def test_a_case_that_broke_is_found_behind_the_same_cache(project: Project) -> None:
    """And the report says that all its fresh runs were alike."""
    done = evaluated(project, "broken")
    assert done.code == 1
    (reason,) = done.report["decision"]["reasons"]
    assert (reason["kind"], reason["eval_id"]) == ("regression", "steady-0")
    runs = done.case("steady-0")["evidence"]["head_runs"]
    assert {run["answer"] for run in runs} == {1}
    fresh = [run for run in runs if run["role"] in ("screen", "confirm")]
    said = f"all {len(fresh)} fresh runs here answered the same to the letter"
    assert said in (done.folder / "comment.md").read_text(encoding="utf-8")
