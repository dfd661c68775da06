"""Environments of agents, made with uv: one for all that need the same, kept between runs.

uv runs as the agent's user, also where that user cannot get to where our uv is.
"""

import asyncio
import fcntl
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gradegate.agents.requirements import DEFAULT_ADK, Kind, Recipe
from gradegate.agents.sandbox import USUAL_PATH, blocked_at
from gradegate.model.notice import Notice, notice


def find_uv(environ: Mapping[str, str]) -> str | None:
    """The uv on PATH, or the one installed beside us."""
    return next(found_uvs(environ), None)


def found_uvs(environ: Mapping[str, str]) -> Iterator[str]:
    """Every one of them."""
    for path in (environ.get("PATH", ""), str(Path(sys.executable).parent)):
        if found := shutil.which("uv", path=path):
            yield found


@asynccontextmanager
async def uv_for_others(
    found: Sequence[str], runs: Callable[[str], Awaitable[bool]]
) -> AsyncIterator[tuple[str, str] | Notice]:
    """The first uv that another user can run: its path, and where that user finds it.

    Where it is closed to others, as in root's home, that is a copy which only we can change,
    for as long as the context lasts. A notice says why there is none.
    """
    blocked = None
    for uv in found:
        blocked = blocked_at(Path(uv))
        if blocked is None:
            yield uv, uv
            return
        with tempfile.TemporaryDirectory(prefix="gradegate-uv-") as folder:
            copy = _copied(uv, Path(folder))
            if await runs(copy):
                yield uv, copy
                return
    if found:
        yield notice("uv.closed", uv=found[-1], folder=blocked)
    else:
        yield notice("uv.missing")


def _copied(uv: str, folder: Path) -> str:
    folder.chmod(0o755)
    copy = shutil.copyfile(uv, folder / "uv")
    copy.chmod(0o755)
    return str(copy)


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
_READY = ".ready"
_TAIL = 15
_TIME_LIMIT = 900.0
_POLL = 0.1
_UNUSED = 30 * 24 * 3600.0
"""Seconds after which an environment that nobody asked for makes room."""
_HAS_ADK = "import importlib.metadata as m; m.version('google-adk')"


@dataclass(frozen=True)
class NotBuilt:
    """Why there is no environment, with the end of what uv said."""

    why: Notice


@dataclass(frozen=True)
class EnvironmentBuilder:
    """Makes environments below `cache`, as `user` where that is given.

    What is installed can run code while it is installed, so uv sees no more of our
    environment than it needs, and what it made as another user is ours afterwards: neither
    that code nor the agent can change it for those who use it next.
    """

    cache: Path
    environ: Mapping[str, str] = field(repr=False)
    named: Sequence[str] = ()
    """Variables the suite names; those that are uv's own are handed on."""
    user: tuple[int, int] | None = None
    spare: Path | None = None
    """An existing folder for what cannot be kept, because `user` cannot get to `cache`."""
    time_limit: float = _TIME_LIMIT

    async def build(self, recipe: Recipe) -> Path | NotBuilt:
        """The interpreter of an environment with all that the recipe asks for."""
        with tempfile.TemporaryDirectory(prefix="gradegate-uv-") as home:
            self._hand_over(Path(home))
            work = _Work("uv", recipe.folder, self._environment(home), self.user)
            async with self._uv(work) as uv:
                if isinstance(uv, Notice):
                    return NotBuilt(uv)
                name, program = uv
                return await self._in_home(recipe, replace(work, uv=program), name)

    @asynccontextmanager
    async def _uv(self, work: "_Work") -> AsyncIterator[tuple[str, str] | Notice]:
        """What uv is called and where to start it, or why it cannot be."""
        if self.user is None:
            uv = find_uv(self.environ)
            yield (uv, uv) if uv else notice("uv.missing")
            return

        async def runs(program: str) -> bool:
            return (await work.run([program, "--version"], 60, cwd=Path("/"))).ok

        async with uv_for_others(list(found_uvs(self.environ)), runs) as found:
            yield found

    async def _in_home(self, recipe: Recipe, work: "_Work", uv: str) -> Path | NotBuilt:
        found = await work.call("python", "find", "--system", "--resolve-links", seconds=60)
        request = found.output.strip() if found.ok else None
        place = await self._folder(work) / recipe.key(f"{request} {uv}")
        async with _locked(place.with_suffix(".lock")):
            if not (place / _READY).is_file():
                failed = await self._make(recipe, work, place, request)
                if failed:
                    shutil.rmtree(place, ignore_errors=True)
                    return failed
            (place / _READY).touch()
        return place / "venv" / "bin" / "python"

    async def _folder(self, work: "_Work") -> Path:
        """Where to look for it; what only we may enter is of no use to another user."""
        self._make_cache()
        enters = await work.run(["test", "-x", str(self.cache)], 10, cwd=Path("/"))
        return self.cache if enters.ok or self.spare is None else self.spare

    def _make_cache(self) -> None:
        self.cache.mkdir(parents=True, exist_ok=True)

    async def _make(
        self, recipe: Recipe, work: "_Work", place: Path, request: str | None
    ) -> NotBuilt | None:
        self._clear(place)
        deadline = time.monotonic() + self.time_limit
        env = {
            "UV_PROJECT_ENVIRONMENT": str(place / "venv"),
            "UV_PYTHON_INSTALL_DIR": str(place / "python"),
        }
        python = str(place / "venv" / "bin" / "python")
        for step in _steps(recipe, place / "venv", request):
            done = await work.call(*step, seconds=deadline - time.monotonic(), env=env)
            if not done.ok:
                return NotBuilt(notice("uv.failed", what=_what(recipe), tail=done.tail))
        if not (await work.run([python, "-I", "-c", _HAS_ADK], 60)).ok:
            adk = ["pip", "install", "--python", python, DEFAULT_ADK]
            done = await work.call(*adk, seconds=deadline - time.monotonic())
            if not done.ok:
                return NotBuilt(notice("uv.failed", what=DEFAULT_ADK, tail=done.tail))
        self._take_back(place)
        (place / _READY).write_text(f"{_what(recipe).text}\n", encoding="utf-8")
        return None

    def _environment(self, home: str) -> dict[str, str]:
        named = [name for name in self.named if name.startswith("UV_")]
        seen = {n: self.environ[n] for n in (*_PASSED_ON, *named) if n in self.environ}
        ours = Path(sys.executable).resolve().parent
        path = f"{self.environ.get('PATH') or USUAL_PATH}:{ours}"
        if self.user is None:
            kept = {"HOME": self.environ.get("HOME", home)}
        else:
            seen.pop("UV_CACHE_DIR", None)
            kept = {"HOME": home, "UV_NO_CACHE": "1"}
        return {**seen, **kept, "PATH": path, "TMPDIR": home, "UV_COMPILE_BYTECODE": "1"}

    def _clear(self, place: Path) -> None:
        shutil.rmtree(place, ignore_errors=True)
        _drop_unused(place.parent)
        place.mkdir()
        self._hand_over(place)

    def _hand_over(self, place: Path) -> None:
        place.chmod(0o755)
        if self.user is not None:
            os.chown(place, *self.user)

    def _take_back(self, place: Path) -> None:
        if self.user is None:
            return
        for folder, folders, files in os.walk(place):
            for name in (".", *folders, *files):
                path = Path(folder, name)
                os.chown(path, os.getuid(), os.getgid(), follow_symlinks=False)
                if not path.is_symlink():
                    path.chmod(path.stat().st_mode & 0o755)


def _steps(recipe: Recipe, venv: Path, request: str | None) -> list[list[str]]:
    """What to ask of uv, in order."""
    choose = ["--python", request] if request else []
    steps = [["venv", "--no-project", *choose, str(venv)]]
    into = ["pip", "install", "--python", str(venv / "bin" / "python")]
    match recipe.kind:
        case Kind.LOCKED:
            steps.append(["sync", "--frozen", "--no-install-project", "--no-dev"])
        case Kind.PROJECT:
            steps.append([*into, "-r", str(recipe.folder / "pyproject.toml")])
        case Kind.REQUIREMENTS:
            steps.append([*into, "-r", str(recipe.file)])
        case Kind.NOTHING:
            pass
    return steps


def _what(recipe: Recipe) -> Notice:
    if recipe.file:
        return Notice(text=recipe.file.name)
    return notice("uv.listed", file=f"{recipe.folder.name}/{recipe.kind}")


@dataclass(frozen=True)
class _Done:
    ok: bool
    output: str

    @property
    def tail(self) -> str:
        return "\n".join(self.output.strip().splitlines()[-_TAIL:])


@dataclass(frozen=True)
class _Work:
    """Calls of uv with the same folder, environment and user."""

    uv: str
    folder: Path
    env: Mapping[str, str]
    user: tuple[int, int] | None

    async def call(
        self, *arguments: str, seconds: float, env: Mapping[str, str] | None = None
    ) -> _Done:
        """Have uv do something."""
        return await self.run([self.uv, "--no-progress", *arguments], seconds, env)

    async def run(
        self,
        command: Sequence[str],
        seconds: float,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> _Done:
        """Run a program to its end or until its time is up."""
        as_whom: dict[str, Any] = {}
        if self.user:
            as_whom = {"user": self.user[0], "group": self.user[1], "extra_groups": []}
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=cwd or self.folder,
                env={**self.env, **(env or {})},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
                **as_whom,
            )
        except OSError as error:
            return _Done(ok=False, output=f"{command[0]} cannot be started: {error.strerror}")
        try:
            async with asyncio.timeout(seconds):
                output, _ = await process.communicate()
        except TimeoutError:
            return _Done(ok=False, output=f"it took longer than {seconds:.0f} s")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        return _Done(process.returncode == 0, output.decode(errors="replace"))


@asynccontextmanager
async def _locked(file: Path) -> AsyncIterator[None]:
    """Alone among all tasks and processes; the lock of one that died is free."""
    with file.open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(_POLL)
        yield


def _drop_unused(environments: Path) -> None:
    """Make room: an environment takes 100 MB and more."""
    for ready in environments.glob(f"*/{_READY}"):
        if time.time() - ready.stat().st_mtime > _UNUSED:
            ready.unlink(missing_ok=True)
            shutil.rmtree(ready.parent, ignore_errors=True)
