"""The way from a criterion to a model: samples and votes, once for all criteria."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from pydantic import BaseModel

from gradegate.model.question import Question, Votes
from gradegate.model.result import Usage
from gradegate.model.settings import Judge
from gradegate.ports import Answerer, Ask, Store
from gradegate.scoring import votes
from gradegate.scoring.calls import Asking, Caller, Failed
from gradegate.scoring.patience import Clock, Patience
from gradegate.scoring.stored import forget_replies
from gradegate.scoring.usage import Ledger, Progress

T = TypeVar("T", bound=BaseModel)


class Asker:
    """Asks until the vote is decided, and asks no one the same thing twice.

    `answerer` may be the reason why there is none: what is in the store is used all the same.
    Use it as a context manager, so that connections are closed at the end.
    """

    def __init__(
        self,
        answerer: Answerer | str,
        store: Store,
        limits: Judge,
        *,
        patience: Patience | None = None,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        self._patience = patience or Patience()
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

    def billed_to(self, ledger: Ledger) -> Ask:
        """The same way to ask, counted in this ledger too, such as that of one side."""
        return _Billed(self, ledger)

    async def __call__(self, question: Question[T], samples: int) -> Votes[T]:
        """Ask until the vote is decided, `samples` times at most."""
        return await self.ask(question, samples)

    async def ask(self, question: Question[T], samples: int, *ledgers: Ledger) -> Votes[T]:
        """The same, counted in these ledgers too."""
        question = question.by_default(self._default_model)
        known = self._failed.get((question.digest, samples))
        if known is not None:
            return known
        clock = Clock(self._patience.per_verdict)
        asking = Asking(question, next(self._turns), clock, (self._caller.ledger, *ledgers))
        outcomes: list[T | str] = []
        while more := votes.needed(question, outcomes, samples):
            numbers = range(len(outcomes) + 1, len(outcomes) + more + 1)
            replies = await asyncio.gather(*(self._caller.sample(asking, n) for n in numbers))
            for reply in replies:
                if isinstance(reply, Failed):
                    return Votes(failure=reply.reason)
                outcomes.append(votes.read(question, reply))
        return self._outcome(asking, outcomes, samples)

    def _outcome(self, asking: Asking, outcomes: list[T | str], samples: int) -> Votes[T]:
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
    asker: Asker
    ledger: Ledger

    async def __call__(self, question: Question[T], samples: int) -> Votes[T]:
        return await self.asker.ask(question, samples, self.ledger)
