"""Every question to whom it is for.

A judge that is not there before it is asked: SDKs are slow to import, and often not needed.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from gradegate.model.question import VERTEX, Question
from gradegate.ports import CallFailure, JudgeProvider, Reply


class Router:
    """Vertex AI's evaluation service for what names it, the judge for all else."""

    def __init__(self, judge: JudgeProvider, vertex: JudgeProvider) -> None:
        self._judge = judge
        self._vertex = vertex

    async def answer(self, question: Question[Any], sample: int) -> Reply | CallFailure:
        """What the one who is meant answers."""
        asked = self._vertex if question.model.startswith(VERTEX) else self._judge
        return await asked.answer(question, sample)

    async def close(self) -> None:
        """Close both."""
        await self._judge.close()
        await self._vertex.close()


class OnDemand:
    """Makes the judge with the first question. A string says why there is none."""

    def __init__(self, make: Callable[[], JudgeProvider | str]) -> None:
        self._make = make
        self._judge: JudgeProvider | str | None = None
        self._making = asyncio.Lock()

    async def answer(self, question: Question[Any], sample: int) -> Reply | CallFailure:
        """What the judge answers."""
        async with self._making:
            if self._judge is None:
                self._judge = await asyncio.to_thread(self._make)
        if isinstance(self._judge, str):
            return CallFailure(self._judge, may_pass=False, for_all=True)
        return await self._judge.answer(question, sample)

    async def close(self) -> None:
        """Close the connections, where there are any."""
        if self._judge is not None and not isinstance(self._judge, str):
            await self._judge.close()
