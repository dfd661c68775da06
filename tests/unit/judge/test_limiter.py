"""One limiter: at most so many at once and a minute, slower when told, and back again."""

import asyncio
import random

import pytest

from gradegate.judge.limiter import Limiter
from tests.standins.virtual_time import in_virtual_time, now


class Service:
    """Something to call through the limiter, keeping the times of its calls."""

    def __init__(self, limiter: Limiter, latency: float = 1.0) -> None:
        self.began: list[float] = []
        self.turns: list[int] = []
        self.most = 0
        self._busy = 0
        self._limiter = limiter
        self._latency = latency

    async def call(self, turn: int = 0) -> float:
        """One call that takes its time."""
        async with self._limiter.slot(turn) as began:
            self.began.append(began)
            self.turns.append(turn)
            self._busy += 1
            self.most = max(self.most, self._busy)
            try:
                await asyncio.sleep(self._latency)
            finally:
                self._busy -= 1
        return began


def test_no_more_calls_are_under_way_than_allowed() -> None:
    """Ten calls of a second through three slots take four seconds."""

    async def main() -> None:
        service = Service(Limiter(3))
        await asyncio.gather(*(service.call() for _ in range(10)))
        assert service.most == 3
        assert now() == pytest.approx(4.0)

    in_virtual_time(main())


def test_no_minute_has_more_calls_than_allowed() -> None:
    """Also not the first one, where a full bucket would let twice as many through."""

    async def main() -> None:
        service = Service(Limiter(50, requests_per_minute=30), latency=0.1)
        await asyncio.gather(*(service.call() for _ in range(100)))
        in_a_minute = [
            sum(start <= began < start + 59.9 for began in service.began) for start in service.began
        ]
        assert max(in_a_minute) <= 30
        assert now() == pytest.approx(99 * 2.0, abs=1)

    in_virtual_time(main())


def test_older_turns_go_first() -> None:
    """A verdict that has begun is finished before fresh ones are taken up."""

    async def main() -> None:
        service = Service(Limiter(1))
        calls = [asyncio.create_task(service.call(turn)) for turn in (9, 5, 7, 1)]
        await asyncio.gather(*calls)
        assert service.turns == [9, 1, 5, 7]

    in_virtual_time(main())


def test_a_wait_that_the_service_asks_for_holds_for_everyone() -> None:
    """Nobody calls until it is over, also not those who queued before it was asked."""

    async def main() -> None:
        limiter = Limiter(2)
        service = Service(limiter)
        calls = [asyncio.create_task(service.call()) for _ in range(6)]
        await asyncio.sleep(0.5)
        limiter.slow_down(0.0, wait=20.0)
        await asyncio.gather(*calls)
        assert service.began[:2] == [0.0, 0.0]
        assert min(service.began[2:]) == pytest.approx(20.5)

    in_virtual_time(main())


def test_a_wait_can_be_prolonged_but_not_cut_short() -> None:
    """The longest wait asked for counts."""

    async def main() -> None:
        limiter = Limiter(1)
        limiter.slow_down(0.0, wait=10.0)
        limiter.slow_down(0.0, wait=3.0)
        call = asyncio.create_task(Service(limiter).call())
        await asyncio.sleep(5)
        limiter.slow_down(0.0, wait=10.0)
        assert await call == pytest.approx(15.0)

    in_virtual_time(main())


def test_a_wave_of_complaints_narrows_once() -> None:
    """Calls that were under way together have one thing to say between them."""

    async def main() -> None:
        limiter = Limiter(32)
        await asyncio.sleep(1)
        for _ in range(32):
            limiter.slow_down(0.5)
        assert limiter.width == 22

    in_virtual_time(main())


def test_it_narrows_to_one_and_recovers_step_by_step() -> None:
    """Complaints alone leave one call at a time; answers bring the width back, not at once."""

    async def main() -> None:
        limiter = Limiter(16)
        for _ in range(20):
            await asyncio.sleep(1)
            limiter.slow_down(now())
        assert limiter.width == 1
        widths = []
        for _ in range(40):
            limiter.answered()
            widths.append(limiter.width)
        assert widths[0] == 1
        assert widths == sorted(widths)
        assert widths[9] < 16
        assert widths[-1] == 16

    in_virtual_time(main())


def test_random_complaints_do_not_starve_it() -> None:
    """With 30 % of calls refused at random it keeps most of its width."""

    async def main() -> None:
        limiter, draw = Limiter(32), random.Random(7)
        widths = []

        async def call() -> None:
            async with limiter.slot(0) as began:
                await asyncio.sleep(0.2 + draw.random() / 10)
            if draw.random() < 0.3:
                limiter.slow_down(began)
            else:
                limiter.answered()
            widths.append(limiter.width)

        await asyncio.gather(*(call() for _ in range(2000)))
        assert sum(widths) / len(widths) > 16

    in_virtual_time(main())


def test_who_gives_up_waiting_leaves_the_slot_to_others() -> None:
    """Cancelled in the queue, on admission or during the call: no slot is lost."""

    async def main() -> None:
        limiter = Limiter(2)
        service = Service(limiter)
        calls = [asyncio.create_task(service.call()) for _ in range(8)]
        await asyncio.sleep(0.5)
        for call in (calls[0], calls[3], calls[5]):
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        again = Service(limiter)
        await asyncio.gather(*(again.call() for _ in range(4)))
        assert again.most == 2

    in_virtual_time(main())


def test_who_gives_up_just_as_a_slot_comes_free_passes_it_on() -> None:
    """Admitted and cancelled in the same moment: the slot is not lost."""

    async def main() -> None:
        limiter = Limiter(1)
        service = Service(limiter)
        async with limiter.slot(0):
            unlucky = asyncio.create_task(service.call())
            await asyncio.sleep(1)
        unlucky.cancel()
        async with asyncio.timeout(10):
            await service.call()
        assert unlucky.cancelled()

    in_virtual_time(main())
