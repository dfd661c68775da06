"""Who speaks to the agent, and how a conversation goes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gradegate.agents.process import Failure
from gradegate.model.case import Case
from gradegate.model.evalset import Content, Invocation
from gradegate.model.trace import NotRun
from gradegate.ports import User


class Listener(Protocol):
    """The agent's end of a conversation."""

    async def turn(self, message: Content) -> Invocation | Failure:
        """What the agent did with the message."""
        ...


class StaticUser:
    """Says what the eval case says, whatever the agent answers."""

    def __init__(self, conversation: Sequence[Invocation]) -> None:
        self._messages = [invocation.user_content for invocation in conversation]

    async def next_message(self, dialogue: Sequence[Invocation]) -> Content | NotRun | None:
        """The message of the next turn, until all are said."""
        spoken = len(dialogue)
        return self._messages[spoken] if spoken < len(self._messages) else None


class NobodyToTalk:
    """Stands in for a simulated user where no model was given to play one."""

    async def next_message(self, dialogue: Sequence[Invocation]) -> Content | NotRun | None:
        """Say that this cannot be run."""
        del dialogue
        return NotRun("the case has a simulated user, and there is no model here to play it")


def written_users(case: Case, run: int) -> User:
    """The users of static conversations, the same in every run."""
    del run
    conversation = case.definition.conversation
    return NobodyToTalk() if conversation is None else StaticUser(conversation)


@dataclass(frozen=True)
class Dialogue:
    """The turns that were had, and why there were no more if that was not planned."""

    invocations: tuple[Invocation, ...] = ()
    failure: Failure | NotRun | None = None


async def converse(user: User, agent: Listener) -> Dialogue:
    """Let the user talk to the agent until the user is done or one of them fails."""
    had: list[Invocation] = []
    while (message := await user.next_message(had)) is not None:
        if isinstance(message, NotRun):
            return Dialogue(tuple(had), message)
        answer = await agent.turn(message)
        if isinstance(answer, Failure):
            return Dialogue(tuple(had), answer)
        had.append(answer)
    return Dialogue(tuple(had))
