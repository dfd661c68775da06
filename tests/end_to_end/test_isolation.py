"""What a report says of how agents were kept apart: what this machine really did."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradegate.agents.landlock import abi
from tests.project import GRADEGATE, Outcome, Project, case, eval_set, turn

pytestmark = pytest.mark.trust

STANDINS = Path(__file__).parents[1] / "standins"
SETTINGS = """
[[suite]]
name = "desk"
command = ["/usr/bin/python3", "reaching.py"]
evals = ["evals/*.evalset.json"]
network = {network}
"""
CONFIG = {"criteria": {"response_match_score": 0.5}}


@pytest.fixture
def port() -> Iterator[int]:
    """A TCP port of this machine on which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@pytest.fixture
def outside(place: Path) -> Path:
    """A file that permissions let anybody write."""
    file = place / "outside"
    file.write_text("as it was")
    file.chmod(0o666)
    return file


def reaching(place: Path, outside: Path, port: int, network: str) -> Project:
    """A project whose agent tries what it may not do, and tells; on base it tells less."""
    project = Project.create(place / "repo")
    project.put("gradegate.toml", SETTINGS.format(network=network))
    project.put("evals/basic.evalset.json", eval_set(case("one", turn("Try.", "{}"))))
    project.put("evals/test_config.json", json.dumps(CONFIG))
    shutil.copy(STANDINS / "agents" / "reaching.py", project.root)
    project.put("reach.json", "[]")
    project.commit("base")
    project.git("switch", "-qc", "change")
    attempts = [["write", str(outside)], ["connect", str(port)], ["semaphore", ""]]
    project.put("reach.json", json.dumps(attempts))
    return project


def evaluated(project: Project, *before: str) -> tuple[Outcome, dict[str, str]]:
    """The report, and what head's agent says became of its attempts."""
    out = project.root.parent / "out"
    done = subprocess.run(
        [*before, str(GRADEGATE), "run", "--out", str(out)],
        cwd=project.root,
        env={**project.environ, "HOME": str(project.root.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    outcome = Outcome(done.returncode, out, done.stdout, done.stderr)
    assert done.returncode in (0, 1), done.stderr
    said = outcome.case("one")["evidence"]["turns"][0]["head"]["text"]
    return outcome, {key.partition(" ")[0]: what for key, what in json.loads(said).items()}


def codes(outcome: Outcome) -> list[str]:
    """What the report says of isolation."""
    return [one["code"] for one in outcome.report["isolation"]]


USER = "isolation.own_user" if os.geteuid() == 0 else "isolation.same_user"


@pytest.mark.skipif(abi() < 4, reason="needs a kernel whose Landlock knows ports")
def test_what_is_enforced_is_enforced_and_told(place: Path, outside: Path, port: int) -> None:
    """Head lifts base's `network`, connects all the same, and writes to a file open to all."""
    project = reaching(place, outside, port, '"none"')
    project.put("gradegate.toml", SETTINGS.format(network='"open"'))
    outcome, said = evaluated(project)
    assert said == {"write": "PermissionError", "connect": "PermissionError", "semaphore": "done"}
    assert outside.read_text() == "as it was"
    assert codes(outcome) == [USER, "isolation.writes", "isolation.no_tcp"]
    comment = (outcome.folder / "comment.md").read_text()
    assert "How agents were kept apart" in comment
    assert "TCP of suite desk: none" in comment


@pytest.mark.parametrize("network", ['"open"', "[1]"])
def test_a_kernel_that_refuses_landlock_is_told_of(
    place: Path, outside: Path, port: int, network: str
) -> None:
    """The control: without Landlock the same attempts succeed, and the report does not hide it."""
    project = reaching(place, outside, port, network)
    refusing = [sys.executable, str(STANDINS / "without_landlock.py")]
    outcome, said = evaluated(project, *refusing)
    assert said == {"write": "done", "connect": "done", "semaphore": "done"}
    held = network == '"open"'
    told = "isolation.open" if held else "isolation.network_not_held"
    assert codes(outcome) == [USER, "isolation.no_landlock", told]
    assert ("not enforced: `network` of suite desk" in outcome.warnings) == (not held)
