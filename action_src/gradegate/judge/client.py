"""From a criterion's question to its votes: each sample is asked once, and kept.

`JudgeClient` asks as many samples as the vote needs (`votes`). A sample comes from the store
(`cache`), from whoever is asking for it already, or from the judge: within our own limits
(`limiter`), and again until there is an answer or a reason to give up (`retry`).
"""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, TypeVar

from pydantic import BaseModel

from gradegate.judge import votes
from gradegate.judge.cache import forget_replies, store_reply, stored_reply
from gradegate.judge.limiter import Limiter, now
from gradegate.judge.retry import Attempts, CircuitBreaker, Deadline, GiveUp, Retry, RetryPolicy
from gradegate.judge.usage import JudgeProgress, Rate, UsageCounter
from gradegate.model.question import Question, Votes
from gradegate.model.result import Usage
from gradegate.model.settings import JudgeSettings
from gradegate.ports import CallFailure, JudgeProvider, Reply, Store

T = TypeVar("T", bound=BaseModel)


class NoAnswer(NamedTuple):
    """No answer to a sample, and none to be had by waiting."""

    reason: str


@dataclass
class PendingQuestion:
    """One question being asked: whose turn it is, and how much time it has."""

    question: Question[Any]
    turn: int
    deadline: Deadline
    called: bool = False
    """Whether a call was made for it, so that voting can have saved others."""


class JudgeClient:
    """Asks until the vote is decided, and asks no one the same thing twice for the same run.

    `provider` may be the reason why there is none: what is in the store is used all the same.
    Use it as a context manager, so that connections are closed at the end.
    """

    def __init__(
        self,
        provider: JudgeProvider | str,
        store: Store,
        limits: JudgeSettings,
        *,
        retry: RetryPolicy | None = None,
        progress: Callable[[JudgeProgress], None] = lambda _: None,
    ) -> None:
        self._provider = provider
        self._store = store
        self._default_model = limits.model
        self._max_calls = limits.max_calls
        self._limiter = Limiter(limits.max_parallel, limits.requests_per_minute)
        self._retry = retry or RetryPolicy()
        self._breaker = CircuitBreaker(self._retry.per_verdict)
        self._progress = progress
        self._counter = UsageCounter()
        self._rate = Rate()
        self._sent = 0
        self._turns = itertools.count()
        self._in_flight: dict[str, asyncio.Task[Reply | NoAnswer]] = {}
        self._failed: dict[tuple[str, int, int], Votes[Any]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop what is still being asked, and close the connections."""
        tasks = list(self._in_flight.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if not isinstance(self._provider, str):
            await self._provider.close()

    def usage(self, seconds: float = 0.0) -> Usage:
        """What all questions cost so far."""
        return self._counter.usage(seconds)

    async def __call__(self, question: Question[T], samples: int) -> Votes[T]:
        """Ask until the vote is decided, `samples` times at most."""
        question = question.by_default(self._default_model)
        known = self._failed.get((question.digest, question.occurrence, samples))
        if known is not None:
            return known
        deadline = Deadline(self._retry.per_verdict)
        pending = PendingQuestion(question, next(self._turns), deadline)
        outcomes: list[T | str] = []
        while more := votes.needed(question, outcomes, samples):
            numbers = range(len(outcomes) + 1, len(outcomes) + more + 1)
            replies = await asyncio.gather(*(self._sample(pending, n) for n in numbers))
            for reply in replies:
                if isinstance(reply, NoAnswer):
                    return Votes(failure=reply.reason)
                outcomes.append(votes.read(question, reply))
        return self._outcome(pending, outcomes, samples)

    def _outcome(self, pending: PendingQuestion, outcomes: list[T | str], samples: int) -> Votes[T]:
        question: Question[T] = pending.question
        result = votes.count(question, outcomes, samples)
        if result.failure is not None:
            # Kept for this run, so that both sides fare alike; not for the next one.
            self._failed[question.digest, question.occurrence, samples] = result
            spoilt = (n for n, said in enumerate(outcomes, 1) if said not in result.answers)
            forget_replies(self._store, [question.key(number) for number in spoilt])
        elif pending.called and result.yes:
            self._counter.saved(question.criterion, samples - len(outcomes))
        return result if pending.called else replace(result, from_store=True)

    async def _sample(self, pending: PendingQuestion, sample: int) -> Reply | NoAnswer:
        """One sample: from the store, from whoever is asking it already, or from the judge."""
        key = pending.question.key(sample)
        stored = self._stored(pending, key)
        if stored is not None:
            return stored
        task = self._in_flight.get(key)
        if task is None:
            task = asyncio.create_task(self._obtain(pending, sample, key))
            self._in_flight[key] = task
            task.add_done_callback(lambda _: self._in_flight.pop(key))
            return await asyncio.shield(task)
        reply = await asyncio.shield(task)
        if isinstance(reply, Reply):
            self._count_hit(pending)
        return reply

    async def _obtain(self, pending: PendingQuestion, sample: int, key: str) -> Reply | NoAnswer:
        """Call until there is an answer, or a reason to give up."""
        if isinstance(self._provider, str):
            return NoAnswer(self._provider)
        attempts = Attempts(self._retry, pending.deadline)
        while True:
            async with self._limiter.slot(pending.turn) as began:
                stored = self._stored(pending, key)  # by another process, while this one queued
                if stored is not None:
                    return stored
                decision = self._before_call(pending, attempts)
                if isinstance(decision, GiveUp):
                    return NoAnswer(decision.reason)
                outcome = await self._call(self._provider, pending, sample, attempts)
            if isinstance(outcome, Reply):
                self._keep(pending, key, outcome)
                return outcome
            decision = self._after_failure(pending, attempts, outcome, began)
            if isinstance(decision, GiveUp):
                return NoAnswer(decision.reason)
            await asyncio.sleep(decision.after)

    def _before_call(self, pending: PendingQuestion, attempts: Attempts) -> Retry | GiveUp:
        if self._max_calls and self._sent >= self._max_calls:
            return GiveUp(
                f"the limit of {self._max_calls} judge calls is reached: "
                "raise `max_calls` under `[judge]` in gradegate.toml"
            )
        moment = now()
        decision = attempts.before_call(moment)
        if isinstance(decision, GiveUp):
            return decision
        return self._breaker.check(pending.question.model, moment)

    async def _call(
        self, provider: JudgeProvider, pending: PendingQuestion, sample: int, attempts: Attempts
    ) -> Reply | CallFailure:
        self._sent += 1
        limit = attempts.time_for_call(now())
        try:
            async with asyncio.timeout(limit):
                return await provider.answer(pending.question, sample)
        except TimeoutError:
            return attempts.cut_off(limit)

    def _after_failure(
        self, pending: PendingQuestion, attempts: Attempts, failure: CallFailure, began: float
    ) -> Retry | GiveUp:
        self._counter.retry(pending.question.criterion)
        moment = now()
        decision = self._breaker.failed(pending.question.model, failure, moment)
        if isinstance(decision, GiveUp):
            return decision
        if failure.throttled:
            self._limiter.slow_down(began, failure.retry_after)
        return attempts.after_failure(failure, moment)

    def _keep(self, pending: PendingQuestion, key: str, reply: Reply) -> None:
        pending.called = True
        store_reply(self._store, key, reply)
        self._limiter.answered()
        self._breaker.answered(pending.question.model)
        self._counter.call(pending.question.criterion, reply)
        self._rate.tick(now())
        self._report()

    def _stored(self, pending: PendingQuestion, key: str) -> Reply | None:
        stored = stored_reply(self._store, key)
        if stored is not None:
            self._count_hit(pending)
        return stored

    def _count_hit(self, pending: PendingQuestion) -> None:
        self._counter.hit(pending.question.criterion)
        self._report()

    def _report(self) -> None:
        counter, waiting = self._counter, len(self._in_flight)
        self._progress(JudgeProgress(counter.calls, counter.hits, waiting, self._rate.rate))
