"""Temporary folders, and what runs that were killed left of them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gradegate.files.temporary import sweep, temporary_folder

HOLDS = """
import sys, time
from gradegate.files.temporary import temporary_folder
with temporary_folder("held") as folder:
    (folder / "file").write_text("x")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary things of this test alone."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def holder(here: Path) -> tuple["subprocess.Popen[str]", Path]:
    """A process that has a temporary folder, and which."""
    command = [sys.executable, "-c", HOLDS]
    environ = {**os.environ, "TMPDIR": str(here)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ)
    assert process.stdout
    return process, Path(process.stdout.readline().strip())


def test_a_folder_is_ours_alone_and_gone_at_the_end(here: Path) -> None:
    """With all that is in it; its name tells what for and whose it is."""
    with temporary_folder("sides") as folder:
        assert folder.parent == here
        assert folder.stat().st_mode & 0o777 == 0o700
        assert f"{os.getpid()}-sides" in folder.name
        deep = folder / "/".join("d" * 50)
        deep.mkdir(parents=True)
    assert list(here.iterdir()) == []


def test_what_a_killed_run_left_is_removed_and_what_a_live_one_has_is_not(here: Path) -> None:
    """Nobody's pid has to be guessed at: the kernel lets go of a dead one's lock."""
    (dead, left), (living, held) = holder(here), holder(here)
    (here / "gradegate-of-the-user").mkdir()
    dead.send_signal(signal.SIGKILL)
    dead.communicate()
    assert (left / "file").exists()
    sweep(here)
    assert sorted(here.iterdir()) == sorted([held, here / "gradegate-of-the-user"])
    assert (held / "file").exists()
    living.kill()
    living.communicate()
    sweep(here)
    assert [path.name for path in here.iterdir()] == ["gradegate-of-the-user"]


def test_a_link_in_place_of_a_folder_is_left_alone(here: Path) -> None:
    """Anybody may put one into /tmp."""
    (here / "victim").mkdir()
    (here / "victim" / "file").touch()
    (here / "gradegate-run-1-sides-0").symlink_to(here / "victim")
    sweep(here)
    assert (here / "victim" / "file").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make a folder somebody else's")
def test_the_folder_of_somebody_else_is_left_alone(here: Path) -> None:
    """Whoever runs gradegate as another user sweeps for themselves."""
    other = here / "gradegate-run-1-sides-0"
    other.mkdir()
    os.chown(other, 21999, 21999)
    sweep(here)
    assert other.is_dir()
