"""An ADK agent without a model: it does what the user says, the worst included."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator

from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions
from google.genai import types

_waiting: list[asyncio.Event] = []


class Doer(BaseAgent):  # type: ignore[misc] # google-adk is not where we are checked
    """Answers with the outcome of a deed; the first word names it."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        deed, _, rest = ctx.user_content.parts[0].text.partition(" ")
        said = await DEEDS[deed](ctx, rest)
        content = types.Content(role="model", parts=[types.Part(text=said)])
        actions = EventActions(state_delta={"user:seen": rest, "seen": rest})
        yield Event(
            author=self.name, invocation_id=ctx.invocation_id, content=content, actions=actions
        )


async def say(_: InvocationContext, words: str) -> str:
    """Repeat the words."""
    return words


async def fail(_: InvocationContext, words: str) -> str:
    """Raise."""
    raise ValueError(words)


async def leave(_: InvocationContext, words: str) -> str:
    """End the process, as Python code does."""
    sys.exit(int(words))


async def leave_in_a_task(_: InvocationContext, words: str) -> str:
    """The same where nobody of ours can catch it."""

    async def leaving() -> None:
        sys.exit(int(words))

    await asyncio.gather(leaving(), asyncio.sleep(0.1))
    return "never said"


async def drop_dead(_: InvocationContext, words: str) -> str:
    """End the process at once."""
    os._exit(int(words))


async def chatter(_: InvocationContext, words: str) -> str:
    """Print, in three ways."""
    print(words, flush=True)
    os.write(1, words.encode() + b"\n")
    subprocess.run(["echo", words], check=True)  # noqa: ASYNC221 - as agents do
    return "printed"


async def ask(_: InvocationContext, words: str) -> str:
    """Wait for somebody at a keyboard."""
    return input(words)  # noqa: ASYNC250 - as agents do


async def unprintable(_: InvocationContext, __: str) -> str:
    """Say what UTF-8 cannot."""
    return "half \ud800 a pair"


async def pid(_: InvocationContext, __: str) -> str:
    """Which process this is."""
    return str(os.getpid())


async def meet(_: InvocationContext, number: str) -> str:
    """Wait until so many turns have come here."""
    mine = asyncio.Event()
    _waiting.append(mine)
    if len(_waiting) == int(number):
        for other in _waiting:
            other.set()
    await mine.wait()
    return "met"


async def session(ctx: InvocationContext, _: str) -> str:
    """What the session looks like from inside."""
    about = ctx.session
    return json.dumps([about.app_name, about.user_id, about.id, dict(about.state)])


async def environment(_: InvocationContext, __: str) -> str:
    """The names of all variables."""
    return " ".join(sorted(os.environ))


DEEDS = {
    "say": say,
    "fail": fail,
    "leave": leave,
    "leave_in_a_task": leave_in_a_task,
    "drop_dead": drop_dead,
    "chatter": chatter,
    "ask": ask,
    "unprintable": unprintable,
    "pid": pid,
    "meet": meet,
    "session": session,
    "environment": environment,
}

root_agent = Doer(name="doer")
