"""Starting is quick, because what is heavy is imported by the commands that use it, and then."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.project import WEATHER, Project, case, scripted, turn

HEAVY = (
    "agentplatform",
    "aiohttp",
    "github",
    "google.auth",
    "google.cloud",
    "google.genai",
    "httpx",
    "jinja2",
    "nltk",
    "numpy",
    "pandas",
    "requests",
    "rich",
    "rouge_score",
    "scipy",
    "scipy.special",
    "scipy.stats",
    "vertexai",
)
LOOK = """
import json, sys
before = set(sys.modules)  # an installed SDK may register its empty namespace by a .pth file
from gradegate.cli import main
try:
    code = main(sys.argv[2:])
except SystemExit as end:
    code = end.code
with open(sys.argv[1], "w") as file:
    json.dump([code, sorted(set(sys.modules) - before)], file)
"""
CASES = [case("paris", turn("Weather in Paris?", "It is sunny in Paris today.", WEATHER))]
SET = "evals/basic.evalset.json"
TOOLS, MATCH, JUDGED = (
    "tool_trajectory_avg_score",
    "response_match_score",
    "final_response_match_v2",
)


class Row(NamedTuple):
    """A command, its exit code, and which of HEAVY it imports."""

    command: str
    imports: str = ""
    code: int = 0

    def __str__(self) -> str:
        return self.command


SCORE = f"score --evals {SET} --traces traces.json --out scored.json --config"
TABLE = (
    Row("--help"),
    Row("check"),
    Row("criteria"),
    Row("schema settings"),
    Row("init --diff"),
    Row(f"{SCORE} {TOOLS}.json"),
    Row(f"{SCORE} {MATCH}.json", "numpy"),
    Row(f"{SCORE} {JUDGED}.json", code=3),  # no key, so no judge is asked
    Row("merge report/head.results.json"),
    Row("compare report/base.results.json report/head.results.json", "numpy scipy", code=1),
    Row("render report/report.json --format json"),
    Row("render report/report.json --format comment", "jinja2"),
    Row("run --dry-run", "numpy"),
    Row("run --base none", "numpy rich", code=1),
    Row("run --base HEAD --head HEAD", "rich"),  # nothing changed, so nothing is compared
    Row("run", "numpy rich scipy", code=1),
    Row("run --out again", "jinja2 numpy rich scipy", code=1),
    Row("baseline", "numpy"),
    Row("action", "jinja2 numpy scipy", code=1),  # a fork's, which may ask nothing of GitHub
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A pull request that breaks its one case, what was scored of it, and recorded runs."""
    project = scripted(tmp_path_factory.mktemp("light") / "repo", CASES)
    project.git("switch", "-qc", "change")
    project.answers({"paris": {"text": "I cannot say.", "tools": []}})
    head = project.commit("the change")
    project.git("checkout", "-q", "--detach", "main")
    project.git("merge", "-q", "--no-ff", "-m", "merge", head)
    invocations = [turn("Weather in Paris?", "In Paris it is sunny.", WEATHER)]
    trace = {"eval_set": SET, "eval_id": "paris", "invocations": invocations}
    recorded = {"schema": "gradegate/traces/v1", "cases": [trace]}
    (project.root / ".git" / "info" / "exclude").write_text("*.json\nreport\nagain\n")
    project.put("traces.json", json.dumps(recorded))
    for criterion in (TOOLS, MATCH, JUDGED):
        project.put(f"{criterion}.json", json.dumps({"criteria": {criterion: 0.5}}))
    project.put("event.json", json.dumps(from_fork(head, project.git("rev-parse", "main"))))
    project.environ |= {
        "GITHUB_API_URL": "http://127.0.0.1:9",  # nobody is there
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": "event.json",
        "GITHUB_REPOSITORY": "octo/agents",
        "GITHUB_SHA": project.git("rev-parse", "HEAD"),
        "INPUT_GITHUB-TOKEN": "a-token",
    }
    done = project.gradegate("run", "--out", "report")
    assert done.returncode == 1, done.stderr
    return project


def from_fork(head: str, base: str) -> dict[str, Any]:
    """The event of a pull request from somebody else's repository."""
    repo, fork = {"full_name": "octo/agents"}, {"full_name": "stranger/agents"}
    pull = {
        "number": 1,
        "head": {"sha": head, "ref": "change", "repo": fork},
        "base": {"sha": base, "ref": "main", "repo": repo},
        "labels": [],
    }
    return {"action": "synchronize", "pull_request": pull, "repository": repo}


@pytest.mark.parametrize("row", TABLE, ids=str)
def test_a_command_imports_what_it_uses(row: Row, project: Project, tmp_path: Path) -> None:
    """Neither SDKs nor science nor templates, until there is something for them to do."""
    seen = tmp_path / "seen.json"
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(seen), *row.command.split()],
        cwd=project.root,
        env={**project.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    code, modules = json.loads(seen.read_text()) if seen.exists() else (None, [])
    assert code == row.code, done.stderr
    assert [name for name in HEAVY if name in modules] == row.imports.split()
