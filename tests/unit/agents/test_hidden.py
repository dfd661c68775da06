"""Places that agents may not look into, and their modes afterwards."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gradegate.agents.hidden import (
    RECORD,
    Hidden,
    git_folder,
    private_places,
    put_back,
    record_folder,
)
from tests.integration.test_sandbox import as_root

HIDES = """
import sys, time
from pathlib import Path
from gradegate.agents.hidden import Hidden
with Hidden([Path(place) for place in sys.argv[2:]], Path(sys.argv[1])):
    print("hidden", flush=True)
    time.sleep(600)
"""


def mode(place: Path) -> int:
    """What others may do with it."""
    return stat.S_IMODE(place.stat().st_mode)


def folder(place: Path, mode: int = 0o755) -> Path:
    """A folder of this mode."""
    place.mkdir()
    place.chmod(mode)
    return place


def hiding(record: Path, *places: Path) -> "subprocess.Popen[str]":
    """Another run, which hides these by now."""
    command = [sys.executable, "-c", HIDES, str(record), *map(str, places)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "hidden\n"
    return process


def end(process: "subprocess.Popen[str]", how: signal.Signals) -> None:
    """Have it end, and wait for that."""
    process.send_signal(how)
    process.communicate()


def test_only_the_runners_own_places_are_hidden(tmp_path: Path) -> None:
    """A developer's home is not: only a job on a runner has one that is nobody's."""
    (tmp_path / ".git").mkdir()
    assert private_places({"HOME": "/root", "RUNNER_TEMP": "/no/such"}, tmp_path) == (
        tmp_path / ".git",
    )
    on_runner = private_places({"HOME": str(tmp_path), "GITHUB_ACTIONS": "true"}, tmp_path)
    assert on_runner == (tmp_path / ".git", tmp_path)


@pytest.mark.trust
def test_a_linked_work_tree_hides_what_it_shares(tmp_path: Path) -> None:
    """The repository is elsewhere, and with it its settings, where a token may be."""
    git = ["git", "-C", str(tmp_path / "repo")]
    subprocess.run(["git", "init", "-q", str(tmp_path / "repo")], check=True)
    named = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run([*git, *named, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "linked")], check=True)
    assert (tmp_path / "linked" / ".git").is_file()
    assert private_places({}, tmp_path / "linked") == (tmp_path / "repo" / ".git",)
    assert git_folder(tmp_path / "repo") == tmp_path / "repo" / ".git"


def test_without_a_repository_the_record_is_in_our_cache(tmp_path: Path) -> None:
    """As with `record` on a plain folder."""
    assert record_folder(tmp_path, tmp_path / "cache") == tmp_path / "cache"
    (tmp_path / ".git").mkdir()
    assert record_folder(tmp_path, tmp_path / "cache") == tmp_path / ".git"


@as_root
def test_hidden_places_get_their_modes_back(tmp_path: Path) -> None:
    """What is gone meanwhile is no trouble, what never was is told; no record stays."""
    git, kept = folder(tmp_path / ".git"), folder(tmp_path / "kept", 0o750)
    gone = folder(tmp_path / "gone")
    with Hidden([git, kept, gone, tmp_path / "never"], git) as hidden:
        assert (mode(git), mode(kept)) == (0o700, 0o700)
        assert len(hidden.warnings) == 1
        gone.rmdir()
    assert (mode(git), mode(kept)) == (0o755, 0o750)
    assert list(git.iterdir()) == []


@as_root
@pytest.mark.trust
def test_a_killed_run_leaves_no_mode_changed(tmp_path: Path) -> None:
    """SIGKILL while `.git` is closed: the next run neither keeps it so nor takes it for normal."""
    git, other = folder(tmp_path / ".git"), folder(tmp_path / "other", 0o750)
    for _ in range(3):
        end(hiding(git, git, other), signal.SIGKILL)
        assert (mode(git), mode(other)) == (0o700, 0o700)
    with Hidden([git], git):
        assert (mode(git), mode(other)) == (0o700, 0o750)
    assert (mode(git), mode(other)) == (0o755, 0o750)
    end(hiding(git, git), signal.SIGKILL)
    put_back(git)
    assert mode(git) == 0o755
    assert list(git.iterdir()) == []


@as_root
def test_the_last_of_several_runs_puts_them_back(tmp_path: Path) -> None:
    """Also where one of them was killed: until then the places stay closed."""
    git = folder(tmp_path / ".git")
    killed, living = hiding(git, git), hiding(git, git)
    with Hidden([git], git):
        end(killed, signal.SIGKILL)
        put_back(git)
        assert mode(git) == 0o700
    assert mode(git) == 0o700, "another still runs"
    end(living, signal.SIGKILL)
    put_back(git)
    assert mode(git) == 0o755


@as_root
@pytest.mark.trust
@pytest.mark.parametrize("whose", ["another user's", "open to all", "of two names", "a link"])
def test_a_record_that_somebody_else_may_have_written_is_not_followed(
    tmp_path: Path, whose: str
) -> None:
    """A file in `.git` asks root to open up a folder of root's."""
    git, ours = folder(tmp_path / ".git"), folder(tmp_path / "ours", 0o700)
    record = git / RECORD
    record.write_text(json.dumps({str(ours): 0o777}))
    record.chmod(0o644 if whose == "open to all" else 0o600)
    if whose == "another user's":
        os.chown(record, 21999, 21999)
    elif whose == "of two names":
        (tmp_path / "other name").hardlink_to(record)
    elif whose == "a link":
        record.rename(tmp_path / "elsewhere")
        record.symlink_to(tmp_path / "elsewhere")
    put_back(git)
    assert mode(ours) == 0o700
    record.unlink(missing_ok=True)
    record.write_text(json.dumps({str(ours): 0o711}))
    record.chmod(0o600)
    put_back(git)
    assert mode(ours) == 0o711, "the control: root's own record counts"
