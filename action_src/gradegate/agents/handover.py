"""Folders that change hands between us and a user whom nobody trusts.

That user may put anything into a folder of its own: links to what is ours, second names of files
that are not its own, pipes that hang whoever opens them. So everything here goes from one open
folder to the next and never follows a link; no path is looked up twice.
"""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHANGED = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO)
"""It is not any more what it was when we looked."""
_DEEPEST = 128
"""Folders in folders; nobody needs as many, and each takes a descriptor of ours."""


@contextmanager
def opened(place: str | Path, within: int | None = None) -> Iterator[int]:
    """A folder, to go on from; never one behind a link."""
    folder = os.open(place, FOLDER, dir_fd=within)
    try:
        yield folder
    finally:
        os.close(folder)


def write_new(file: Path, text: str = "") -> None:
    """Write a file of ours that must not be there yet, nor a link in its place.

    Raises:
        FileExistsError: it is.
    """
    with open(os.open(file, _NEW, 0o600), "w", encoding="utf-8") as new:  # noqa: PTH123 - a descriptor
        new.write(text)


def give(folder: Path, uid: int) -> None:
    """Make a folder that is still ours alone, with all that is in it, the uid's own."""
    with opened(folder) as top:
        for inner, names in _walk(top):
            for name in names:
                os.chown(name, uid, uid, dir_fd=inner, follow_symlinks=False)
            os.fchown(inner, uid, uid)
        os.fchmod(top, 0o700)


def take_back(folder: Path) -> None:
    """Make everything in a folder ours again: for all to read, and for nobody else to change.

    Its user must have no processes any more. What is neither a file, a folder nor a link is
    removed, and so is another name of a file that was not this user's.

    Raises:
        OSError: there are folders in folders without end.
    """
    with opened(folder) as top:
        user = os.fstat(top).st_uid
        for inner, names in _walk(top):
            os.fchown(inner, os.geteuid(), os.getegid())
            os.fchmod(inner, stat.S_IMODE(os.fstat(inner).st_mode) & 0o755 | 0o555)
            for name in names:
                _take(inner, name, user)


def copy_tree(source: Path, into: Path) -> None:
    """Copy what another user may change meanwhile: files, folders, and links as links.

    Another name of a file that does not belong to the tree's user is left out, as that user
    may not even be allowed to read it.

    Raises:
        OSError: there are folders in folders without end.
    """
    with opened(source) as top:
        _copy_folder(top, into, os.fstat(top).st_uid, _DEEPEST)


def _walk(folder: int, deepest: int = _DEEPEST) -> Iterator[tuple[int, list[str]]]:
    """Each folder, the outer ones first, open, with the names of what is in it but folders."""
    if deepest == 0:
        raise OSError(errno.ENAMETOOLONG, f"more than {_DEEPEST} folders in each other")
    names = os.listdir(folder)
    inner = [name for name in names if stat.S_ISDIR(_status(folder, name).st_mode)]
    yield folder, [name for name in names if name not in set(inner)]
    for name in inner:
        with opened(name, folder) as below:
            yield from _walk(below, deepest - 1)


def _status(folder: int, name: str) -> os.stat_result:
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def _take(folder: int, name: str, user: int) -> None:
    kind = stat.S_IFMT(_status(folder, name).st_mode)
    if kind == stat.S_IFLNK:
        os.chown(name, os.geteuid(), os.getegid(), dir_fd=folder, follow_symlinks=False)
    elif kind != stat.S_IFREG:
        os.unlink(name, dir_fd=folder)
    else:
        _take_file(folder, name, user)


def _take_file(folder: int, name: str, user: int) -> None:
    file = os.open(name, _FILE, dir_fd=folder)
    try:
        status = os.fstat(file)
        if status.st_nlink == 1:
            os.fchown(file, os.geteuid(), os.getegid())
            os.fchmod(file, _for_all(status))
            return
        if status.st_uid == user:
            new = f".{secrets.token_hex(8)}"
            _copy_file(file, folder, new)
            os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)
        else:
            os.unlink(name, dir_fd=folder)
    finally:
        os.close(file)


def _for_all(status: os.stat_result) -> int:
    return 0o755 if status.st_mode & stat.S_IXUSR else 0o644


def _copy_folder(source: int, into: Path, user: int, deepest: int) -> None:
    if deepest == 0:
        raise OSError(errno.ENAMETOOLONG, f"more than {_DEEPEST} folders in each other")
    into.mkdir(mode=0o755)
    with opened(into) as target:
        os.fchmod(target, 0o755)
        for name in sorted(os.listdir(source)):
            try:
                kind = stat.S_IFMT(_status(source, name).st_mode)
                if kind == stat.S_IFLNK:
                    os.symlink(os.readlink(name, dir_fd=source), name, dir_fd=target)
                elif kind == stat.S_IFREG:
                    _copy_own(source, name, target, user)
                elif kind == stat.S_IFDIR:
                    with opened(name, source) as inner:
                        _copy_folder(inner, into / name, user, deepest - 1)
            except OSError as error:
                if error.errno not in _CHANGED:
                    raise


def _copy_own(source: int, name: str, target: int, user: int) -> None:
    file = os.open(name, _FILE, dir_fd=source)
    try:
        status = os.fstat(file)
        if stat.S_ISREG(status.st_mode) and (status.st_nlink == 1 or status.st_uid == user):
            _copy_file(file, target, name)
    finally:
        os.close(file)


def _copy_file(file: int, folder: int, name: str) -> None:
    mode = _for_all(os.fstat(file))
    new = os.open(name, _NEW, mode, dir_fd=folder)
    with open(new, "wb") as target, open(file, "rb", closefd=False) as source:  # noqa: PTH123 - descriptors
        os.fchmod(new, mode)
        shutil.copyfileobj(source, target)
