"""Keeps an agent, which runs the pull request's code, away from us and from the other side.

It sees of our environment what its suite names. As root the agent gets a uid that no other
process has, its checkout and a home for itself alone, and every process of that uid is ended with
the sandbox. Otherwise it shares our uid: still limited, still ended with all its descendants, and
our memory and environment closed to it, but this user's files are within its reach.
`Sandbox.warning` says so.
"""

import ctypes
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Self

from gradegate.agents.handover import give
from gradegate.agents.landlock import confinement
from gradegate.agents.launch import Launch, Limits
from gradegate.agents.uids import ON_LINUX, Identity, claim_uid, may_switch
from gradegate.files.temporary import remove
from gradegate.model.notice import Notice, notice
from gradegate.model.settings import Network
from gradegate.model.variables import own_names, refuse_tokens

_ALWAYS = ("PATH", "LANG", "LC_ALL")
_NOTHING: Mapping[str, str] = MappingProxyType({})
USUAL_PATH = "/usr/local/bin:/usr/bin:/bin"


def agent_environment(
    environ: Mapping[str, str],
    names: Mapping[str, str],
    home: Path,
    command: Sequence[str] = (),
) -> dict[str, str]:
    """PATH, the language, the variables a suite names, and a home of the agent's own.

    Args:
        environ: our own environment.
        names: the suite's `env`, by the names that the agent sees; what is not set is left out.
        home: an existing folder that the agent may write to.
        command: what will be started; a plain `python` is found even where PATH has none.

    Raises:
        InputError: a variable would hand the agent the job's token.
    """
    refuse_tokens(names.values(), environ)
    wanted = {**own_names(*_ALWAYS), **names}
    seen = {name: environ[source] for name, source in wanted.items() if source in environ}
    path = seen.get("PATH") or USUAL_PATH
    return {**seen, "PATH": _with_python(path, command), "HOME": str(home), "TMPDIR": str(home)}


def _with_python(path: str, command: Sequence[str]) -> str:
    wanted = command[0] if command else ""
    if wanted not in ("python", "python3") or shutil.which(wanted, path=path):
        return path
    return f"{path}:{Path(sys.executable).parent}"


_PR_SET_DUMPABLE = 4
_SEARCH = 0o001


class Sandbox:
    """Where and as whom one side's agent of one suite runs, until it is closed."""

    def __init__(
        self, checkout: Path, homes: Path, identity: Identity | None, warning: Notice | None
    ) -> None:
        self.checkout = checkout
        self._homes = homes
        self.warning = warning
        """What this machine could not do to keep the agent apart; None where it could."""
        self._identity = identity
        self.home = self._new_home()

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
        # Homes lie in a folder of ours: in one of the agent's it could put links in their place.
        homes = Path(tempfile.mkdtemp(prefix="homes-", dir=folder))
        if identity:
            for place in (folder, homes):
                place.chmod(0o711)
            give(checkout, identity.uid)
        return cls(checkout, homes, identity, warning)

    @property
    def user(self) -> tuple[int, int] | None:
        """The agent's uid and gid; None where they are ours."""
        return self._identity.user if self._identity else None

    def launch(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        names: Mapping[str, str] = _NOTHING,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        network: Network = "open",
    ) -> Launch:
        """How to start a program in here, which sees only these variables of ours."""
        env = agent_environment(environ, names, self.home, command)
        held = confinement((self.checkout, self._homes), network)
        return Launch(command, self.checkout, env, self.user, limits, held)

    def renewed(self, launch: Launch, fresh: str | None = None) -> Launch:
        """The same in a home that no process had before; the variable has a value of its own."""
        home = self._new_home()
        salt = {fresh: secrets.token_hex(8)} if fresh else {}
        env = {**launch.env, "HOME": str(home), "TMPDIR": str(home), **salt}
        return replace(launch, env=env)

    def _new_home(self) -> Path:
        home = Path(tempfile.mkdtemp(dir=self._homes))
        if self._identity:
            give(home, self._identity.uid)
        return home

    def blocked_at(self, place: Path) -> Path | None:
        """The folder that keeps the agent from a place it needs; None where it gets there."""
        return blocked_at(place) if self._identity else None

    def close(self) -> None:
        """End whatever is left of the agent, and remove its homes."""
        if self._identity:
            self.warning = self._identity.give_up() or self.warning
            self._identity = None
        remove(self._homes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def shield_process() -> None:
    """Close our memory and environment to other processes, those of our own uid included."""
    if ON_LINUX and ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _identity_for(needs: Iterable[Path]) -> tuple[Identity | None, Notice | None]:
    if not may_switch():
        return None, notice("sandbox.same_user", uid=os.getuid())
    for place in needs:
        if blocked := blocked_at(place):
            return None, notice("sandbox.blocked", uid=os.getuid(), folder=blocked, place=place)
    return claim_uid(), None


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
