"""Keeps an agent, which runs the pull request's code, away from us and from the other side.

It sees of our environment what its suite names. As root the agent gets a uid that no other
process has, its checkout and a home for itself alone, and every process of that uid is ended with
the sandbox. Otherwise it shares our uid: still limited, still ended with all its descendants, and
our memory and environment closed to it, but this user's files are within its reach.
`Sandbox.warning` says so.
"""

import ctypes
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from gradegate.agents.line_process import LIBRARIES, Launch, Limits, supervisor
from gradegate.model.errors import InputError
from gradegate.model.notice import Notice, notice

_ALWAYS = ("PATH", "LANG", "LC_ALL")
_NEVER = ("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_")
USUAL_PATH = "/usr/local/bin:/usr/bin:/bin"


def agent_environment(
    environ: Mapping[str, str],
    names: Sequence[str],
    home: Path,
    command: Sequence[str] = (),
) -> dict[str, str]:
    """PATH, the language, the variables a suite names, and a home of the agent's own.

    Args:
        environ: our own environment.
        names: the suite's `env`; those that are not set are left out.
        home: an existing folder that the agent may write to.
        command: what will be started; a plain `python` is found even where PATH has none.

    Raises:
        InputError: a name would hand the agent GitHub's tokens or files.
    """
    for name in names:
        if name.upper().startswith(_NEVER):
            raise InputError(
                f"`env` must not name {name}: the agent runs the pull request's code, and names "
                f"that begin with {', '.join(_NEVER)} lead to the job's tokens and files; "
                "give the agent a variable under another name"
            )
    seen = {name: environ[name] for name in (*_ALWAYS, *names) if name in environ}
    path = seen.get("PATH") or USUAL_PATH
    return {**seen, "PATH": _with_python(path, command), "HOME": str(home), "TMPDIR": str(home)}


def _with_python(path: str, command: Sequence[str]) -> str:
    wanted = command[0] if command else ""
    if wanted not in ("python", "python3") or shutil.which(wanted, path=path):
        return path
    return f"{path}:{Path(sys.executable).parent}"


_PR_SET_DUMPABLE = 4
_ON_LINUX = sys.platform == "linux"
_ACCOUNT = "agent"
"""The image's; others are needed besides, where several agents run at once."""
_UIDS = range(20001, 21000)
_CAPABILITIES = (0, 1, 3, 5, 6, 7)
"""chown, dac_override, fowner, kill, setgid, setuid: what a container's root usually has."""
_SEARCH = 0o001
_SWEEPS = 50
_SETTLING = 0.02


@dataclass(frozen=True)
class Identity:
    """A uid that nobody else uses; held until the claim is closed."""

    uid: int
    claim: socket.socket


class Sandbox:
    """Where and as whom one side's agent of one suite runs, until it is closed."""

    def __init__(
        self, checkout: Path, home: Path, identity: Identity | None, warning: Notice | None
    ) -> None:
        self.checkout = checkout
        self.home = home
        self.warning = warning
        """What this machine could not do to keep the agent apart; None where it could."""
        self._identity = identity

    @classmethod
    def for_side(cls, checkout: Path, needs: Iterable[Path] = ()) -> Self:
        """Set a checkout up for an agent that nobody trusts; hide what is private before.

        Args:
            checkout: the side's export, in a folder of ours that only leads to exports. It
                becomes the agent's own, to read and to write.
            needs: interpreters and environments the agent cannot do without, to be read only.
        """
        checkout = checkout.resolve()
        folder = checkout.parent
        identity, warning = _identity_for((folder.parent, *needs))
        home = Path(tempfile.mkdtemp(prefix="home-", dir=folder))
        if identity:
            folder.chmod(0o711)
            for place in (checkout, home):
                _give(place, identity.uid)
        return cls(checkout, home, identity, warning)

    @property
    def user(self) -> tuple[int, int] | None:
        """The agent's uid and gid; None where they are ours."""
        return (self._identity.uid, self._identity.uid) if self._identity else None

    def launch(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        names: Sequence[str] = (),
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> Launch:
        """How to start a program in here, which sees only these names of our environment."""
        env = agent_environment(environ, names, self.home, command)
        return Launch(command, self.checkout, env, self.user, limits)

    def blocked_at(self, place: Path) -> Path | None:
        """The folder that keeps the agent from a place it needs; None where it gets there."""
        return blocked_at(place) if self._identity else None

    def close(self) -> None:
        """End whatever is left of the agent, and remove its home."""
        if self._identity:
            left = _sweep(self._identity.uid)
            if left:
                self.warning = left
                self._identity.claim.detach()  # never closed: the uid is nobody else's to use
            self._identity.claim.close()
            self._identity = None
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def shield_process() -> None:
    """Close our memory and environment to other processes, those of our own uid included."""
    if _ON_LINUX and ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def private_places(environ: Mapping[str, str], repository: Path) -> tuple[Path, ...]:
    """What holds tokens or steers the job: the repository's `.git` and the runner's folders."""
    files = ("ENV", "OUTPUT", "PATH", "STATE", "STEP_SUMMARY", "EVENT_PATH")
    named = [environ.get(f"GITHUB_{name}") for name in files]
    folders = [Path(file).parent for file in named if file]
    if temporary := environ.get("RUNNER_TEMP"):
        folders.append(Path(temporary))
    if environ.get("GITHUB_ACTIONS") and (home := environ.get("HOME")):
        folders.append(Path(home))
    return tuple(dict.fromkeys(p for p in (repository / ".git", *folders) if p.exists()))


class Hidden:
    """Places that only their owners and root may look into, for as long as agents run.

    Their modes are put back at the end; until then nobody who owns them notices. Where agents
    share our uid there is nothing to gain, and nothing is touched.
    """

    def __init__(self, places: Iterable[Path]) -> None:
        self._places = tuple(places)
        self._modes: dict[Path, int] = {}
        self.warnings: tuple[Notice, ...] = ()

    def __enter__(self) -> Self:
        if _may_switch():
            self.warnings = tuple(w for place in self._places if (w := self._hide(place)))
        return self

    def __exit__(self, *_: object) -> None:
        for place, mode in self._modes.items():
            with suppress(FileNotFoundError):
                place.chmod(mode)

    def _hide(self, place: Path) -> Notice | None:
        try:
            mode = place.stat().st_mode & 0o7777
            if mode & 0o077:
                place.chmod(mode & 0o7700)
                self._modes[place] = mode
        except OSError as error:
            return notice("sandbox.not_hidden", place=place, error=error.strerror)
        return None


def _identity_for(needs: Iterable[Path]) -> tuple[Identity | None, Notice | None]:
    if not _may_switch():
        return None, notice("sandbox.same_user", uid=os.getuid())
    for place in needs:
        if blocked := blocked_at(place):
            return None, notice("sandbox.blocked", uid=os.getuid(), folder=blocked, place=place)
    return _claim_uid(), None


def _may_switch() -> bool:
    if not _ON_LINUX or os.geteuid() != 0:
        return False
    status = Path("/proc/self/status").read_text()
    held = int(status.partition("CapEff:")[2].split()[0], 16)
    return all(held >> capability & 1 for capability in _CAPABILITIES)


def blocked_at(place: Path) -> Path | None:
    """The first folder on the way, links followed, that is closed to everybody else."""
    absolute = place.absolute()
    if not absolute.exists():
        return absolute
    for folder in (*reversed(absolute.parents), absolute):
        if folder.is_symlink():
            if blocked := blocked_at(folder.parent / folder.readlink()):
                return blocked
        elif not folder.stat().st_mode & _SEARCH:
            return folder
    return None


def _claim_uid() -> Identity:
    """A uid without an account, a process or another gradegate; the kernel keeps the claim."""
    for uid in _agents_uids():
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0gradegate-agent-{uid}")
        except OSError:
            claim.close()
            continue
        if not _has_processes(uid):
            return Identity(uid, claim)
        claim.close()
    raise InputError(f"all uids from {_UIDS[0]} to {_UIDS[-1]} are in use: no agent can be run")


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


def _give(folder: Path, uid: int) -> None:
    """Make everything in a folder the uid's own; links are handed over, never followed."""
    folder.chmod(0o700)
    for top, folders, files in os.walk(folder):
        for name in (".", *folders, *files):
            os.chown(Path(top, name), uid, uid, follow_symlinks=False)


def _sweep(uid: int) -> Notice | None:
    """End all processes of the uid; again, should one of them end our helper first.

    Once the helper is through nobody of the uid can fork: what a look through /proc does not
    find any more is gone for good.
    """
    for _ in range(_SWEEPS):
        if not _has_processes(uid):
            return None
        helper = subprocess.run(supervisor("sweep", str(uid)), env=LIBRARIES, check=False)
        if helper.returncode == 0 and uid not in _uids_of_processes():
            return None
        time.sleep(_SETTLING)
    return notice("sandbox.not_ended", uid=uid)
