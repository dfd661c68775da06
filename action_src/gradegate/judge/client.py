"""One sample of a question: from the store, or by calling until there is an answer.

The way from a criterion to a model: samples and votes, once for all criteria.
"""

import asyncio
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeVar

from pydantic import BaseModel

from gradegate.judge import votes
from gradegate.judge.cache import forget_replies, store_reply, stored_reply
from gradegate.judge.limiter import Limiter
from gradegate.judge.retry import CircuitBreaker, Deadline, Refusals, RetryPolicy
from gradegate.judge.usage import JudgeProgress, Rate, UsageCounter
from gradegate.model.question import Question, Votes
from gradegate.model.result import Usage
from gradegate.model.settings import JudgeSettings
from gradegate.ports import Ask, CallFailure, JudgeProvider, Reply, Store


class NoAnswer(NamedTuple):
    """No answer to a sample, and none to be had by waiting."""

    reason: str


@dataclass
class PendingQuestion:
    """One question being asked: whose turn it is, whose time, whose bill."""

    question: Question[Any]
    turn: int
    clock: Deadline
    ledgers: tuple[UsageCounter, ...]
    called: bool = False
    """Whether a call was made for it, so that voting can have saved others."""


class Caller:
    """Gets samples, each of them once, however many ask for it and however it has to try."""

    def __init__(
        self,
        answerer: JudgeProvider | str,
        store: Store,
        limits: JudgeSettings,
        patience: RetryPolicy,
        progress: Callable[[JudgeProgress], None],
    ) -> None:
        self.ledger = UsageCounter()
        self._answerer = answerer
        self._store = store
        self._max_calls = limits.max_calls
        self._patience = patience
        self._progress = progress
        self._limiter = Limiter(limits.max_parallel, limits.requests_per_minute)
        self._outage = CircuitBreaker(patience.per_verdict)
        self._refusals = Refusals()
        self._pace = Rate()
        self._sent = 0
        self._under_way: dict[str, asyncio.Task[Reply | NoAnswer]] = {}
        self._draw = random.Random()  # noqa: S311 - spreads retries, guards nothing

    async def close(self) -> None:
        """Stop what is still being asked, and close the connections."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if not isinstance(self._answerer, str):
            await self._answerer.close()

    async def sample(self, asking: PendingQuestion, sample: int) -> Reply | NoAnswer:
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

    async def _obtain(self, asking: PendingQuestion, sample: int, key: str) -> Reply | NoAnswer:
        """Call until there is an answer, or a reason to stop."""
        trouble: CallFailure | None = None
        for attempt in itertools.count():
            async with self._limiter.slot(asking.turn) as began:
                stored = stored_reply(self._store, key)  # by another process, while this one queued
                if stored is not None:
                    self._bill_hit(asking)
                    return stored
                reason = self._reason_to_stop(asking, trouble)
                if reason is not None:
                    return NoAnswer(reason)
                outcome = await self._call(asking, sample, trouble)
            if isinstance(outcome, Reply):
                self._keep(asking, key, outcome)
                return outcome
            trouble = outcome
            pause = self._take_note(asking, trouble, began, attempt)
            if isinstance(pause, NoAnswer):
                return pause
            await asyncio.sleep(pause)
        raise AssertionError("counting has no end")

    async def _call(
        self, asking: PendingQuestion, sample: int, earlier: CallFailure | None
    ) -> Reply | CallFailure:
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
            return CallFailure(f"the judge did not answer within {limit:.3g} s", may_pass=True)

    def _reason_to_stop(self, asking: PendingQuestion, trouble: CallFailure | None) -> str | None:
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
        self, asking: PendingQuestion, trouble: CallFailure, began: float, attempt: int
    ) -> float | NoAnswer:
        """Remember the trouble; how long to wait before the next attempt, or why to give up."""
        for ledger in asking.ledgers:
            ledger.retry(asking.question.criterion)
        if not trouble.may_pass:
            self._refusals.refused(asking.question.model, trouble)
            return NoAnswer(trouble.reason)
        now = _now()
        self._outage.trouble(trouble, now)
        reason = self._outage.reason(now)
        if reason is not None:
            return NoAnswer(reason)
        if trouble.slow_down:
            self._limiter.slow_down(began, trouble.wait)
        pause = trouble.wait or self._patience.backoff(attempt, self._draw.random())
        return pause if pause < asking.clock.left(now) else NoAnswer(self._out_of_time(trouble))

    def _out_of_time(self, trouble: CallFailure) -> str:
        return f"{trouble.reason} (given up after {self._patience.per_verdict:.0f} s of trying)"

    def _keep(self, asking: PendingQuestion, key: str, reply: Reply) -> None:
        asking.called = True
        store_reply(self._store, key, reply)
        self._limiter.answered()
        self._outage.answered()
        self._refusals.answered(asking.question.model)
        for ledger in asking.ledgers:
            ledger.call(asking.question.criterion, reply)
        self._pace.tick(_now())
        self._report()

    def _bill_hit(self, asking: PendingQuestion) -> None:
        for ledger in asking.ledgers:
            ledger.hit(asking.question.criterion)
        self._report()

    def _report(self) -> None:
        waiting = len(self._under_way)
        self._progress(JudgeProgress(self.ledger.calls, self.ledger.hits, waiting, self._pace.rate))


def _now() -> float:
    return asyncio.get_running_loop().time()


T = TypeVar("T", bound=BaseModel)


class JudgeClient:
    """Asks until the vote is decided, and asks no one the same thing twice.

    `answerer` may be the reason why there is none: what is in the store is used all the same.
    Use it as a context manager, so that connections are closed at the end.
    """

    def __init__(
        self,
        answerer: JudgeProvider | str,
        store: Store,
        limits: JudgeSettings,
        *,
        patience: RetryPolicy | None = None,
        progress: Callable[[JudgeProgress], None] = lambda _: None,
    ) -> None:
        self._patience = patience or RetryPolicy()
        self._caller = Caller(answerer, store, limits, self._patience, progress)
        self._store = store
        self._default_model = limits.model
        self._turns = itertools.count()
        self._failed: dict[tuple[str, int], Votes[Any]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop what is still being asked, and close the connections."""
        await self._caller.close()

    def usage(self, seconds: float = 0.0) -> Usage:
        """What all questions cost so far."""
        return self._caller.ledger.usage(seconds)

    def billed_to(self, ledger: UsageCounter) -> Ask:
        """The same way to ask, counted in this ledger too, such as that of one side."""
        return _Billed(self, ledger)

    async def __call__(self, question: Question[T], samples: int) -> Votes[T]:
        """Ask until the vote is decided, `samples` times at most."""
        return await self.ask(question, samples)

    async def ask(self, question: Question[T], samples: int, *ledgers: UsageCounter) -> Votes[T]:
        """The same, counted in these ledgers too."""
        question = question.by_default(self._default_model)
        known = self._failed.get((question.digest, samples))
        if known is not None:
            return known
        clock = Deadline(self._patience.per_verdict)
        asking = PendingQuestion(
            question, next(self._turns), clock, (self._caller.ledger, *ledgers)
        )
        outcomes: list[T | str] = []
        while more := votes.needed(question, outcomes, samples):
            numbers = range(len(outcomes) + 1, len(outcomes) + more + 1)
            replies = await asyncio.gather(*(self._caller.sample(asking, n) for n in numbers))
            for reply in replies:
                if isinstance(reply, NoAnswer):
                    return Votes(failure=reply.reason)
                outcomes.append(votes.read(question, reply))
        return self._outcome(asking, outcomes, samples)

    def _outcome(self, asking: PendingQuestion, outcomes: list[T | str], samples: int) -> Votes[T]:
        question: Question[T] = asking.question
        result = votes.count(question, outcomes, samples)
        if result.failure is not None:
            # Kept for this run, so that both sides fare alike; not for the next one.
            self._failed[question.digest, samples] = result
            spoilt = (n for n, said in enumerate(outcomes, 1) if said not in result.answers)
            forget_replies(self._store, [question.key(number) for number in spoilt])
        elif asking.called and result.yes:
            for ledger in asking.ledgers:
                ledger.saved(question.criterion, samples - len(outcomes))
        return result


@dataclass(frozen=True)
class _Billed:
    asker: JudgeClient
    ledger: UsageCounter

    async def __call__(self, question: Question[T], samples: int) -> Votes[T]:
        return await self.asker.ask(question, samples, self.ledger)
