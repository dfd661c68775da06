"""An agent behind the line protocol: any program, any language."""

import asyncio
from typing import Self

from gradegate.agents.conversation import Dialogue, converse, written_users
from gradegate.agents.pool import Pool
from gradegate.agents.process import Failure, Launch
from gradegate.agents.session import LineSession, Patience
from gradegate.model.case import Case
from gradegate.model.trace import NotRun, Trace
from gradegate.ports import UserFactory


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
        self._pool = Pool(launch)
        self._patience = Patience(turn_timeout, case_timeout)
        self._users = users
        self._slots = asyncio.Semaphore(max_sessions)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()

    async def prepare(self) -> str | None:
        """Nothing to make ready."""
        return None

    async def start(self) -> None:
        """Start the program before it is asked; what goes wrong is told to the first case."""
        await self._pool.start()

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
        async with self._pool.seat(alone=alone) as seat:
            if isinstance(seat, Failure):
                return Dialogue(failure=seat)
            session = LineSession(seat.process, seat.name, self._patience)
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
