"""One file, several processes, any ending."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gradegate.model.errors import InputError
from gradegate.store.sqlite import SqliteStore

WRITER = """
import sys
from pathlib import Path
from gradegate.store.sqlite import SqliteStore
store = SqliteStore(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for n in range(int(sys.argv[3])):
    store.put("unit", f"{sys.argv[2]}-{n}", "x" * 500)
    print(n, flush=True)
store.close()
"""


def writer(file: Path, name: str, units: int) -> "subprocess.Popen[str]":
    """A process that waits for a line, then writes units."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file), name, str(units)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_unit_is_kept_under_its_kind_and_key(tmp_path: Path) -> None:
    """Any text, in any language, also after the file was closed."""
    with SqliteStore(tmp_path / "store") as store:
        store.put("answer", "k", "日本語 \x00 😀")
        store.put("trace", "k", "other")
    with SqliteStore(tmp_path / "store") as store:
        assert store.get("answer", "k") == "日本語 \x00 😀"
        assert store.get("trace", "k") == "other"
        assert store.get("answer", "other") is None


def test_the_first_value_stays(tmp_path: Path) -> None:
    """A unit is finished once."""
    with SqliteStore(tmp_path / "store") as store:
        store.put("answer", "k", "first")
        store.put("answer", "k", "second")
        assert store.get("answer", "k") == "first"


def test_what_is_forgotten_can_be_finished_anew(tmp_path: Path) -> None:
    """And only that."""
    with SqliteStore(tmp_path / "store") as store:
        for key in "abc":
            store.put("answer", key, "old")
        store.forget("answer", ["a", "c", "never there"])
        store.put("answer", "a", "new")
        assert [store.get("answer", key) for key in "abc"] == ["new", "old", None]


def test_only_its_owner_may_read_the_file(tmp_path: Path) -> None:
    """Nor the folder, where it was made for it."""
    with SqliteStore(tmp_path / "made" / "store"):
        assert stat.S_IMODE((tmp_path / "made" / "store").stat().st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == 0o700


def test_closing_leaves_one_whole_file(tmp_path: Path) -> None:
    """Fit to be carried away by a cache."""
    with SqliteStore(tmp_path / "store") as store:
        store.put("answer", "k", "v")
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    """Nothing is lost, nobody fails."""
    file = tmp_path / "store"
    writers = [writer(file, name, 300) for name in "abcd"]
    for process in writers:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in writers:
        process.communicate(timeout=600)
        assert process.returncode == 0
    with SqliteStore(file) as store:
        for name in "abcd":
            assert all(store.get("unit", f"{name}-{n}") for n in range(300))


def test_a_killed_writer_loses_nothing_it_had_finished(tmp_path: Path) -> None:
    """What it said it had written is there, and the file is whole."""
    file = tmp_path / "store"
    process = writer(file, "a", 100_000)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    said = [process.stdout.readline() for _ in range(500)]
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    with SqliteStore(file) as store:
        assert all(store.get("unit", f"a-{n.strip()}") for n in said)
        store.put("unit", "later", "still writable")
    db = sqlite3.connect(file)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


@pytest.mark.parametrize("content", [b"not a database, though long enough to be one" * 40, None])
def test_a_file_that_is_no_store_is_named(tmp_path: Path, content: bytes | None) -> None:
    """With what to do about it."""
    file = tmp_path / "store"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    with pytest.raises(InputError, match="--store FILE"):
        SqliteStore(file)


def test_a_file_closed_while_others_use_it_is_whole_as_well(tmp_path: Path) -> None:
    """What a cache copies then has all that was written, without the files beside it."""
    with SqliteStore(tmp_path / "store"):
        with SqliteStore(tmp_path / "store") as store:
            store.put("answer", "k", "v")
        (tmp_path / "copy").write_bytes((tmp_path / "store").read_bytes())
    with SqliteStore(tmp_path / "copy") as copy:
        assert copy.get("answer", "k") == "v"
