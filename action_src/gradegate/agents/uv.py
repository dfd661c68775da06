"""Environments of agents, made with uv: one for all that need the same, kept between runs.

What is installed can run code while it is installed, so a build is treated as an agent is: its
own user where we are root, our supervisor, limits, no more of our environment than uv needs, and
only the files that are in the environment's key. What it made is ours afterwards: neither that
code nor an agent can change it for those who use it next.
"""

import asyncio
import fcntl
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from gradegate.agents.handover import copy_tree, give, take_back, write_new
from gradegate.agents.requirements import DEFAULT_ADK, Kind, Recipe
from gradegate.agents.sandbox import USUAL_PATH
from gradegate.agents.uids import Identity, claim_uid
from gradegate.agents.uv_calls import Calls, find_uv, found_uvs, uv_for_others
from gradegate.files.temporary import remove, temporary_folder
from gradegate.model.notice import Notice, notice
from gradegate.model.variables import own_names, refuse_tokens

_PASSED_ON = (
    "LANG",
    "LC_ALL",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "UV_SYSTEM_CERTS",
    "UV_OFFLINE",
    "UV_CACHE_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
)
_READY, _LOCK = ".ready", ".lock"
"""Beside an environment, never in it: it is handed over while it is made."""
_NEW = "new-"
_SOURCE, _VENV, _PYTHONS = "source", "venv", "python"
_BARRIER = "# uv looks for settings and projects in the folders above `source`, up to here.\n"
_TIME_LIMIT = 900.0
_POLL = 0.1
_UNUSED = 30 * 24 * 3600.0
"""Seconds after which an environment that nobody asked for makes room."""
_ABANDONED = 24 * 3600.0
"""Seconds after which nobody is at work any more on what is not even named."""
_HAS_ADK = "import importlib.metadata as m; m.version('google-adk')"


@dataclass(frozen=True)
class NotBuilt:
    """Why there is no environment, with the end of what uv said."""

    why: Notice


@dataclass(frozen=True)
class EnvironmentBuilder:
    """Makes environments below `cache`."""

    cache: Path
    environ: Mapping[str, str] = field(repr=False)
    named: Mapping[str, str] = field(default_factory=dict)
    """Variables the suite names, by the names in there; those that are uv's own are handed on."""
    apart: bool = False
    """Whether to build under a uid that is the build's alone, which takes root."""
    spare: Path | None = None
    """An existing folder for what cannot be kept, because other users cannot get to `cache`."""
    time_limit: float = _TIME_LIMIT

    async def build(self, recipe: Recipe) -> Path | NotBuilt:
        """The interpreter of an environment with all that the recipe asks for."""
        with _identity(apart=self.apart) as identity, _home(identity) as home:
            user = identity.user if identity else None
            calls = Calls("uv", Path("/"), self._environment(str(home)), user, (home,))
            async with self._uv(calls) as uv:
                if isinstance(uv, Notice):
                    return NotBuilt(uv)
                name, program = uv
                work = _Work(recipe, replace(calls, uv=program), name, identity, self.time_limit)
                return await work.done_in(await self._folder(calls))

    @asynccontextmanager
    async def _uv(self, calls: Calls) -> AsyncIterator[tuple[str, str] | Notice]:
        """What uv is called and where to start it, or why it cannot be."""
        if not self.apart:
            uv = find_uv(self.environ)
            yield (uv, uv) if uv else notice("uv.missing")
            return

        async def runs(program: str) -> bool:
            return (await calls.run([program, "--version"], 60)).ok

        async with uv_for_others(list(found_uvs(self.environ)), runs) as found:
            yield found

    async def _folder(self, calls: Calls) -> Path:
        """Where to look for it; what only we may enter is of no use to another user."""
        self._make_cache()
        enters = await calls.run(["test", "-x", str(self.cache)], 10)
        return self.cache if enters.ok or self.spare is None else self.spare

    def _make_cache(self) -> None:
        self.cache.mkdir(parents=True, exist_ok=True)

    def _environment(self, home: str) -> dict[str, str]:
        named = {name: of for name, of in self.named.items() if name.startswith("UV_")}
        refuse_tokens(named.values(), self.environ)
        wanted = {**own_names(*_PASSED_ON), **named}
        seen = {name: self.environ[of] for name, of in wanted.items() if of in self.environ}
        ours = Path(sys.executable).resolve().parent
        path = f"{self.environ.get('PATH') or USUAL_PATH}:{ours}"
        if self.apart:
            seen.pop("UV_CACHE_DIR", None)
            kept = {"HOME": home, "UV_NO_CACHE": "1", "UV_LINK_MODE": "copy"}
        else:
            kept = {"HOME": self.environ.get("HOME", home)}
        return {**seen, **kept, "PATH": path, "TMPDIR": home, "UV_COMPILE_BYTECODE": "1"}


@dataclass(frozen=True)
class _Work:
    """One environment to be had."""

    recipe: Recipe
    calls: Calls
    uv: str
    """What uv is called, wherever it is started from."""
    identity: Identity | None
    time_limit: float

    async def done_in(self, folder: Path) -> Path | NotBuilt:
        """The interpreter, made unless it is there."""
        new = Path(tempfile.mkdtemp(prefix=_NEW, dir=folder))
        try:
            return await self._found_or_made(folder, new)
        except OSError as error:
            return NotBuilt(notice("uv.failed", what=_what(self.recipe), tail=error))
        finally:
            remove(new)

    async def _found_or_made(self, folder: Path, new: Path) -> Path | NotBuilt:
        shown = await asyncio.to_thread(_show, self.recipe, new)
        there = replace(self.calls, folder=shown.folder)
        wanted = [shown.python] if shown.python else []
        options = ("--system", "--resolve-links")
        found = await there.call("python", "find", *options, *wanted, seconds=60)
        request = (
            found.output.strip().splitlines()[-1] if found.ok and found.output else shown.python
        )
        place = folder / shown.key(f"{request} {self.uv}")
        async with _locked(place.with_suffix(_LOCK)):
            ready = place.with_suffix(_READY)
            if not ready.is_file():
                _make_room(place, new)
                try:
                    failed = await self._make(place, request)
                    if failed:
                        return failed
                    write_new(ready)
                finally:
                    if not ready.is_file():
                        remove(place)
        return place / _VENV / "bin" / "python"

    async def _make(self, place: Path, request: str | None) -> NotBuilt | None:
        """Have uv fill the place, and have it back, whatever came of it."""
        parts = [place / name for name in (_SOURCE, _VENV, _PYTHONS)]
        for part in parts:
            part.mkdir(exist_ok=True)
            if self.identity:
                give(part, self.identity.uid)
        try:
            failed = await self._fill(place, parts, request)
        finally:
            left = self.identity.end_processes() if self.identity else None
        if left or failed:
            return NotBuilt(left) if left else failed
        if self.identity:
            for part in parts:
                take_back(part)
        return None

    async def _fill(
        self, place: Path, parts: Sequence[Path], request: str | None
    ) -> NotBuilt | None:
        recipe = self.recipe.within(place / _SOURCE)
        writes = (*self.calls.writes, *parts)
        calls = replace(self.calls, folder=recipe.folder, writes=writes)
        deadline = time.monotonic() + self.time_limit
        env = {
            "UV_PROJECT_ENVIRONMENT": str(place / _VENV),
            "UV_PYTHON_INSTALL_DIR": str(place / _PYTHONS),
        }
        for step in _steps(recipe, place, request):
            done = await calls.call(*step, seconds=deadline - time.monotonic(), env=env)
            if not done.ok:
                return NotBuilt(notice("uv.failed", what=_what(recipe), tail=done.why))
        python = str(place / _VENV / "bin" / "python")
        if not (await calls.run([python, "-I", "-c", _HAS_ADK], 60)).ok:
            adk = ["pip", "install", "--python", python, DEFAULT_ADK]
            done = await calls.call(*adk, seconds=deadline - time.monotonic())
            if not done.ok:
                return NotBuilt(notice("uv.failed", what=DEFAULT_ADK, tail=done.why))
        return None


def _make_room(place: Path, new: Path) -> None:
    """Have what is new in a place where there may be something half made."""
    _drop_unused(place.parent)
    place.with_suffix(_READY).unlink(missing_ok=True)
    remove(place)
    new.rename(place)


def _show(recipe: Recipe, place: Path) -> Recipe:
    """Put the files that uv is to see below a place of ours, and nothing else within its reach."""
    place.chmod(0o755)
    copy = place / "copy"
    copy_tree(recipe.top, copy)
    shown = recipe.within(place / _SOURCE)
    shown.folder.mkdir(parents=True)
    for name in recipe.within(copy).files():
        target = place / _SOURCE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (copy / name).rename(target)
    remove(copy)
    for name in ("pyproject.toml", "uv.toml"):
        write_new(place / name, _BARRIER)
        (place / name).chmod(0o644)
    return shown


def _steps(recipe: Recipe, place: Path, request: str | None) -> list[list[str]]:
    """What to ask of uv, in order."""
    venv = place / _VENV
    choose = ["--python", request] if request else []
    steps = [["venv", "--no-project", *choose, str(venv)]]
    into = ["pip", "install", "--python", str(venv / "bin" / "python")]
    match recipe.kind:
        case Kind.LOCKED:
            steps.append(["sync", "--frozen", "--no-install-project", "--no-dev"])
        case Kind.PROJECT:
            steps.append([*into, *_of_project(recipe, place)])
        case Kind.REQUIREMENTS:
            steps.append([*into, "-r", str(recipe.file)])
        case Kind.NOTHING:
            pass
    return steps


def _of_project(recipe: Recipe, place: Path) -> list[str]:
    """Which files uv is to go by: the project's own, unless it takes us to read that."""
    needs, pins = recipe.read_needs(), recipe.pins()
    file = recipe.folder / "pyproject.toml"
    if needs is not None:
        file = _written(place / "needs.txt", needs)
    if not pins:
        return ["-r", str(file)]
    return ["-r", str(file), "-c", str(_written(place / "pins.txt", pins))]


def _written(file: Path, lines: Sequence[str]) -> Path:
    write_new(file, "".join(f"{line}\n" for line in lines))
    file.chmod(0o644)
    return file


def _what(recipe: Recipe) -> Notice:
    if recipe.file:
        return Notice(text=recipe.file.name)
    return notice("uv.listed", file=f"{recipe.folder.name}/{recipe.kind}")


@contextmanager
def _identity(*, apart: bool) -> Iterator[Identity | None]:
    """A user for one build, which nobody is any more afterwards."""
    identity = claim_uid() if apart else None
    try:
        yield identity
    finally:
        if identity:
            identity.give_up()


@contextmanager
def _home(identity: Identity | None) -> Iterator[Path]:
    """A folder for what a build leaves lying about."""
    with temporary_folder("uv") as folder:
        home = folder / "home"
        home.mkdir()
        if identity:
            folder.chmod(0o711)
            give(home, identity.uid)
        try:
            yield home
        finally:
            if identity:
                identity.end_processes()
            remove(home)


@asynccontextmanager
async def _locked(file: Path) -> AsyncIterator[None]:
    """Alone among all tasks and processes; the lock of one that died is free."""
    lock = _open_lock(file)
    try:
        while not _lock(lock):  # noqa: ASYNC110 - other processes hold it too
            await asyncio.sleep(_POLL)
        os.utime(lock)
        yield
    finally:
        os.close(lock)


def _open_lock(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _drop_unused(environments: Path) -> None:
    """Make room: an environment takes 100 MB and more."""
    for new in environments.glob(f"{_NEW}*"):
        if time.time() - new.lstat().st_mtime > _ABANDONED:
            remove(new)
    for file in environments.glob(f"*{_LOCK}"):
        if time.time() - file.lstat().st_mtime <= _UNUSED:
            continue
        lock = _open_lock(file)
        if _lock(lock):
            file.with_suffix(_READY).unlink(missing_ok=True)
            remove(file.with_suffix(""))
        os.close(lock)
