"""The processes of a program that speaks the line protocol, as many as its sessions take."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import NamedTuple

from gradegate.agents.launch import Launch
from gradegate.agents.line_process import Failure, LineProcess

_MUTE_LIMIT = 5
"""So many processes without one answer among them, and the program is past helping."""


Renew = Callable[[Launch], Launch]
"""The same program once more, in a home and a temporary folder that nobody has used."""


def as_it_is(launch: Launch) -> Launch:
    """For programs that keep nothing, or that are never asked twice."""
    return launch


class Seat(NamedTuple):
    """A session's place in a process; `name` tells it from all others."""

    process: LineProcess
    name: str
    copy: int | None = None
    """Which of the copies that the process makes of itself is meant, where it makes any."""


class Pool:
    """Starts processes as they are needed, and ends those that nobody should use any more.

    When a process breaks with several sessions in it, nobody knows whose doing that was: each
    should then be tried once more, alone in a process of its own.

    Processes are told apart by the copy that is asked for. Who never asks for the same twice for
    one case has every run of it answered by a process that knows nothing of the others.
    """

    def __init__(
        self, launch: Launch, renew: Renew = as_it_is, *, copies_itself: bool = False
    ) -> None:
        self._launch = launch
        self._renew = renew
        self.copies_itself = copies_itself
        """Whether a process makes its own copies, so that one is enough for all."""
        self._starting = asyncio.Lock()
        self._shared: dict[int, LineProcess] = {}
        self._running: set[LineProcess] = set()
        self._numbers = count(1)
        self._mute = 0
        self._ever_answered = False
        self._hopeless: str | None = None

    async def close(self) -> None:
        """End all that is running."""
        self._hopeless = "the agent was stopped"
        running = tuple(self._running)
        self._running.clear()
        await asyncio.gather(*(process.stop() for process in running))

    async def start(self) -> None:
        """Start the program before it is asked; what goes wrong is told to the first who asks."""
        await self._process(0, alone=False)

    @asynccontextmanager
    async def seat(self, *, alone: bool, copy: int = 0) -> AsyncIterator[Seat | Failure]:
        """A session in a process, which ends with its last session once it is retired."""
        own = copy if self.copies_itself else None
        number = 0 if self.copies_itself else copy
        process = await self._process(number, alone=alone)
        if isinstance(process, Failure):
            yield process
            return
        name = f"s{next(self._numbers)}"
        process.join(name)
        process.retired |= alone
        try:
            yield Seat(process, name, own)
        finally:
            process.leave(name)
            self._take_note(process)
            # Further copies are for reruns, which come together: nobody waits for these.
            if process.is_idle and (process.retired or process.broken or number):
                process.retired = True
                self._running.discard(process)
                await process.stop()

    async def _process(self, number: int, *, alone: bool) -> LineProcess | Failure:
        async with self._starting:
            shared = self._shared.get(number)
            if not alone and shared and not shared.retired and not shared.broken:
                return shared
            if self._hopeless:
                return Failure(self._hopeless)
            try:
                process = await LineProcess.start(self._renew(self._launch))
            except OSError as error:
                self._hopeless = self._why_not_started(error)
                return Failure(self._hopeless)
            self._running.add(process)
            if not alone:
                self._shared[number] = process
            return process

    def _take_note(self, process: LineProcess) -> None:
        """Give the program up where process after process has not answered anything."""
        if process.has_answered:
            self._ever_answered = True
        if self._ever_answered or not process.trouble or not process.is_idle:
            return
        self._mute += 1
        if self._mute >= _MUTE_LIMIT:
            tried = f"{process.trouble} (in {self._mute} processes there was not one answer)"
            self._hopeless = process.with_log(tried)

    def _why_not_started(self, error: OSError) -> str:
        command = self._launch.command[0]
        if not self._launch.cwd.is_dir():
            return f"the folder to start the agent's program in does not exist: {self._launch.cwd}"
        why = error.strerror or str(error)
        return f"the agent's program {command!r} cannot be started: {why}"
