"""One client in virtual time, and what can be said to it."""

from collections.abc import Awaitable, Callable
from typing import Any

from gradegate.judge.client import JudgeClient
from gradegate.model.question import Votes
from gradegate.model.settings import JudgeSettings
from gradegate.ports import CallFailure, Reply
from gradegate.store.sqlite import SqliteStore
from tests.standins.judging import (
    Opinion,
    Scripted,
    question,
    says,
)
from tests.standins.virtual_time import in_virtual_time

BUSY = CallFailure("429 RESOURCE_EXHAUSTED", retryable=True, throttled=True)
RESET = CallFailure("the connection broke", retryable=True)
BAD_KEY = CallFailure("API key not valid", retryable=False, for_all=True)
BAD_QUESTION = CallFailure("400 INVALID_ARGUMENT", retryable=False)


def yes(*_: object) -> Reply:
    """What an agreeable judge says."""
    return says("yes")


def asking(
    provider: Scripted | str,
    main: Callable[[JudgeClient], Awaitable[Any]],
    *,
    store: SqliteStore | None = None,
    limits: JudgeSettings | None = None,
    **options: Any,
) -> Any:
    """Run `main` with a client, in virtual time; options are the client's own."""

    async def run() -> Any:
        judge = limits or JudgeSettings()
        async with JudgeClient(provider, store or SqliteStore.in_memory(), judge, **options) as ask:
            return await main(ask)

    return in_virtual_time(run())


def ask_once(provider: Scripted | str, samples: int = 5, **given: Any) -> Votes[Opinion]:
    """The votes on one question."""

    async def main(ask: JudgeClient) -> Votes[Opinion]:
        return await ask(question(), samples)

    votes: Votes[Opinion] = asking(provider, main, **given)
    return votes
