"""The whole job on a repository with an ADK agent and no settings at all."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.adk import side, write
from tests.standins.gemini import GeminiStandin
from tests.standins.travel_model import answer

GRADEGATE = Path(sys.executable).parent / "gradegate"
IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main")


@pytest.fixture(scope="module")
def cache() -> Iterator[Path]:
    """Environments for all jobs of this module, open to the agents' users as well."""
    with tempfile.TemporaryDirectory(prefix="gradegate-tests-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def git(repo: Path, *arguments: str) -> None:
    """A git command in the repository."""
    subprocess.run(["git", *IDENTITY, *arguments], cwd=repo, check=True, capture_output=True)


def report(place: Path, cache: Path, agent: str) -> tuple[int, dict[str, Any]]:
    """Exit code and report of a pull request that makes this of `agent.py`."""
    repo = write(side(place), {"travel_desk/requirements.txt": "google-adk==2.7.1\n"})
    git(repo, "init")
    git(repo, "add", ".")
    git(repo, "commit", "-m", "base")
    head = {"travel_desk/requirements.txt": "google-adk==2.13.0\n", "travel_desk/agent.py": agent}
    write(repo, head)
    with GeminiStandin(answer) as model:
        done = subprocess.run(
            [GRADEGATE, "run", "--repo", repo, "--base", "main", "--out", place / "out"],
            env={
                **os.environ,
                **model.environ,
                "XDG_CACHE_HOME": str(cache),
            },
            capture_output=True,
            text=True,
            check=False,
        )
    assert (place / "out" / "report.json").is_file(), done.stderr
    read: dict[str, Any] = json.loads((place / "out" / "report.json").read_text())
    return done.returncode, read


def agent_file() -> str:
    """The example's agent as it is."""
    examples = Path(__file__).parents[2] / "examples"
    return (examples / "travel_desk" / "agent.py").read_text()


def test_a_planted_regression_is_found_across_versions(place: Path, cache: Path) -> None:
    """Base with google-adk 2.7.1, head with 2.13.0 and an instruction that lost its tool."""
    code, found = report(place, cache, agent_file().replace("get_weather about", "anybody about"))
    regressed = {
        each["eval_id"]
        for each in found["cases"]
        if any(c["verdict"] == "regressed" for c in each["criteria"].values())
    }
    weather = {"weather_in_paris", "weather_nowhere", "weather_then_flights"}
    assert (code, found["decision"]["state"]) == (1, "fail")
    assert regressed == weather | {"tenki", "tenki_kara_bin"}
    environments = cache / "gradegate" / "environments"
    versions = {p.name for p in environments.glob("*/venv/lib/*/site-packages/google_adk-*")}
    assert versions == {"google_adk-2.7.1.dist-info", "google_adk-2.13.0.dist-info"}
    if os.geteuid() == 0:  # also where there was no cache yet, as on a runner's first run
        assert not [warning for warning in found["warnings"] if "same user" in warning]


def test_another_version_alone_is_no_regression(place: Path, cache: Path) -> None:
    """The same agent on another google-adk: nothing to object to."""
    code, found = report(place, cache, agent_file() + "# nothing\n")
    assert (code, found["decision"]["state"]) == (0, "pass"), found["decision"]
    assert all(c["scored"] == c["planned"] == [7, 7] for c in found["criteria"])


def test_an_agent_that_crashes_everywhere_is_a_regression(place: Path, cache: Path) -> None:
    """Not inconclusive: the agent has failed every run."""
    code, found = report(place, cache, "import nothing_of_the_kind\n" + agent_file())
    assert (code, found["decision"]["state"]) == (1, "fail")
    kinds = {reason["kind"] for reason in found["decision"]["reasons"]}
    assert "regression" in kinds
    told = json.dumps(found["cases"])
    assert "nothing_of_the_kind" in told
