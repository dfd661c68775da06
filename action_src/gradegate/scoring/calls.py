"""One sample of a question: from the store, or by calling until there is an answer."""

import asyncio
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from gradegate.model.question import Question
from gradegate.model.settings import Judge
from gradegate.ports import Answerer, Reply, Store, Trouble
from gradegate.scoring.limiter import Limiter
from gradegate.scoring.patience import Clock, Outage, Patience
from gradegate.scoring.refusals import Refusals
from gradegate.scoring.stored import store_reply, stored_reply
from gradegate.scoring.usage import Ledger, Pace, Progress


class Failed(NamedTuple):
    """No answer to a sample, and none to be had by waiting."""

    reason: str


@dataclass
class Asking:
    """One question being asked: whose turn it is, whose time, whose bill."""

    question: Question[Any]
    turn: int
    clock: Clock
    ledgers: tuple[Ledger, ...]
    called: bool = False
    """Whether a call was made for it, so that voting can have saved others."""


class Caller:
    """Gets samples, each of them once, however many ask for it and however it has to try."""

    def __init__(
        self,
        answerer: Answerer | str,
        store: Store,
        limits: Judge,
        patience: Patience,
        progress: Callable[[Progress], None],
    ) -> None:
        self.ledger = Ledger()
        self._answerer = answerer
        self._store = store
        self._max_calls = limits.max_calls
        self._patience = patience
        self._progress = progress
        self._limiter = Limiter(limits.max_parallel, limits.requests_per_minute)
        self._outage = Outage(patience.per_verdict)
        self._refusals = Refusals()
        self._pace = Pace()
        self._sent = 0
        self._under_way: dict[str, asyncio.Task[Reply | Failed]] = {}
        self._draw = random.Random()  # noqa: S311 - spreads retries, guards nothing

    async def close(self) -> None:
        """Stop what is still being asked, and close the connections."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if not isinstance(self._answerer, str):
            await self._answerer.close()

    async def sample(self, asking: Asking, sample: int) -> Reply | Failed:
        """One sample: from the store, from whoever is asking it already, or from the judge."""
        key = asking.question.key(sample)
        stored = stored_reply(self._store, key)
        if stored is not None:
            self._bill_hit(asking)
            return stored
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._obtain(asking, sample, key))
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key))
            return await asyncio.shield(task)
        reply = await asyncio.shield(task)
        if isinstance(reply, Reply):
            self._bill_hit(asking)
        return reply

    async def _obtain(self, asking: Asking, sample: int, key: str) -> Reply | Failed:
        """Call until there is an answer, or a reason to stop."""
        trouble: Trouble | None = None
        for attempt in itertools.count():
            async with self._limiter.slot(asking.turn) as began:
                stored = stored_reply(self._store, key)  # by another process, while this one queued
                if stored is not None:
                    self._bill_hit(asking)
                    return stored
                reason = self._reason_to_stop(asking, trouble)
                if reason is not None:
                    return Failed(reason)
                outcome = await self._call(asking, sample, trouble)
            if isinstance(outcome, Reply):
                self._keep(asking, key, outcome)
                return outcome
            trouble = outcome
            pause = self._take_note(asking, trouble, began, attempt)
            if isinstance(pause, Failed):
                return pause
            await asyncio.sleep(pause)
        raise AssertionError("counting has no end")

    async def _call(self, asking: Asking, sample: int, earlier: Trouble | None) -> Reply | Trouble:
        assert not isinstance(self._answerer, str)  # noqa: S101 - `_reason_to_stop` saw to it
        self._sent += 1
        limit = min(self._patience.per_call, asking.clock.left(_now()))
        try:
            async with asyncio.timeout(limit):
                return await self._answerer.answer(asking.question, sample)
        except TimeoutError:
            if earlier is not None and limit < self._patience.per_call:
                # Our time was up, and not the service's: what it said before is the reason.
                return earlier._replace(slow_down=False, wait=None)
            return Trouble(f"the judge did not answer within {limit:.3g} s", may_pass=True)

    def _reason_to_stop(self, asking: Asking, trouble: Trouble | None) -> str | None:
        """Why not to call (again); looking starts the verdict's clock."""
        if isinstance(self._answerer, str):
            return self._answerer
        if self._max_calls and self._sent >= self._max_calls:
            return (
                f"the limit of {self._max_calls} judge calls is reached: "
                "raise `max_calls` under `[judge]` in gradegate.toml"
            )
        now = _now()
        if asking.clock.left(now) <= 0 and trouble is not None:
            return self._out_of_time(trouble)
        return self._refusals.reason(asking.question.model) or self._outage.reason(now)

    def _take_note(
        self, asking: Asking, trouble: Trouble, began: float, attempt: int
    ) -> float | Failed:
        """Remember the trouble; how long to wait before the next attempt, or why to give up."""
        for ledger in asking.ledgers:
            ledger.retry(asking.question.criterion)
        if not trouble.may_pass:
            self._refusals.refused(asking.question.model, trouble)
            return Failed(trouble.reason)
        now = _now()
        self._outage.trouble(trouble, now)
        reason = self._outage.reason(now)
        if reason is not None:
            return Failed(reason)
        if trouble.slow_down:
            self._limiter.slow_down(began, trouble.wait)
        pause = trouble.wait or self._patience.backoff(attempt, self._draw.random())
        return pause if pause < asking.clock.left(now) else Failed(self._out_of_time(trouble))

    def _out_of_time(self, trouble: Trouble) -> str:
        return f"{trouble.reason} (given up after {self._patience.per_verdict:.0f} s of trying)"

    def _keep(self, asking: Asking, key: str, reply: Reply) -> None:
        asking.called = True
        store_reply(self._store, key, reply)
        self._limiter.answered()
        self._outage.answered()
        self._refusals.answered(asking.question.model)
        for ledger in asking.ledgers:
            ledger.call(asking.question.criterion, reply)
        self._pace.tick(_now())
        self._report()

    def _bill_hit(self, asking: Asking) -> None:
        for ledger in asking.ledgers:
            ledger.hit(asking.question.criterion)
        self._report()

    def _report(self) -> None:
        waiting = len(self._under_way)
        self._progress(Progress(self.ledger.calls, self.ledger.hits, waiting, self._pace.rate))


def _now() -> float:
    return asyncio.get_running_loop().time()
