"""Pull requests to try the image on: a scripted agent, a judge's criterion, one case broken."""

import json
import os
from pathlib import Path
from typing import Any

from tests.container.conftest import WRONG
from tests.container.runner import STRANGER
from tests.project import SETTINGS, WEATHER, Project, case, expected, scripted, turn
from tests.standins.github import GitHubStandIn

CASES = [
    case("paris", turn("Weather in Paris?", "It is sunny in Paris today.", WEATHER)),
    case("rome", turn("And in Rome?", "It rains in Rome."), turn("Thanks", "You are welcome")),
    case("tokyo", turn("東京の天気を教えて", "東京は晴れです。")),
]
BROKEN = [{"text": WRONG, "tools": [{"name": "get_weather", "args": {"city": "Pari"}}]}]
CRITERIA = {
    "tool_trajectory_avg_score": 1.0,
    "response_match_score": 0.8,
    "final_response_match_v2": {"threshold": 0.8, "judge_model_options": {"num_samples": 3}},
}


def desk(root: Path, settings: str = SETTINGS) -> Project:
    """A repository whose agent answers everything as expected."""
    project = scripted(root, CASES, settings)
    project.put("evals/test_config.json", json.dumps({"criteria": CRITERIA}))
    project.commit("criteria")
    return project


def break_paris(project: Project) -> None:
    """Plant a regression."""
    right = {one["eval_id"]: expected(one) for one in CASES}
    project.answers(right | {"paris": BROKEN})


class Change:
    """A pull request of whatever lies in the worktree, checked out at its merge commit."""

    def __init__(self, project: Project, github: GitHubStandIn) -> None:
        self.base = project.git("rev-parse", "main")
        project.git("switch", "-qc", "change")
        self.head = project.commit("the change")
        project.git("checkout", "-q", "--detach", "main")
        project.git("merge", "-q", "--no-ff", "-m", "merge", self.head)
        self.merge = project.git("rev-parse", "HEAD")
        github.add_pull_request(1, head_sha=self.head)
        github.add_commit(self.base)

    @property
    def payload(self) -> dict[str, Any]:
        """What GitHub tells about it."""
        repo = {"full_name": "octo/agents", "default_branch": "main"}
        pull = {
            "number": 1,
            "head": {"sha": self.head, "ref": "change", "repo": repo},
            "base": {"sha": self.base, "ref": "main", "repo": repo},
            "labels": [],
        }
        return {"action": "synchronize", "number": 1, "pull_request": pull, "repository": repo}


def hand_over(folder: Path, uid: int = STRANGER) -> None:
    """Make everything in a folder somebody else's, as a runner's workspace is."""
    for top, folders, files in os.walk(folder):
        for name in (".", *folders, *files):
            os.chown(Path(top, name), uid, uid, follow_symlinks=False)
