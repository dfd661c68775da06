"""Each question to the provider of its model, opened when it is first asked.

A new provider is a file here and a line in `_PROVIDERS`.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gradegate.judge.providers import gemini, replayed, vertex
from gradegate.model.question import VERTEX, Question
from gradegate.model.settings import JudgeSettings
from gradegate.ports import CallFailure, JudgeProvider, Machine, Reply

Opener = Callable[[Mapping[str, str], Sequence[Path], JudgeSettings], JudgeProvider | str]
"""Opens a provider by what the environment, the agents' folders and the settings say.

A string says which variable to set. It is called in a thread, so that it may import a slow SDK.
"""

_PROVIDERS: Mapping[str, Opener] = {
    VERTEX: vertex.open_provider,
    "": gemini.open_provider,
}
"""By what a model's name begins with; the first that fits."""


def open_router(
    machine: Machine, folders: Sequence[Path], settings: JudgeSettings
) -> JudgeProvider:
    """The way to every judge; where there are recorded answers, to them alone."""
    if machine.answers is not None:
        return OnDemand(partial(replayed.ReplayedProvider, machine.answers))
    return Router(
        {
            prefix: OnDemand(partial(opener, machine.environ, folders, settings))
            for prefix, opener in _PROVIDERS.items()
        }
    )


class Router:
    """Puts a question to the first provider whose prefix its model's name has."""

    def __init__(self, providers: Mapping[str, JudgeProvider]) -> None:
        self._providers = providers

    async def answer(self, question: Question[Any], sample: int) -> Reply | CallFailure:
        """What the one who is meant answers."""
        fitting = (
            provider
            for prefix, provider in self._providers.items()
            if question.model.startswith(prefix)
        )
        return await next(fitting).answer(question, sample)

    async def close(self) -> None:
        """Close them all."""
        for provider in self._providers.values():
            await provider.close()


class OnDemand:
    """Opens the provider with the first question. A string says why there is none."""

    def __init__(self, opener: Callable[[], JudgeProvider | str]) -> None:
        self._open = opener
        self._provider: JudgeProvider | str | None = None
        self._opening = asyncio.Lock()

    async def answer(self, question: Question[Any], sample: int) -> Reply | CallFailure:
        """What the provider answers."""
        async with self._opening:
            if self._provider is None:
                self._provider = await asyncio.to_thread(self._open)
        if isinstance(self._provider, str):
            return CallFailure(self._provider, retryable=False, for_all=True)
        return await self._provider.answer(question, sample)

    async def close(self) -> None:
        """Close the connections, where there are any."""
        if self._provider is not None and not isinstance(self._provider, str):
            await self._provider.close()
