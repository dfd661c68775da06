"""The whole job on a repository with an ADK agent and no settings at all."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.integration.adk import EXAMPLES, side, write
from tests.integration.small_index import small_index
from tests.standins.gemini import GeminiStandin
from tests.standins.travel_model import answer
from tests.starter import STARTER

IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main")
NEWEST = "2.13.0"
TELL = "\nimport google.adk\nroot_agent.instruction += f' ADK {google.adk.__version__}'\n"
AGENT = (EXAMPLES / "travel_desk" / "agent.py").read_text() + TELL
BROKEN = "import nothing_of_the_kind\n" + AGENT


def git(repo: Path, *arguments: str) -> None:
    """A git command in the repository."""
    subprocess.run(["git", *IDENTITY, *arguments], cwd=repo, check=True, capture_output=True)


@dataclass(frozen=True)
class Done:
    """What a job came to."""

    code: int
    report: dict[str, Any]
    versions: set[str]
    """Of google-adk, as the agents told their model."""


def job(place: Path, cache: Path, base: str, agent: str) -> Done:
    """A pull request that makes this of `agent.py`, on a base that needs this google-adk."""
    needs, code = "travel_desk/requirements.txt", "travel_desk/agent.py"
    repo = write(side(place), {needs: f"google-adk=={base}\n", code: AGENT})
    git(repo, "init")
    git(repo, "add", ".")
    git(repo, "commit", "-m", "base")
    write(repo, {needs: f"google-adk=={NEWEST}\n", code: agent})
    return run(place, cache, repo)


def run(place: Path, cache: Path, repo: Path) -> Done:
    """`gradegate run` of the work tree against main."""
    words = ["run", "--repo", repo, "--base", "main", "--store", place / "store.sqlite"]
    with GeminiStandin(answer) as model:
        environ = {**os.environ, **model.environ, "XDG_CACHE_HOME": str(cache)}
        done = STARTER.run([*map(str, words), "--out", str(place / "out")], place, environ)
        told = json.dumps([request.body.get("systemInstruction") for request in model.requests])
    assert (place / "out" / "report.json").is_file(), done.stderr
    read: dict[str, Any] = json.loads((place / "out" / "report.json").read_text())
    return Done(done.returncode, read, set(re.findall(r"ADK ([0-9.]+[0-9])", told)))


@pytest.mark.parametrize("base", [NEWEST, pytest.param("2.7.1", marks=pytest.mark.slow)])
def test_a_planted_regression_is_found(place: Path, cache: Path, base: str) -> None:
    """An instruction that lost its tool; also where base has another google-adk than head."""
    done = job(place, cache, base, AGENT.replace("get_weather about", "anybody about"))
    regressed = {
        each["eval_id"]
        for each in done.report["cases"]
        if any(c["verdict"] == "regressed" for c in each["criteria"].values())
    }
    weather = {"weather_in_paris", "weather_nowhere", "weather_then_flights"}
    assert (done.code, done.report["decision"]["state"]) == (1, "fail")
    assert regressed == weather | {"tenki", "tenki_kara_bin"}
    assert done.versions == {base, NEWEST}
    assert is_apart(done)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run agents as somebody else")
def test_agents_are_kept_apart_also_where_there_is_no_cache_yet(place: Path) -> None:
    """As on a runner's first run. Nothing needs to be in the environment for this."""
    index = small_index(place / "index", {"google-adk": NEWEST})
    needs = f"--index-url {index}\ngoogle-adk=={NEWEST}\n"
    repo = write(side(place), {"travel_desk/requirements.txt": needs})
    git(repo, "init")
    git(repo, "add", ".")
    git(repo, "commit", "-m", "base")
    write(repo, {"travel_desk/agent.py": BROKEN})
    cache = place / "cache"
    done = run(place, cache, repo)
    # An index in a folder may be anything, so each side has an environment of its own.
    assert len(list(cache.glob("gradegate/environments/*.ready"))) == 2
    assert is_apart(done)


def is_apart(done: Done) -> bool:
    """Whether agents ran as users of their own, where that can be."""
    shared = [warning for warning in done.report["warnings"] if "same user" in warning]
    return bool(shared) == (os.geteuid() != 0)


@pytest.mark.slow
def test_another_version_alone_is_no_regression(place: Path, cache: Path) -> None:
    """The same agent on another google-adk: nothing to object to."""
    done = job(place, cache, "2.7.1", AGENT + "# nothing\n")
    assert (done.code, done.report["decision"]["state"]) == (0, "pass"), done.report["decision"]
    assert all(c["scored"] == c["planned"] == [7, 7] for c in done.report["criteria"])


def test_an_agent_that_crashes_everywhere_is_a_regression(place: Path, cache: Path) -> None:
    """Not inconclusive: the agent has failed every run."""
    done = job(place, cache, NEWEST, BROKEN)
    assert (done.code, done.report["decision"]["state"]) == (1, "fail")
    kinds = {reason["kind"] for reason in done.report["decision"]["reasons"]}
    assert "regression" in kinds
    told = json.dumps(done.report["cases"])
    assert "nothing_of_the_kind" in told
