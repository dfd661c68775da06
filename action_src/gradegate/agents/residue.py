"""What a uid leaves where everybody may write, removed when its last process has ended.

Landlock keeps an agent out of most of these places. Not every kernel has it, and shared memory
stays open to all: what runs several processes cannot do without.
"""

import ctypes
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from gradegate.agents.handover import opened
from gradegate.files.temporary import remove

_OPEN_TO_ALL = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock")  # noqa: S108
_SYSTEM_V = {"shm": "shmctl", "msg": "msgctl", "sem": "semctl"}
"""Memory, queues and semaphores that are no files, and what removes one where told 0 and 0."""

_NUMBER = 1
"""Its column in the kernel's list."""


def remove_residue(uid: int) -> None:
    """Remove what belongs to a uid that is nobody's any more; it must have no processes."""
    for place in _OPEN_TO_ALL:
        with suppress(OSError), opened(place) as folder:
            if os.fstat(folder).st_mode & stat.S_ISVTX:  # else others can change what is there
                _remove_from(folder, Path(place), uid)
    kernel = ctypes.CDLL(None)
    for kind, call in _SYSTEM_V.items():
        for number in _system_v_of(uid, kind):
            getattr(kernel, call)(number, 0, 0)


def _remove_from(folder: int, place: Path, uid: int) -> None:
    for name in os.listdir(folder):
        with suppress(FileNotFoundError):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if status.st_uid == uid and stat.S_ISDIR(status.st_mode):
                remove(place / name)
            elif status.st_uid == uid:
                os.unlink(name, dir_fd=folder)


def _system_v_of(uid: int, kind: str) -> Iterator[int]:
    """The numbers of those that a uid made."""
    try:
        head, *rows = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()
    except OSError:  # a kernel without them
        return
    creator = head.split().index("cuid")
    for row in rows:
        fields = row.split()
        if int(fields[creator]) == uid:
            yield int(fields[_NUMBER])
