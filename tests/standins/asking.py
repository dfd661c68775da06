"""One asker in virtual time, and what can be said to it."""

from collections.abc import Awaitable, Callable
from typing import Any

from gradegate.model.question import Votes
from gradegate.model.settings import Judge
from gradegate.ports import Reply, Trouble
from gradegate.scoring.ask import Asker
from gradegate.scoring.usage import Progress
from gradegate.store.memory import MemoryStore
from tests.standins.judging import (
    Opinion,
    Scripted,
    question,
    says,
)
from tests.standins.virtual_time import in_virtual_time

BUSY = Trouble("429 RESOURCE_EXHAUSTED", may_pass=True, slow_down=True)
RESET = Trouble("the connection broke", may_pass=True)
BAD_KEY = Trouble("API key not valid", may_pass=False, for_all=True)
BAD_QUESTION = Trouble("400 INVALID_ARGUMENT", may_pass=False)


def yes(*_: object) -> Reply:
    """What an agreeable judge says."""
    return says("yes")


def asking(
    answerer: Scripted | str,
    main: Callable[[Asker], Awaitable[Any]],
    *,
    store: MemoryStore | None = None,
    limits: Judge | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Any:
    """Run `main` with an asker, in virtual time."""

    async def run() -> Any:
        judge = limits or Judge()
        async with Asker(answerer, store or MemoryStore(), judge, progress=progress) as ask:
            return await main(ask)

    return in_virtual_time(run())


def ask_once(answerer: Scripted | str, samples: int = 5, **given: Any) -> Votes[Opinion]:
    """The votes on one question."""

    async def main(ask: Asker) -> Votes[Opinion]:
        return await ask(question(), samples)

    votes: Votes[Opinion] = asking(answerer, main, **given)
    return votes
