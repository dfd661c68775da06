"""One asker in virtual time, and what can be said to it."""

from collections.abc import Awaitable, Callable
from typing import Any

from gradegate.judge.client import JudgeClient
from gradegate.judge.usage import JudgeProgress
from gradegate.model.question import Votes
from gradegate.model.settings import JudgeSettings
from gradegate.ports import CallFailure, Reply
from gradegate.store.memory import MemoryStore
from tests.standins.judging import (
    Opinion,
    Scripted,
    question,
    says,
)
from tests.standins.virtual_time import in_virtual_time

BUSY = CallFailure("429 RESOURCE_EXHAUSTED", may_pass=True, slow_down=True)
RESET = CallFailure("the connection broke", may_pass=True)
BAD_KEY = CallFailure("API key not valid", may_pass=False, for_all=True)
BAD_QUESTION = CallFailure("400 INVALID_ARGUMENT", may_pass=False)


def yes(*_: object) -> Reply:
    """What an agreeable judge says."""
    return says("yes")


def asking(
    answerer: Scripted | str,
    main: Callable[[JudgeClient], Awaitable[Any]],
    *,
    store: MemoryStore | None = None,
    limits: JudgeSettings | None = None,
    progress: Callable[[JudgeProgress], None] = lambda _: None,
) -> Any:
    """Run `main` with an asker, in virtual time."""

    async def run() -> Any:
        judge = limits or JudgeSettings()
        async with JudgeClient(answerer, store or MemoryStore(), judge, progress=progress) as ask:
            return await main(ask)

    return in_virtual_time(run())


def ask_once(answerer: Scripted | str, samples: int = 5, **given: Any) -> Votes[Opinion]:
    """The votes on one question."""

    async def main(ask: JudgeClient) -> Votes[Opinion]:
        return await ask(question(), samples)

    votes: Votes[Opinion] = asking(answerer, main, **given)
    return votes
