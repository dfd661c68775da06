"""Which uv to call, and what its calls come to: each under our supervisor, within limits."""

import re
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from gradegate.agents.landlock import confinement
from gradegate.agents.launch import Launch, Limits, run_to_end
from gradegate.agents.sandbox import blocked_at
from gradegate.files.temporary import temporary_folder
from gradegate.model.notice import Notice, notice

LIMITS = Limits(memory_mb=8192, file_mb=8192, processes=4096)
"""A compiler may need more than an agent does."""
_TAIL = 15
_PREAMBLE = re.compile(r"(Using|Creating|Activate|Resolved|Prepared|Installed|Built|Downloading)\b")
_RAISED = re.compile(r"\s+([\w.]+(Error|Exception|NotFound)|error)(: |$)")
_CAUSE = re.compile(r"\s*(cause: |╰─▶ )")
_MARKS = re.compile(r"^[\s│╰─▶]*(cause: )?")


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
        with temporary_folder("uv") as folder:
            copy = _copied(uv, folder)
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


@dataclass(frozen=True)
class UvResult:
    """What came of a call."""

    ok: bool
    output: str

    @property
    def why(self) -> str:
        """The cause of a failure, and the end of the rest of what was said."""
        said = [line for line in self.output.strip().splitlines() if not _PREAMBLE.match(line)]
        number = _cause(said)
        if number is None:
            return "\n".join(said[-_TAIL:])
        rest = said[:number] + said[number + 1 :]
        return "\n".join([_MARKS.sub("", said[number]), *rest[-_TAIL:]])


def _cause(said: Sequence[str]) -> int | None:
    """The line of a build's own exception, else the deepest cause that uv names."""
    for pattern in (_RAISED, _CAUSE):
        found = [number for number, line in enumerate(said) if pattern.match(line)]
        if found:
            return found[-1]
    return None


@dataclass(frozen=True)
class Calls:
    """Calls of uv with the same folder, environment and user."""

    uv: str
    folder: Path
    env: Mapping[str, str]
    user: tuple[int, int] | None
    writes: tuple[Path, ...] = ()
    """Where they may write, if they have a user of their own. Else their cache is the user's."""

    async def call(
        self, *arguments: str, seconds: float, env: Mapping[str, str] | None = None
    ) -> UvResult:
        """Have uv do something."""
        return await self.run([self.uv, "--no-progress", *arguments], seconds, env)

    async def run(
        self,
        command: Sequence[str],
        seconds: float,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> UvResult:
        """Run a program to its end or until its time is up; nothing it started outlives it."""
        seen = {**self.env, **(env or {})}
        held = confinement(self.writes) if self.user else None
        launch = Launch(command, cwd or self.folder, seen, self.user, LIMITS, held)
        try:
            ended = await run_to_end(launch, seconds)
        except TimeoutError:
            return UvResult(ok=False, output=f"it took longer than {seconds:.0f} s")
        except OSError as error:
            return UvResult(ok=False, output=f"{command[0]} cannot be started: {error.strerror}")
        return UvResult(ended.code == 0, ended.output)
