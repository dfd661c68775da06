"""What is started under the supervisor: as whom, where, and within which limits."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

from gradegate.agents.landlock import Confinement

P = TypeVar("P")

LIBRARIES = {k: v for k, v in os.environ.items() if k == "LD_LIBRARY_PATH"}
"""All that our own interpreter may need of our environment to start once more."""
_KEPT = 1 << 20
_READ = 1 << 16


@dataclass(frozen=True)
class Limits:
    """What one of the program's processes may use, and how many of them there may be."""

    memory_mb: int = 4096
    """Of data: reserved addresses are free, as some runtimes reserve far more than they use."""
    cpu_seconds: int = 3600
    file_mb: int = 1024
    processes: int = 1024
    """Threads included. Counted by uid: it holds only under a uid that is the program's alone."""

    def as_resources(self, *, own_uid: bool) -> dict[str, int]:
        """The same by the names of the resource module."""
        limits = {
            "RLIMIT_DATA": self.memory_mb << 20,
            "RLIMIT_CPU": self.cpu_seconds,
            "RLIMIT_FSIZE": self.file_mb << 20,
            "RLIMIT_CORE": 0,
        }
        return limits | ({"RLIMIT_NPROC": self.processes} if own_uid else {})


@dataclass(frozen=True)
class Launch:
    """What to start, where, as whom, and within which limits."""

    command: Sequence[str]
    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    user: tuple[int, int] | None = None
    """Uid and gid to switch to; None keeps ours."""
    limits: Limits = Limits()
    confinement: Confinement | None = None
    """None: nothing but its user and its limits hold it."""

    def order(self) -> bytes:
        """The same for the supervisor. Not on its command line: anyone may read that."""
        order = {
            "parent": os.getpid(),
            "command": list(self.command),
            "cwd": str(self.cwd),
            "env": dict(self.env),
            "user": self.user,
            "limits": self.limits.as_resources(own_uid=self.user is not None),
            "confinement": asdict(self.confinement) if self.confinement else None,
        }
        return json.dumps(order).encode()


class Ended(NamedTuple):
    """How a program ended that was run to its end."""

    code: int
    output: str
    """The last of what it wrote."""


def supervisor(*arguments: str) -> list[str]:
    """The command that runs our supervisor, which nothing around it can influence."""
    script = Path(__file__).with_name("supervisor.py")
    return [sys.executable, "-I", "-S", str(script), *arguments]


async def start(
    launch: Launch,
    spawn: Callable[..., Awaitable[P]],
    end: Callable[[P], Awaitable[None]],
) -> P:
    """Have `spawn` start the supervisor, and give it the order.

    Raises:
        OSError: why the program cannot be started. What was spawned has been ended.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        started = await spawn(
            *supervisor("run", str(theirs.fileno())),
            env=LIBRARIES,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        try:
            trouble = await asyncio.to_thread(_hand_over, ours, launch.order())
        except BaseException:
            await asyncio.shield(end(started))
            raise
    if trouble:
        await end(started)
        raise OSError(*json.loads(trouble))
    return started


async def run_to_end(launch: Launch, seconds: float) -> Ended:
    """Run a program until it ends, and all it started with it.

    Raises:
        OSError: why it cannot be started.
        TimeoutError: it took longer.
    """
    process = await start(launch, _spawn, _end)
    try:
        async with asyncio.timeout(seconds):
            output = await _last_of(process)
            code = await process.wait()
    finally:
        await asyncio.shield(_end(process))
    return Ended(code, output.decode(errors="replace"))


async def _spawn(*command: str, **how: object) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        **how,  # type: ignore[arg-type]  # as `start` names it
    )


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ask the supervisor to end; never killed, as then nobody would end what is below it."""
    with suppress(ProcessLookupError):
        process.terminate()
    await _last_of(process)
    await process.wait()


async def _last_of(process: asyncio.subprocess.Process) -> bytes:
    """What it writes until nobody can write any more, but for what is too much to keep."""
    assert process.stdout  # noqa: S101 - a pipe, by `_spawn`
    kept = b""
    while read := await process.stdout.read(_READ):
        kept = (kept + read)[-_KEPT:]
    return kept


def _hand_over(channel: socket.socket, order: bytes) -> bytes:
    """Send the order and wait for the program to start; what kept it from that, if anything."""
    with suppress(BrokenPipeError, ConnectionResetError):
        channel.sendall(order)
        channel.shutdown(socket.SHUT_WR)
        with channel.makefile("rb") as answer:
            return answer.read()
    return b""
