"""The processes of one program: one that all share, and others for those who must be alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import NamedTuple

from gradegate.agents.process import Failure, Launch, LineProcess

_MUTE_LIMIT = 5
"""So many processes without one answer among them, and the program is past helping."""


class Seat(NamedTuple):
    """A session's place in a process; `name` tells it from all others."""

    process: LineProcess
    name: str


class Pool:
    """Starts processes as they are needed, and ends those that nobody should use any more.

    When a process breaks with several sessions in it, nobody knows whose doing that was: each
    should then be tried once more, alone in a process of its own.
    """

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._starting = asyncio.Lock()
        self._shared: LineProcess | None = None
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
        await self._process(alone=False)

    @asynccontextmanager
    async def seat(self, *, alone: bool) -> AsyncIterator[Seat | Failure]:
        """A session in a process, which ends with its last session once it is retired."""
        process = await self._process(alone=alone)
        if isinstance(process, Failure):
            yield process
            return
        name = f"s{next(self._numbers)}"
        process.join(name)
        process.retired |= alone
        try:
            yield Seat(process, name)
        finally:
            process.leave(name)
            self._take_note(process)
            if process.is_idle and (process.retired or process.broken):
                self._running.discard(process)
                await process.stop()

    async def _process(self, *, alone: bool) -> LineProcess | Failure:
        async with self._starting:
            shared = self._shared
            if not alone and shared and not shared.retired and not shared.broken:
                return shared
            if self._hopeless:
                return Failure(self._hopeless)
            try:
                process = await LineProcess.start(self._launch)
            except OSError as error:
                self._hopeless = self._why_not_started(error)
                return Failure(self._hopeless)
            self._running.add(process)
            if not alone:
                self._shared = process
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
