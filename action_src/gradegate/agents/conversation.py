"""Who speaks to the agent, and how a conversation goes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gradegate.agents.process import Failure
from gradegate.model.evalset import Content, Invocation


class User(Protocol):
    """The one who talks to the agent: written down beforehand, or played by a model."""

    async def next_message(self, dialogue: Sequence[Invocation]) -> Content | None:
        """What to say after the dialogue so far; None to end it."""
        ...


class Listener(Protocol):
    """The agent's end of a conversation."""

    async def turn(self, message: Content) -> Invocation | Failure:
        """What the agent did with the message."""
        ...


class StaticUser:
    """Says what the eval case says, whatever the agent answers."""

    def __init__(self, conversation: Sequence[Invocation]) -> None:
        self._messages = [invocation.user_content for invocation in conversation]

    async def next_message(self, dialogue: Sequence[Invocation]) -> Content | None:
        """The message of the next turn, until all are said."""
        spoken = len(dialogue)
        return self._messages[spoken] if spoken < len(self._messages) else None


@dataclass(frozen=True)
class Dialogue:
    """The turns that were had, and why there were no more if that was not planned."""

    invocations: tuple[Invocation, ...] = ()
    failure: Failure | None = None


async def converse(user: User, agent: Listener) -> Dialogue:
    """Let the user talk to the agent until the user is done or the agent fails."""
    had: list[Invocation] = []
    while (message := await user.next_message(had)) is not None:
        answer = await agent.turn(message)
        if isinstance(answer, Failure):
            return Dialogue(tuple(had), answer)
        had.append(answer)
    return Dialogue(tuple(had))
