"""Uids that are one agent's or one build's alone: claimed, and swept of processes at the end."""

import fcntl
import os
import pwd
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gradegate.agents.handover import FOLDER
from gradegate.agents.launch import LIBRARIES, supervisor
from gradegate.agents.residue import remove_residue
from gradegate.model.errors import InputError
from gradegate.model.notice import Notice, notice

ON_LINUX = sys.platform == "linux"
_ACCOUNT = "agent"
"""The image's; others are needed besides, where several agents run at once."""
_UIDS = range(21001, 22000)
_CAPABILITIES = (0, 1, 3, 5, 6, 7)
"""chown, dac_override, fowner, kill, setgid, setuid: what a container's root usually has."""
_CLAIMS = (Path("/run/gradegate-uids"), Path("/var/lib/gradegate-uids"))
"""Where claims are kept: in folders of root's, as in any other everybody could claim every uid."""
_CLAIM = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_SWEEPS = 50
_SETTLING = 0.02


@dataclass
class Identity:
    """A uid that nobody else uses, until it is given up."""

    uid: int
    claim: int | None
    """The descriptor of a locked file; the kernel lets go of the lock when we end."""

    @property
    def user(self) -> tuple[int, int]:
        """Uid and gid."""
        return self.uid, self.uid

    def end_processes(self) -> Notice | None:
        """End all that runs under the uid; what is told if that cannot be done."""
        return _sweep(self.uid)

    def give_up(self) -> Notice | None:
        """End and remove what is left, and let others have the uid.

        If it cannot be ended, nobody has it.
        """
        if self.claim is None:
            return None
        left = self.end_processes()
        if left is None:
            remove_residue(self.uid)
            os.close(self.claim)
        self.claim = None
        return left


def may_switch() -> bool:
    """Whether we can start programs as other users, and end them."""
    if not ON_LINUX or os.geteuid() != 0:
        return False
    status = Path("/proc/self/status").read_text()
    held = int(status.partition("CapEff:")[2].split()[0], 16)
    return all(held >> capability & 1 for capability in _CAPABILITIES)


def claim_uid() -> Identity:
    """A uid without an account, a process or another gradegate.

    Raises:
        InputError: there is none, or no place to keep the claim; the message says which.
    """
    folder = _claims()
    try:
        for uid in _agents_uids():
            claim = os.open(str(uid), _CLAIM, 0o600, dir_fd=folder)
            try:
                fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(claim)
                continue
            if not _has_processes(uid):
                return Identity(uid, claim)
            os.close(claim)
    finally:
        os.close(folder)
    raise InputError(f"all uids from {_UIDS[0]} to {_UIDS[-1]} are in use: no agent can be run")


def _claims() -> int:
    """The first of the folders that is there or can be made, and that only root can change."""
    for place in _CLAIMS:
        with suppress(OSError):
            place.mkdir(mode=0o700)
        try:
            folder = os.open(place, FOLDER)
        except OSError:
            continue
        status = os.fstat(folder)
        if status.st_uid == 0 and not status.st_mode & 0o022:
            return folder
        os.close(folder)
    places = " or ".join(map(str, _CLAIMS))
    raise InputError(
        f"neither of {places} can be made as a folder that only root can change, and agents need "
        "it to get users of their own: mount a writable /run"
    )


def _agents_uids() -> Iterator[int]:
    """Uids that are nobody's: that of an account made for agents, and those without any."""
    accounts = {account.pw_name: account.pw_uid for account in pwd.getpwall()}
    if _ACCOUNT in accounts:
        yield accounts[_ACCOUNT]
    yield from (uid for uid in _UIDS if uid not in accounts.values())


def _has_processes(uid: int) -> bool:
    """Whether there is any, be it one that has ended and whose parent did not ask how.

    The kernel goes through its own list. In a look through /proc a process can be gone by the
    time its file is opened, and its child was not there when the folder was listed: who forks
    and ends without pause is never seen.
    """
    try:
        os.getpriority(os.PRIO_USER, uid)
    except ProcessLookupError:
        return False
    return True


def _uids_of_processes() -> Iterator[int]:
    """Of all that still run. A process can make its folder in /proc root's, its status not."""
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        with suppress(OSError):  # it ended while we looked
            said = (folder / "status").read_text(errors="replace")
            if "\nState:\tZ" not in said:
                yield int(said.partition("\nUid:")[2].split()[0])


def _sweep(uid: int) -> Notice | None:
    """End all processes of the uid; again, should one of them end our sweeper first.

    Once the sweeper is through nobody of the uid can fork: what a look through /proc does not
    find any more is gone for good.
    """
    for _ in range(_SWEEPS):
        if not _has_processes(uid):
            return None
        sweeper = subprocess.run(supervisor("sweep", str(uid)), env=LIBRARIES, check=False)
        if sweeper.returncode == 0 and uid not in _uids_of_processes():
            return None
        time.sleep(_SETTLING)
    return notice("sandbox.not_ended", uid=uid)
