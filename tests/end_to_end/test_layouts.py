"""Projects laid out as real ones are: found, run, and a broken agent told by name.

`python -m benchmarks.compatibility` does the same with every layout and google-adk.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.compatibility.layouts import RUBRIC, Layout, layouts
from benchmarks.compatibility.model import UNABLE, answer
from tests.project import Outcome, Project
from tests.standins.gemini import GeminiStandin

SET = "tests/eval/evalsets/basic.evalset.json"
CONFIG = "tests/eval/eval_config.json"
(STARTER,) = (one for one in layouts() if one.name == "Agent Starter Pack")


@pytest.fixture
def project(place: Path) -> Project:
    """An empty one, where agents get at it."""
    return Project.create(place / "repo")


def evaluated(project: Project, python: Path, files: Mapping[str, str]) -> Outcome:
    """A pull request on these files, after which the agent can help nobody."""
    for name, text in files.items():
        project.put(name, text)
    project.commit("base")
    project.git("switch", "-qc", "change")
    for name, text in STARTER.changed.items():
        project.put(name, text)
    project.commit("change")
    with GeminiStandin(answer) as model:
        return project.evaluate("--agent-python", str(python), **model.environ)


@pytest.mark.slow
def test_an_agent_that_cannot_help_fails_its_rubrics(project: Project, warm_adk: Path) -> None:
    """The config above the sets is found, though nobody names it; the rubric is told."""
    outcome = evaluated(project, warm_adk, STARTER.files)
    assert (outcome.code, set(outcome.kinds)) == (1, {"regression"}), outcome.stdout
    told = " ".join(outcome.stdout.split())
    assert f'rubric failed: "{RUBRIC}" (passed on base). Judge: It does not tell' in told
    assert f"+ {UNABLE}" in told


@pytest.mark.slow
def test_without_config_and_reference_nothing_is_measured(project: Project, warm_adk: Path) -> None:
    """The same pull request: neither green nor red, with what to add."""
    bare = json.loads(STARTER.files[SET])
    for case in bare["eval_cases"]:
        case["conversation"] = [
            {"user_content": one["user_content"]} for one in case["conversation"]
        ]
    files = {name: text for name, text in STARTER.files.items() if name != CONFIG}
    outcome = evaluated(project, warm_adk, files | {SET: json.dumps(bare)})
    assert (outcome.code, outcome.state) == (3, "inconclusive"), outcome.stdout
    assert "2 of 2 cases (100 %) are measured by nothing." in outcome.stdout


@pytest.mark.parametrize("layout", layouts(), ids=lambda one: one.name)
def test_every_layout_is_found_and_fine(project: Project, layout: Layout) -> None:
    """`check` has nothing against it, and finds the suites and a config for all but one."""
    for name, text in layout.files.items():
        project.put(name, text)
    project.commit("base")
    checked = project.gradegate("check")
    assert (checked.returncode, checked.stdout) == (0, "")
    planned: Any = json.loads(
        project.gradegate("run", "--base", "none", "--dry-run", "--json").stdout
    )
    assert {suite["name"] for suite in planned["suites"]} == layout.suites
    configs = {one["config"] for suite in planned["suites"] for one in suite["eval_sets"]}
    assert (None in configs) == (layout.name == "requirements.txt alone")
