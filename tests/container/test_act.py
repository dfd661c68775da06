"""Whole pull_request workflows through act: checkout, action, a step that reads the outputs."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.container.change import CASES, Change, break_paris, desk
from tests.container.engine import ROOT, Engine, Figures
from tests.container.workflow import ACTION, CHECKOUT, Act, acting
from tests.project import GRADEGATE, Project, case, eval_set, scripted, turn
from tests.standins.gemini.server import KEY, GeminiStandin
from tests.standins.github import GitHubStandIn

REF = "v0"
WORKFLOW = f"""\
on: pull_request
permissions: {{}}
jobs:
  gradegate:
    runs-on: ubuntu-latest
    steps:
      - uses: {CHECKOUT}
      - id: gradegate
        uses: {ACTION}@{REF}
        env:
          GOOGLE_API_KEY: {KEY}
      - if: always()
        env:
          DECISION: ${{{{ steps.gradegate.outputs.decision }}}}
          REGRESSIONS: ${{{{ steps.gradegate.outputs.regressions }}}}
          COMMENT: ${{{{ steps.gradegate.outputs.comment-url }}}}
          REPORT: ${{{{ steps.gradegate.outputs.report }}}}
        run: |
          echo "NEXT decision=$DECISION regressions=$REGRESSIONS comment=$COMMENT"
          test -s "$REPORT" && echo "NEXT the report is there"
"""
# Answers from a table, with what ADK asks of an agent and no model.
ADK_AGENT = """\
from google.adk.agents import BaseAgent
from google.adk.events import Event
from google.genai import types

ANSWERS = {"How far is the Moon?": "About 384,400 km.", "And the Sun?": "About 150 million km."}


class Teller(BaseAgent):
    async def _run_async_impl(self, ctx):
        said = ANSWERS[ctx.user_content.parts[0].text]
        content = types.Content(role="model", parts=[types.Part(text=said)])
        yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content)


root_agent = Teller(name="teller")
"""
SKY = [
    case("moon", turn("How far is the Moon?", "About 384,400 km.")),
    case("sun", turn("And the Sun?", "About 150 million km.")),
]


@pytest.fixture
def act(
    engine: Engine, image: str, github: GitHubStandIn, gemini: GeminiStandin, tmp_path: Path
) -> Iterator[Act]:
    """act, with a judge."""
    with acting(engine, image, github, tmp_path / "act") as made:
        yield replace(made, environ={"GOOGLE_GEMINI_BASE_URL": gemini.url})


def test_a_planted_regression_blocks_the_workflow(
    tmp_path: Path, act: Act, github: GitHubStandIn, figures: Figures
) -> None:
    """The job fails; comment, check and outputs are there, and the next step reads them."""
    project = desk(tmp_path / "repo")
    project.put(".github/workflows/pr.yml", WORKFLOW)
    project.commit("workflow")
    break_paris(project)
    change = Change(project, github)
    with figures.timed("act: checkout, planted regression, next step"):
        code, log = act.pull_request(project.root, change, REF)
    assert code == 1, log
    assert "exit with `FAILURE`: 1" in log
    (comment,) = github.comments(1)
    assert "paris" in comment.body
    (check,) = github.check_runs(change.head)
    assert (check.status, check.conclusion) == ("completed", "failure")
    address = f"#issuecomment-{comment.id}"
    assert "NEXT decision=fail regressions=1 comment=" in log
    assert address in log
    assert "NEXT the report is there" in log


def test_a_change_of_nothing_lets_the_workflow_pass(
    tmp_path: Path, act: Act, github: GitHubStandIn, figures: Figures
) -> None:
    """Exit 0, and the check says success."""
    project = desk(tmp_path / "repo")
    project.put(".github/workflows/pr.yml", WORKFLOW)
    project.commit("workflow")
    change = Change(project, github)
    with figures.timed("act: checkout, nothing changed, next step"):
        code, log = act.pull_request(project.root, change, REF)
    assert code == 0, log
    assert "NEXT decision=pass regressions=0" in log
    (check,) = github.check_runs(change.head)
    assert (check.status, check.conclusion) == ("completed", "success")


def telling(tmp_path: Path) -> tuple[Project, str]:
    """A repository with an ADK agent, after init; the commit that it pinned the action to."""
    project = Project.create(tmp_path / "repo")
    project.put("teller/__init__.py", "from . import agent\n")
    project.put("teller/agent.py", ADK_AGENT)
    project.put("teller/evals/sky.evalset.json", eval_set(*SKY, name="sky"))
    project.commit("an agent")
    sha = _released(tmp_path / "github" / ACTION)
    server = {"GITHUB_SERVER_URL": f"file://{tmp_path / 'github'}"}
    subprocess.run(
        [GRADEGATE, "init", "--repo", project.root], env={**os.environ, **server}, check=True
    )
    project.commit("gradegate init")
    return project, sha


def test_what_init_writes_runs_as_it_is(
    tmp_path: Path, act: Act, github: GitHubStandIn, figures: Figures
) -> None:
    """A bare repository with an ADK agent and eval sets: init, commit, pull request, report."""
    project, sha = telling(tmp_path)
    right, wrong = "About 384,400 km.", "Too far to walk."
    project.put("teller/agent.py", ADK_AGENT.replace(f'"{right}"', f'"{wrong}"'))
    change = Change(project, github)
    with figures.timed("act: what init wrote, an ADK agent's environment for each side included"):
        code, log = act.pull_request(project.root, change, sha)
    assert code == 1, log
    assert "exit with `FAILURE`: 1" in log, log
    (comment,) = github.comments(1)
    assert "moon" in comment.body
    (check,) = github.check_runs(change.head)
    assert (check.status, check.conclusion) == ("completed", "failure")
    assert "saved: gradegate.sqlite" in log
    assert "uploaded: report.json" in log
    assert "uploaded: report.html" in log


def test_the_shards_that_init_writes_come_together(
    tmp_path: Path, act: Act, github: GitHubStandIn, figures: Figures
) -> None:
    """A matrix of jobs, artifacts that carry what they ran, and one job that decides."""
    project = scripted(tmp_path / "repo", CASES)
    sha = _released(tmp_path / "github" / ACTION)
    server = {"GITHUB_SERVER_URL": f"file://{tmp_path / 'github'}"}
    words = ["init", "--shards", "2", "--repo", str(project.root)]
    subprocess.run([GRADEGATE, *words], env={**os.environ, **server}, check=True)
    project.commit("gradegate init")
    break_paris(project)
    change = Change(project, github)
    with figures.timed("act: two shards and the job that merges them"):
        code, log = act.pull_request(project.root, change, sha)
    assert code == 1, log
    for number in (1, 2):
        assert f"shard {number}/2 done" in log
        assert (act.artifacts / f"gradegate-shard-{number}/shard-{number}-of-2.json").is_file()
        assert f"gradegate-shard-{number}/shard-{number}-of-2.json" in log
    (comment,) = github.comments(1)
    assert "paris" in comment.body
    (check,) = github.check_runs(change.head)
    assert (check.status, check.conclusion) == ("completed", "failure")
    assert "uploaded: report.json" in log


@pytest.mark.parametrize("owner", ["stranger", "octo"])
def test_a_forks_report_is_posted_by_what_init_writes(
    tmp_path: Path, act: Act, github: GitHubStandIn, owner: str
) -> None:
    """The second workflow posts it; for a branch of our own the first one has done so."""
    project, sha = telling(tmp_path)
    head = project.git("rev-parse", "HEAD")
    github.add_pull_request(1, head_sha=head, owner=owner)
    reports = act.folder / "actions" / "download-artifact"
    reports.mkdir(parents=True)
    shutil.copy(ROOT / "tests/golden/fail/report.json", reports / "report.json")
    ended = {
        "id": 77,
        "event": "pull_request",
        "conclusion": "failure",
        "head_sha": head,
        "head_branch": "change",
        "head_repository": {"full_name": f"{owner}/agents", "owner": {"login": owner}},
    }
    payload = {"action": "completed", "workflow_run": ended, "workflow": {"name": "gradegate"}}
    code, log = act.run(project.root, "workflow_run", payload, sha)
    assert code == 0, log
    posted = owner == "stranger"
    assert [comment.pull_request for comment in github.comments(1)] == [1] * posted, log
    assert [check.conclusion for check in github.check_runs(head)] == ["failure"] * posted


def _released(folder: Path) -> str:
    """A repository of the action with the tag of this version; the tag's commit."""
    from gradegate import __version__

    project = Project.create(folder)
    project.put("action.yml", json.dumps({"cases": len(CASES)}))
    sha = project.commit("release")
    project.git("tag", "-a", "-m", "release", f"v{__version__}")
    return sha
