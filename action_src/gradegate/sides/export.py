"""Copies of a repository's files, without `.git` and without touching the repository."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from gradegate.sides.git_command import Git

_SUBMODULE = "160000"


def export_commit(git: Git, rev: str, dest: Path) -> tuple[str, ...]:
    """Write the commit's files to `dest`; returns warnings.

    The commit is read into an index of our own and checked out with `dest` as its work tree:
    `export-ignore` hides nothing then, and the attributes that apply are the commit's.
    """
    dest.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gradegate-") as temporary:
        elsewhere = {
            "GIT_DIR": git.must("rev-parse", "--absolute-git-dir").text,
            "GIT_INDEX_FILE": str(Path(temporary) / "index"),
            "GIT_WORK_TREE": str(dest.resolve()),
        }
        there = Git(dest.resolve(), git.environ)
        whole = ("-c", "core.sparseCheckout=false")
        there.must(*whole, "read-tree", rev, env=elsewhere)
        there.must(*whole, "checkout-index", "--all", "--force", env=elsewhere)
    warnings: list[str] = []
    for path, commit in _submodules(git, rev):
        (dest / path).mkdir(parents=True, exist_ok=True)
        inner = _populated(git, path)
        if inner and inner.call("cat-file", "-e", f"{commit}^{{commit}}").ok:
            warnings += export_commit(inner, commit, dest / path)
        else:
            warnings.append(_left_empty(path))
    return tuple(warnings)


def export_files(git: Git, dest: Path) -> tuple[str, ...]:
    """Write the work tree's files as they are to `dest`, but for ignored ones; returns warnings."""
    dest.mkdir(parents=True, exist_ok=True)
    listed = git.must("ls-files", "-z", "--cached", "--others", "--exclude-standard").paths
    warnings: list[str] = []
    behind_link: dict[PurePosixPath, bool] = {}
    for path in dict.fromkeys(listed):
        source, target = git.folder / path, dest / path
        if _is_behind_link(git.folder, PurePosixPath(path).parent, behind_link):
            continue
        if source.is_dir() and not source.is_symlink():
            warnings += _export_nested(git, path, target)
        else:
            _copy(source, target)
    return tuple(warnings)


def _export_nested(git: Git, path: str, target: Path) -> tuple[str, ...]:
    target.mkdir(parents=True, exist_ok=True)
    inner = _populated(git, path)
    return export_files(inner, target) if inner else (_left_empty(path),)


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a link; what was deleted, or is neither, has nothing to copy."""
    try:
        mode = source.lstat().st_mode
    except FileNotFoundError:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if stat.S_ISLNK(mode):
        target.symlink_to(source.readlink())
    elif stat.S_ISREG(mode):
        shutil.copy(source, target)


def _is_behind_link(top: Path, folder: PurePosixPath, known: dict[PurePosixPath, bool]) -> bool:
    """Whether a folder was replaced by a link: writing through its copy would leave `dest`."""
    if folder == PurePosixPath():
        return False
    if folder not in known:
        linked = (top / folder).is_symlink()
        known[folder] = linked or _is_behind_link(top, folder.parent, known)
    return known[folder]


def _submodules(git: Git, rev: str) -> Iterator[tuple[str, str]]:
    for entry in git.must("ls-tree", "-r", "-z", "--full-tree", rev).paths:
        about, _, path = entry.partition("\t")
        mode, _, commit = about.split(" ")
        if mode == _SUBMODULE:
            yield path, commit


def _populated(git: Git, path: str) -> Git | None:
    folder = git.folder / path
    return Git(folder, git.environ) if os.path.lexists(folder / ".git") else None


def _left_empty(path: str) -> str:
    return (
        f"submodule {path} is not checked out, so its folder is empty: "
        "set `submodules: true` on actions/checkout, or run `git submodule update --init`"
    )
