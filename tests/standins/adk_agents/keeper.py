"""An ADK agent without a model that keeps what it said, in the ways that KEEPS names.

Asked something new it answers with its pid, its parent's and a number drawn by chance.
"""

import os
import random
import tempfile
import threading
from collections.abc import AsyncGenerator
from pathlib import Path

from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.genai import types

KEEPS = os.environ.get("KEEPS", "memory")
HOME = Path.home()
"""Where it lay when the agent was loaded."""

said: dict[str, str] = {}
if KEEPS == "dice":
    dice = random.Random()
if KEEPS == "thread":
    threading.Thread(target=threading.Event().wait, daemon=True).start()


def files(question: str) -> list[Path]:
    """Where it keeps what it said, beside its memory."""
    if KEEPS == "home at first":
        return [HOME / question]
    return [Path.home() / question, Path(tempfile.gettempdir()) / question]


def answer(question: str) -> str:
    """What it said before, if it still has that."""
    for file in files(question):
        if file.is_file():
            return file.read_text(encoding="utf-8")
    if question not in said:
        drawn = dice if KEEPS == "dice" else random
        said[question] = f"{os.getpid()} {os.getppid()} {drawn.getrandbits(64)}"
        for file in files(question):
            file.write_text(said[question], encoding="utf-8")
    return said[question]


class Keeper(BaseAgent):  # type: ignore[misc] # google-adk is not where we are checked
    """Answers as above."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        said_now = answer(ctx.user_content.parts[0].text)
        content = types.Content(role="model", parts=[types.Part(text=said_now)])
        yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content)


root_agent = Keeper(name="keeper")
