"""The uv that makes agents' environments, also for a user who cannot get to where it is."""

import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from gradegate.agents.isolation import blocked_at

MISSING = "uv is not installed: `pip install uv`, or name an interpreter with `python`"


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
) -> AsyncIterator[tuple[str, str] | str]:
    """The first uv that another user can run: its path, and where that user finds it.

    Where it is closed to others, as in root's home, that is a copy which only we can change,
    for as long as the context lasts. A string says why there is none.
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
    yield _why_not(found[-1], blocked) if found else MISSING


def _copied(uv: str, folder: Path) -> str:
    folder.chmod(0o755)
    copy = shutil.copyfile(uv, folder / "uv")
    copy.chmod(0o755)
    return str(copy)


def _why_not(uv: str, blocked: Path | None) -> str:
    return (
        f"the agent's user cannot run {uv}: nobody else gets through {blocked}, and a copy of it "
        "alone does not run; install uv where everybody may run it, such as /usr/local/bin, or "
        "name an interpreter with `python`"
    )
