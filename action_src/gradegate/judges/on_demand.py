"""A judge that is not there before it is asked: SDKs are slow to import, and often not needed."""

import asyncio
from collections.abc import Callable
from typing import Any

from gradegate.model.question import Question
from gradegate.ports import Answerer, Reply, Trouble


class OnDemand:
    """Makes the judge with the first question. A string says why there is none."""

    def __init__(self, make: Callable[[], Answerer | str]) -> None:
        self._make = make
        self._judge: Answerer | str | None = None
        self._making = asyncio.Lock()

    async def answer(self, question: Question[Any], sample: int) -> Reply | Trouble:
        """What the judge answers."""
        async with self._making:
            if self._judge is None:
                self._judge = await asyncio.to_thread(self._make)
        if isinstance(self._judge, str):
            return Trouble(self._judge, may_pass=False, for_all=True)
        return await self._judge.answer(question, sample)

    async def close(self) -> None:
        """Close the connections, where there are any."""
        if self._judge is not None and not isinstance(self._judge, str):
            await self._judge.close()
