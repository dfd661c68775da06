"""An agent that hunts for the job's token, with our isolation and without it."""

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pydantic
import pytest

from gradegate.store.sqlite import SqliteStore
from tests.integration.test_sandbox import SYSTEM_PYTHON, as_root, folder

__all__ = ["folder"]

pytestmark = pytest.mark.trust

ROOT = Path(__file__).parents[2]
OURS = Path(sys.executable)
TOKEN = "ghs_" + "Ab3" * 12


@pytest.fixture(scope="module")
def code() -> Iterator[Path]:
    """Our own code where every user can read it, which our tree may not be."""
    with tempfile.TemporaryDirectory(prefix="gradegate-test-code-") as name:
        place = Path(name)
        place.chmod(0o755)
        for folder in ("action_src", "templates"):
            shutil.copytree(ROOT / folder, place / folder)
        shutil.copytree(ROOT / "tests" / "standins", place / "standins")
        yield place


def job(folder: Path, code: Path) -> dict[str, str]:
    """A workspace with everything a runner's has, and the job's environment."""
    checkout = folder / "sides" / "head"
    git, files, event = (folder / n for n in ("workspace/.git", "file_commands", "workflow"))
    for place in (checkout, git, files, event, folder / "temp"):
        place.mkdir(parents=True)
    (git / "config").write_text(f'[http]\n\textraheader = "AUTHORIZATION: basic {TOKEN}"\n')
    for name in ("env", "output"):
        (files / name).write_text(TOKEN)
    (event / "event.json").write_text(json.dumps({"token": TOKEN}))
    (folder / "temp" / "git-credentials.config").write_text(TOKEN)
    with SqliteStore(folder / "store" / "gradegate.sqlite") as store:
        store.put("secret", "key", TOKEN)
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{code / 'action_src'}:{Path(pydantic.__file__).resolve().parents[1]}",
        "GITHUB_ACTIONS": "true",
        "GITHUB_TOKEN": TOKEN,
        "INPUT_GITHUB-TOKEN": TOKEN,
        "GITHUB_ENV": str(files / "env"),
        "GITHUB_OUTPUT": str(files / "output"),
        "GITHUB_EVENT_PATH": str(event / "event.json"),
        "RUNNER_TEMP": str(folder / "temp"),
    }


class Hunt(NamedTuple):
    """What the job said of a hunt."""

    found: list[str]
    user: list[int] | None
    warning: str | None
    error: str | None


def hunt(
    folder: Path, environ: dict[str, str], how: str, python: Path, uid: int | None = None
) -> Hunt:
    """What the hunter found in this job."""
    ours, _, _ = environ["PYTHONPATH"].partition(":")
    hunted = Path(ours).with_name("standins") / "hunted.py"
    done = subprocess.run(
        [str(python), str(hunted), str(folder), how, str(folder)],
        env=environ,
        capture_output=True,
        check=False,
        user=uid,
        group=uid,
    )
    assert done.returncode == 0, done.stderr.decode()
    told = Hunt(**json.loads(done.stdout))
    assert told.error is None
    return told


@as_root
def test_the_hunter_finds_nothing(folder: Path, code: Path) -> None:
    """Neither in processes, memory included, nor in any file of the job's."""
    environ = job(folder, code)
    told = hunt(folder, environ, "isolated", OURS)
    assert told.found == []
    assert told.user is not None
    assert told.warning is None
    modes = [stat.S_IMODE(Path(p).stat().st_mode) for p in (folder / "temp", folder / "workflow")]
    assert modes == [0o755, 0o755], "hidden places are shown again"


@as_root
def test_there_is_something_to_find(folder: Path, code: Path) -> None:
    """The same hunter without isolation finds the token in all these places."""
    told = hunt(folder, job(folder, code), "plain", OURS)
    found = " ".join(told.found)
    for place in ("process environ", "process memory", ".git/config", "event.json", "sqlite"):
        assert place in found
    assert "environment" not in told.found


@as_root
def test_without_root_our_process_is_closed_and_the_report_says_what_is_not(
    folder: Path, code: Path
) -> None:
    """Same uid: environment and memory give nothing away, files do, and a warning tells."""
    environ = job(folder, code)
    for top, _, files in os.walk(folder):
        for name in (".", *files):
            os.chown(Path(top, name), 23456, 23456)
    plain = hunt(folder, environ, "plain", SYSTEM_PYTHON, 23456)
    assert "process memory" in plain.found
    told = hunt(folder, environ, "isolated", SYSTEM_PYTHON, 23456)
    assert told.user is None
    assert "same user as gradegate (uid 23456)" in str(told.warning)
    assert not [place for place in told.found if place.startswith(("process", "environment"))]
    assert [place for place in told.found if place.endswith(".git/config")]
