"""An agent behind the line protocol: any program, any language."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Self

from gradegate.agents.conversation import Dialogue, converse, written_users
from gradegate.agents.process import Failure, Launch, LineProcess
from gradegate.agents.session import LineSession, Patience
from gradegate.model.case import Case
from gradegate.model.trace import NotRun, Trace
from gradegate.ports import UserFactory

_MUTE_LIMIT = 5
"""So many processes without one answer among them, and the program is past helping."""


class CommandAgent:
    """Runs cases as sessions of a program, many in one process.

    When a process breaks with several sessions in it, nobody knows whose doing that was. Each
    of them is then run once more, alone in a process of its own: what fails alone is at fault.
    """

    rerunnable = True

    def __init__(
        self,
        launch: Launch,
        *,
        turn_timeout: float = 120.0,
        case_timeout: float = 900.0,
        max_sessions: int = 8,
        users: UserFactory = written_users,
    ) -> None:
        self._launch = launch
        self._patience = Patience(turn_timeout, case_timeout)
        self._users = users
        self._slots = asyncio.Semaphore(max_sessions)
        self._starting = asyncio.Lock()
        self._shared: LineProcess | None = None
        self._running: set[LineProcess] = set()
        self._numbers = count(1)
        self._mute = 0
        self._ever_answered = False
        self._hopeless: str | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._hopeless = "the agent was stopped"
        running = tuple(self._running)
        self._running.clear()
        await asyncio.gather(*(process.stop() for process in running))

    async def prepare(self) -> str | None:
        """Nothing to make ready."""
        return None

    async def start(self) -> None:
        """Start the program before it is asked; what goes wrong is told to the first case."""
        await self._process(alone=False)

    def runs_of(self, case: Case, asked: int) -> int:
        """As many as are asked for."""
        del case
        return asked

    async def run(self, case: Case, run: int) -> Trace | NotRun:
        """Run one case from the start, when one of the agent's sessions is free."""
        async with self._slots:
            dialogue = await self._attempt(case, run, alone=False)
            failure = dialogue.failure
            if isinstance(failure, Failure) and not failure.certain:
                dialogue = await self._attempt(case, run, alone=True)
        if isinstance(dialogue.failure, NotRun):
            return dialogue.failure
        return Trace(
            suite=case.suite,
            eval_set=case.eval_set,
            eval_id=case.eval_id,
            run=run,
            invocations=dialogue.invocations,
            error=dialogue.failure and dialogue.failure.reason,
        )

    async def _attempt(self, case: Case, run: int, *, alone: bool) -> Dialogue:
        process = await self._process(alone=alone)
        if isinstance(process, Failure):
            return Dialogue(failure=process)
        async with self._seat(process, alone=alone) as session:
            failure = await session.open(case, run)
            if failure:
                return Dialogue(failure=failure)
            dialogue = await converse(self._users(case, run), session)
            if dialogue.failure:
                return dialogue
            failure = await session.close()
            # All turns were had: what others did to the process meanwhile costs them nothing.
            blamed = failure if failure and failure.certain else None
            return Dialogue(dialogue.invocations, blamed)

    @asynccontextmanager
    async def _seat(self, process: LineProcess, *, alone: bool) -> AsyncIterator[LineSession]:
        """A session in the process, which ends with its last session once it is retired."""
        name = f"s{next(self._numbers)}"
        process.join(name)
        process.retired |= alone
        try:
            yield LineSession(process, name, self._patience)
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
