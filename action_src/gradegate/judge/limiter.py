"""The one limiter of all calls to a model: how many at once, how many a minute.

It slows down when the service says so and recovers as answers come in: each wave of
complaints narrows it once, each answer widens it a little, and a wait that the service asks
for holds everyone back. Under a random third of refusals it stays near its full width;
under refusals alone it goes down to one call at a time.
"""

import asyncio
import heapq
import itertools
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiolimiter import AsyncLimiter

_SHRINK = 0.7
_GROW = 0.5
_MINUTE = 60.0


class Limiter:
    """Hands out slots, those with the lowest turn first."""

    def __init__(self, max_parallel: int, requests_per_minute: int = 0) -> None:
        self._most = max_parallel
        self._width = float(max_parallel)
        self._busy = 0
        self._queue: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        # One call each so many seconds, because a bucket of a minute's calls would let twice
        # as many through in its first minute.
        self._pace = AsyncLimiter(1, _MINUTE / requests_per_minute) if requests_per_minute else None
        self._gate = asyncio.Lock()
        self._resume_at = -math.inf
        self._narrowed_at = -math.inf

    @property
    def width(self) -> int:
        """How many calls may be under way at present."""
        return int(self._width)

    @asynccontextmanager
    async def slot(self, turn: int) -> AsyncIterator[float]:
        """Leave to make one call, and the time it begins."""
        await self._enter(turn)
        try:
            await self._hold_back()
            yield now()
        finally:
            self._leave()

    def answered(self) -> None:
        """An answer came: widen a little."""
        self._width = min(self._most, self._width + _GROW)
        self._admit()

    def slow_down(self, began: float, wait: float | None = None) -> None:
        """A call that began then was told to come more slowly: narrow, and wait if asked to.

        Calls that were already under way when it last narrowed have nothing new to say.
        """
        if began > self._narrowed_at:
            self._width = max(1.0, self._width * _SHRINK)
            self._narrowed_at = now()
        if wait is not None:
            self._resume_at = max(self._resume_at, now() + wait)

    async def _enter(self, turn: int) -> None:
        admitted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._queue, (turn, next(self._order), admitted))
        self._admit()
        try:
            await admitted
        except asyncio.CancelledError:
            if not admitted.cancelled():
                self._leave()
            raise

    def _leave(self) -> None:
        self._busy -= 1
        self._admit()

    def _admit(self) -> None:
        while self._queue and self._busy < self.width:
            *_, admitted = heapq.heappop(self._queue)
            if not admitted.done():
                admitted.set_result(None)
                self._busy += 1

    async def _hold_back(self) -> None:
        """Keep the pace, and any pause; one at a time, so that no burst follows a pause.

        A turn of the loop between two calls lets the first one leave before the next is put
        together. Calls put together side by side leave together, when the last is ready, are
        answered together, and so on: the time to put them all together is lost in each round.
        """
        async with self._gate:
            await asyncio.sleep(0)
            if self._pace is not None:
                await self._pace.acquire()
            while (left := self._resume_at - now()) > 0:  # noqa: ASYNC110 - it may be prolonged
                await asyncio.sleep(left)


def now() -> float:
    """The running loop's own clock."""
    return asyncio.get_running_loop().time()
