"""Folders that change hands: nothing outside them is touched, whatever their user put in."""

import os
import stat
from pathlib import Path

import pytest

from gradegate.agents.handover import copy_tree, give, take_back, write_new
from gradegate.files.temporary import remove

USER = 10777
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """A file that is not the user's."""
    file = tmp_path / "ours"
    file.write_text("ours")
    file.chmod(0o600)
    return file


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A folder that is the user's, with a file in a folder."""
    folder = tmp_path / "theirs"
    (folder / "in").mkdir(parents=True)
    (folder / "in" / "file").write_text("x")
    if os.geteuid() == 0:
        give(folder, USER)
    return folder


def test_a_new_file_is_new(tmp_path: Path, ours: Path) -> None:
    """Neither what is there nor what a link leads to is written."""
    (tmp_path / "link").symlink_to(ours)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for taken in ("ours", "link", "dangling"):
        with pytest.raises(FileExistsError):
            write_new(tmp_path / taken, "x")
    write_new(tmp_path / "new", "x")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600
    assert ours.read_text() == "ours"
    assert not (tmp_path / "nowhere").exists()


@as_root
@pytest.mark.trust
def test_links_are_taken_back_and_never_followed(theirs: Path, ours: Path) -> None:
    """A link, a second name and a pipe in a folder that root takes back."""
    (theirs / "in" / "link").symlink_to(ours)
    (theirs / "in" / "out").symlink_to(ours.parent)
    (theirs / "second").hardlink_to(ours)
    os.mkfifo(theirs / "pipe")
    (theirs / "twice").hardlink_to(theirs / "in" / "file")
    (theirs / "in" / "file").chmod(0o6777)
    other = os.open(theirs / "twice", os.O_WRONLY)
    take_back(theirs)
    os.write(other, b"changed")
    os.close(other)
    assert stat.S_IMODE(ours.stat().st_mode) == 0o600
    assert ours.stat().st_nlink == 1
    assert not (theirs / "pipe").exists()
    assert stat.S_IMODE((theirs / "in" / "file").stat().st_mode) == 0o755
    assert {path.lstat().st_uid for path in (theirs, *theirs.rglob("*"))} == {0}
    assert "x" in {(theirs / "twice").read_text(), (theirs / "in" / "file").read_text()}


@as_root
@pytest.mark.trust
def test_a_copy_holds_nothing_that_the_user_may_not_read(theirs: Path, ours: Path) -> None:
    """A second name of root's file, a link to it and a pipe in a folder that root copies."""
    (theirs / "second").hardlink_to(ours)
    (theirs / "link").symlink_to(ours)
    os.mkfifo(theirs / "pipe")
    copy = theirs.parent / "copy"
    copy_tree(theirs, copy)
    assert sorted(path.relative_to(copy).as_posix() for path in copy.rglob("*")) == [
        "in",
        "in/file",
        "link",
    ]
    assert (copy / "link").is_symlink()
    assert (copy / "in" / "file").read_text() == "x"


@pytest.mark.trust
def test_folders_in_folders_are_refused_and_removed(theirs: Path) -> None:
    """Thousands of folders in each other, in a folder that is copied, taken back and removed."""
    here = os.open(theirs, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    with pytest.raises(OSError, match="more than 128 folders"):
        copy_tree(theirs, theirs.parent / "copy")
    with pytest.raises(OSError, match="more than 128 folders"):
        take_back(theirs)
    remove(theirs)
    assert not theirs.exists()
