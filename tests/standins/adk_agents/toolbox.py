"""An ADK agent with tools that need the outside: a page, an MCP server, a clerk who has tools too.

Its model calls the tool that the user's first word names, and repeats what the tool answered.
"""

import json
import os
import sys
import urllib.request
import uuid
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.mcp_tool.mcp_toolset import MCPToolset
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from mcp import StdioServerParameters  # type: ignore[import-not-found] # not where we are checked

SERVER = Path(__file__).with_name("mcp_server.py")


class Repeating(BaseLlm):  # type: ignore[misc] # google-adk is not where we are checked
    """Asks for what it is told to, and says what came of it."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - as google-adk has it
    ) -> AsyncGenerator[LlmResponse, None]:
        del stream
        last = llm_request.contents[-1].parts[-1]
        if last.function_response:
            said = types.Part(text=json.dumps(last.function_response.response, sort_keys=True))
        else:
            said = self.call(last.text, set(llm_request.tools_dict))
        yield LlmResponse(content=types.Content(role="model", parts=[said]))

    def call(self, text: str, tools: "set[str]") -> types.Part:
        """The tool that is named, if there is one."""
        name, _, rest = text.partition(" ")
        if name not in tools:
            return types.Part(text=f"no tool {name}")
        args: dict[str, Any] = {"request": rest} if name == "clerk" else {"what": rest}
        if name == "fetch":
            args["interruptId"] = str(uuid.uuid4())
        return types.Part(function_call=types.FunctionCall(name=name, args=args))


def ask_outside(what: str) -> str:
    """What the outside says, which counts how often it is asked."""
    with urllib.request.urlopen(f"{os.environ['OUTSIDE']}/{what}") as page:  # noqa: S310 - a stand-in's
        return str(page.read().decode())


def fetch(what: str, interruptId: str, tool_context: ToolContext) -> dict[str, str]:  # noqa: N803 - as tools have it
    """Read a page."""
    del interruptId
    tool_context.state["fetched"] = what
    return {"page": ask_outside(f"fetch-{what}")}


def count_words(what: str, tool_context: ToolContext) -> str:
    """Needs no outside, but what was fetched before."""
    return f"{len(what.split())} after {tool_context.state.get('fetched')}"


def fail(what: str) -> str:
    """Raise."""
    ask_outside("fail")
    raise ValueError(f"{what} is broken")


model = Repeating(model="repeating")
clerk = LlmAgent(name="clerk", model=model, description="Knows things.", tools=[fetch])
root_agent = LlmAgent(
    name="toolbox",
    model=model,
    tools=[
        fetch,
        fail,
        count_words,
        AgentTool(clerk),
        MCPToolset(
            connection_params=StdioServerParameters(
                command=sys.executable, args=[str(SERVER)], env=dict(os.environ)
            )
        ),
    ],
)
