"""An agent that is not even started while all that is wanted of it is kept from an earlier job."""

import asyncio
from typing import Self

from gradegate.model.evalset import Case
from gradegate.model.notice import Notice
from gradegate.model.runs import NotRun, Trace
from gradegate.ports import AgentRunner


class DeferredRunner:
    """Makes an agent ready when the first run of it is wanted."""

    rerunnable = True

    def __init__(self, runner: AgentRunner) -> None:
        self._runner = runner
        self._preparing: asyncio.Task[Notice | None] | None = None

    async def __aenter__(self) -> Self:
        await self._runner.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._preparing:
            await asyncio.gather(self._preparing, return_exceptions=True)
        await self._runner.__aexit__(*_)

    async def prepare(self) -> Notice | None:
        """Nothing yet."""
        return None

    def runs_of(self, case: Case, asked: int) -> int:
        """As the agent has it."""
        return self._runner.runs_of(case, asked)

    async def run(self, case: Case, run: int) -> Trace | NotRun:
        """Run one case, with the agent made ready before; why it cannot be is told each time."""
        if self._preparing is None:
            self._preparing = asyncio.ensure_future(self._runner.prepare())
        reason = await asyncio.shield(self._preparing)
        return NotRun.because(reason) if reason else await self._runner.run(case, run)
