"""Temporary folders that do not outlive us: what a killed run left, the next one removes.

Their names tell whose they are, and their owner holds a lock on each, which the kernel lets go of
when the owner ends, however it ends.
"""

import fcntl
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

_PREFIX = "gradegate-run-"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def temporary_folder(purpose: str) -> Iterator[Path]:
    """A folder for ourselves alone, removed at the end with whatever is in it by then."""
    _sweep_once(tempfile.gettempdir())
    while True:
        folder = Path(tempfile.gettempdir(), _name(purpose)).resolve()
        folder.mkdir(mode=0o700)
        lock = _locked(folder)
        if lock is not None:
            break
    try:
        yield folder
    finally:
        remove(folder)
        os.close(lock)


def remove(folder: Path) -> None:
    """Remove a folder with whatever is in it; one that is not there is no trouble."""
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):  # folders in folders: `rm` takes any number
        subprocess.run(["rm", "-rf", "--", str(folder)], check=False)


def sweep(place: Path) -> None:
    """Remove what runs that are no more left in a folder for temporary things."""
    for folder in place.glob(f"{_PREFIX}*"):
        lock = _locked(folder)
        if lock is not None:
            remove(folder)
            os.close(lock)


@cache
def _sweep_once(place: str) -> None:
    sweep(Path(place))


def _name(purpose: str) -> str:
    return f"{_PREFIX}{os.getpid()}-{purpose}-{secrets.token_hex(4)}"


def _locked(folder: Path) -> int | None:
    """A descriptor that holds the folder; None if it is held, not ours, or gone."""
    try:
        lock = os.open(folder, _FOLDER)
    except OSError:
        return None
    status = os.fstat(lock)
    with suppress(OSError):  # another run holds it
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever sweeps can have been quicker than the one who made it.
        if status.st_uid == os.geteuid() and os.path.lexists(folder):
            return lock
    os.close(lock)
    return None
