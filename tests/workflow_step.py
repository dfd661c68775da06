"""A step of a workflow, run as GitHub runs it: inputs, event file, a real repository."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from tests.project import WEATHER, Project, case, expected, scripted, turn
from tests.standins.github import JOB_TOKEN, GitHubStandIn


class Runner:
    """A GitHub runner's step: a checkout, an event, and the files that a step writes to."""

    def __init__(self, project: Project, github: GitHubStandIn, folder: Path) -> None:
        self.project = project
        self.github = github
        self.folder = folder
        self.ref = "refs/pull/1/merge"
        self.outputs_file = folder / "output"
        self.summary_file = folder / "summary"

    def run(
        self,
        event: str,
        payload: dict[str, Any],
        inputs: dict[str, str] | None = None,
        words: Sequence[str] = (),
        run_id: str = "77",
    ) -> CompletedProcess[str]:
        """Run the entry point once, with fresh output files."""
        self.folder.mkdir(exist_ok=True)
        for file in (self.outputs_file, self.summary_file):
            file.write_text("")
        event_file = self.folder / "event.json"
        event_file.write_text(json.dumps(payload))
        given = {"github-token": JOB_TOKEN, "check-name": "gradegate", **(inputs or {})}
        environ = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self.github.url,
            "GITHUB_SERVER_URL": self.github.url,
            "GITHUB_REPOSITORY": "octo/agents",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(event_file),
            "GITHUB_WORKSPACE": str(self.project.root),
            "GITHUB_RUN_ID": run_id,
            "GITHUB_SHA": self.project.git("rev-parse", "HEAD"),
            "GITHUB_REF": self.ref,
            "GITHUB_OUTPUT": str(self.outputs_file),
            "GITHUB_STEP_SUMMARY": str(self.summary_file),
            **{f"INPUT_{name.upper()}": value for name, value in given.items()},
        }
        return self.project.gradegate("action", *words, **environ)

    @property
    def outputs(self) -> dict[str, str]:
        """The step's outputs as the runner reads them."""
        text = self.outputs_file.read_text(encoding="utf-8")
        return dict(re.findall(r"(?ms)^([\w-]+)<<(?:\S+)\n(.*?)\ngradegate_\w+$", text))

    def written(self, output: str) -> Path:
        """The file that an output names, as a later step finds it."""
        path = Path(self.outputs[output])
        assert not path.is_absolute()
        return self.project.root / path

    @property
    def summary(self) -> str:
        """The step's summary."""
        return self.summary_file.read_text(encoding="utf-8")


def pull_request(head: str, base: str, **more: Any) -> dict[str, Any]:
    """The payload of a pull request from a branch of the same repository."""
    repo = {"full_name": "octo/agents"}
    pull = {
        "number": 1,
        "head": {"sha": head, "ref": "change", "repo": repo},
        "base": {"sha": base, "ref": "main", "repo": repo},
        "labels": [],
        **more,
    }
    return {"action": "synchronize", "pull_request": pull, "repository": repo}


CASES = [
    case("paris", turn("Weather in Paris?", "It is sunny in Paris today.", WEATHER)),
    case(
        "rome", turn("And in Rome?", "It rains in Rome today."), turn("Thanks", "You are welcome")
    ),
    case("tokyo", turn("東京の天気を教えて", "東京は晴れです。")),
]
BROKEN = [{"text": "I cannot say.", "tools": [{"name": "get_weather", "args": {"city": "Pari"}}]}]


class Change:
    """A pull request, checked out as actions/checkout does: detached at its merge commit."""

    def __init__(self, project: Project, github: GitHubStandIn, folder: Path) -> None:
        self.project = project
        self.base = project.git("rev-parse", "main")
        self.head = project.commit("the change")
        project.git("checkout", "-q", "--detach", "main")
        project.git("merge", "-q", "--no-ff", "-m", "merge", self.head)
        github.add_pull_request(1, head_sha=self.head)
        github.add_commit(self.base)
        github.add_commit(project.git("rev-parse", "HEAD"), self.base, self.head)
        self.runner = Runner(project, github, folder)
        self.runs = 0

    def run(self, **inputs: str) -> CompletedProcess[str]:
        """Let the workflow run on it."""
        named = {name.replace("_", "-"): value for name, value in inputs.items()}
        return self.runner.run("pull_request", self.payload(), named)

    def payload(self) -> dict[str, Any]:
        """What GitHub tells the workflow."""
        return pull_request(self.head, self.base)


def breaking(tmp_path: Path, github: GitHubStandIn) -> Change:
    """A pull request that breaks one of three cases."""
    project = scripted(tmp_path / "repo", CASES)
    project.git("switch", "-qc", "change")
    project.answers({one["eval_id"]: expected(one) for one in CASES} | {"paris": BROKEN})
    return Change(project, github, tmp_path / "runner")


def from_fork(change: Change) -> dict[str, Any]:
    """The payload of the same pull request, had a stranger made it."""
    fork = pull_request(change.head, change.base)
    fork["pull_request"]["head"]["repo"] = {"full_name": "stranger/agents"}
    return fork


def finished(change: Change) -> dict[str, Any]:
    """The payload of the end of its workflow."""
    run = {
        "event": "pull_request",
        "head_sha": change.head,
        "head_branch": "change",
        "head_repository": {"owner": {"login": "octo"}},
    }
    return {"workflow_run": run}
