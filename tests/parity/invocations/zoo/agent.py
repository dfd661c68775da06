"""An app with a plugin, tools, a tool that is an agent, and agents that run others.

The model decides what happens by the first word of what the user says; see the tests' model.
"""

import asyncio
from typing import Any

from google.adk.agents import Agent, ParallelAgent, SequentialAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.apps import App
from google.adk.models import LlmRequest, LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools import LongRunningFunctionTool, ToolContext
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

MODEL = "gemini-2.5-flash"


def look(thing: str, tool_context: ToolContext) -> dict[str, Any]:
    """Look at a thing."""
    tool_context.state["looked_at"] = thing
    return {"thing": thing, "color": None, "sizes": [1, 2.5], "nested": {"ok": True}}


def break_down() -> str:
    """Raise."""
    raise RuntimeError("the tool is broken")


def order(item: str) -> dict[str, str]:
    """Order something that takes its time."""
    return {"status": "pending", "item": item}


def guard(callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
    """Answer in the model's place where the user says so."""
    del callback_context
    last = llm_request.contents[-1].parts
    if last and (last[0].text or "").startswith("guarded"):
        said = types.Content(role="model", parts=[types.Part(text="Not with me.")])
        return LlmResponse(content=said)
    return None


class Polite(BasePlugin):  # type: ignore[misc] # google-adk is not where we are checked
    """Adds a word to every instruction."""

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Add it."""
        del callback_context
        llm_request.append_instructions(["Be polite."])
        return None


def helper(name: str) -> Agent:
    """An agent that only talks."""
    return Agent(name=name, model=MODEL, description=name, instruction=f"You are {name}.")


async def dawdle(callback_context: CallbackContext) -> None:
    """Let the other one finish first, so that two runs can be compared."""
    del callback_context
    await asyncio.sleep(0.3)


right = helper("right")
right.before_agent_callback = dawdle

zoo = Agent(
    name="zoo",
    model=MODEL,
    description="Keeps agents.",
    instruction="You keep a zoo. Last seen: {looked_at?}.",
    before_model_callback=guard,
    tools=[look, break_down, LongRunningFunctionTool(order), AgentTool(helper("expert"))],
    sub_agents=[
        SequentialAgent(name="line", description="x", sub_agents=[helper("one"), helper("two")]),
        ParallelAgent(name="pair", description="x", sub_agents=[helper("left"), right]),
    ],
)
app = App(name="zoo", root_agent=zoo, plugins=[Polite(name="polite")])
