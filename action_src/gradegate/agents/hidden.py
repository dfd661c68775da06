"""What holds tokens or steers the job, closed to agents for as long as they run.

A folder's mode is written down before it is changed: should we be killed, the next run on the
repository puts it back. That is kept in the repository's `.git`, which is among the places that
are hidden, and where nothing comes by a pull request.
"""

import fcntl
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from gradegate.agents.handover import FOLDER
from gradegate.agents.uids import may_switch
from gradegate.model.notice import Notice, notice

RECORD = "gradegate-modes"
"""The file in which the modes are."""
_USERS = "gradegate-modes.users"
"""One that each run has a shared lock on while it hides; a run that died has none."""
_PLACE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LOCKED = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_BY_OTHERS = 0o077


def private_places(environ: Mapping[str, str], repository: Path) -> tuple[Path, ...]:
    """What holds tokens or steers the job: the repository's `.git` and the runner's folders."""
    files = ("ENV", "OUTPUT", "PATH", "STATE", "STEP_SUMMARY", "EVENT_PATH")
    named = [environ.get(f"GITHUB_{name}") for name in files]
    folders = [Path(file).parent for file in named if file]
    if temporary := environ.get("RUNNER_TEMP"):
        folders.append(Path(temporary))
    if environ.get("GITHUB_ACTIONS") and (home := environ.get("HOME")):
        folders.append(Path(home))
    return tuple(dict.fromkeys(p for p in (git_folder(repository), *folders) if p.exists()))


def git_folder(repository: Path) -> Path:
    """The folder that git keeps a repository in, which a linked work tree shares with others."""
    place = repository / ".git"
    if place.is_file():
        own = repository / place.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        shared = own / "commondir"
        place = own / shared.read_text(encoding="utf-8").strip() if shared.is_file() else own
    return place.resolve()


def record_folder(repository: Path, cache: Path) -> Path:
    """Where modes are written down: with the repository, or in our cache where there is none."""
    place = git_folder(repository)
    if place.is_dir():
        return place
    cache.mkdir(parents=True, exist_ok=True)
    return cache


class Hidden:
    """Places that only their owners and root may look into, for as long as agents run.

    Their modes are put back when the last run that hides them ends; until then nobody who owns
    them notices. Where agents share our uid there is nothing to gain, and nothing is touched.

    Args:
        places: what to hide.
        record: the folder in which their modes are written down.
    """

    def __init__(self, places: Iterable[Path], record: Path) -> None:
        self._places = tuple(places)
        self._record = _Record(record) if may_switch() else None
        self.warnings: tuple[Notice, ...] = ()

    def __enter__(self) -> Self:
        if self._record:
            with self._record.changing():
                self._record.put_back_if_unused()
                self._record.use()
                self.warnings = tuple(w for place in self._places if (w := self._hide(place)))
        return self

    def __exit__(self, *_: object) -> None:
        if self._record:
            with self._record.changing():
                self._record.leave()
                self._record.put_back_if_unused()
            self._record.close()

    def _hide(self, place: Path) -> Notice | None:
        assert self._record  # noqa: S101 - else nothing is hidden
        try:
            with _opened(place.resolve()) as folder:
                mode = stat.S_IMODE(os.fstat(folder).st_mode)
                if mode & _BY_OTHERS:
                    self._record.note(place.resolve(), mode)
                    os.fchmod(folder, mode & ~_BY_OTHERS)
        except OSError as error:
            return notice("sandbox.not_hidden", place=place, error=error.strerror)
        return None


def put_back(record: Path) -> None:
    """Put back the modes that a run changed which was killed."""
    with Hidden((), record):
        pass


class _Record:
    """The modes that are to be put back, and whether some run still wants them hidden.

    Only root's word counts, and it is never half written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = os.open(folder, FOLDER)
        self._users: int | None = None

    def close(self) -> None:
        """It is not needed any more."""
        os.close(self._folder)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """No other run reads or changes it meanwhile."""
        fcntl.flock(self._folder, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._folder, fcntl.LOCK_UN)

    def use(self) -> None:
        """Have the modes stay as they are until we leave, or end."""
        self._users = self._open_users()
        fcntl.flock(self._users, fcntl.LOCK_SH)

    def leave(self) -> None:
        """We hide nothing any more."""
        if self._users is not None:
            os.close(self._users)
            self._users = None

    def note(self, place: Path, mode: int) -> None:
        """Have a mode on the disk, before it is changed; the first that was noted counts."""
        modes = {str(place): mode, **self._noted()}
        new = f"{RECORD}.new"
        self._drop(new)
        with open(os.open(new, _NEW, 0o600, dir_fd=self._folder), "w") as file:  # noqa: PTH123 - a descriptor
            json.dump(modes, file)
            file.flush()
            os.fsync(file.fileno())
        os.rename(new, RECORD, src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def put_back_if_unused(self) -> None:
        """Have the modes as they were, unless another run wants them hidden."""
        users = self._open_users()
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for place, mode in self._noted().items():
                with suppress(OSError), _opened(Path(place)) as folder:
                    os.fchmod(folder, mode)
            self._drop(RECORD)
            self._drop(_USERS)
        except BlockingIOError:
            return
        finally:
            os.close(users)

    def _open_users(self) -> int:
        return os.open(_USERS, _LOCKED, 0o600, dir_fd=self._folder)

    def _noted(self) -> dict[str, int]:
        try:
            file = os.open(RECORD, _PLACE, dir_fd=self._folder)
        except OSError:
            return {}
        with open(file, encoding="utf-8") as noted:  # noqa: PTH123 - a descriptor
            status = os.fstat(file)
            is_ours = status.st_uid == os.geteuid() and not status.st_mode & _BY_OTHERS
            return dict(json.load(noted)) if is_ours and status.st_nlink == 1 else {}

    def _drop(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._folder)


@contextmanager
def _opened(place: Path) -> Iterator[int]:
    opened = os.open(place, _PLACE)
    try:
        yield opened
    finally:
        os.close(opened)
