"""Tools whose calls are answered from a recording, or whose answers are taken down for one.

A plugin sees every call before it is made and puts `answer` in the place of the tool's own
`run_async`. So callbacks, plugins and handlers of errors are the agent's as ever, and a tool of
an agent that is called as a tool is answered like any other.
"""

import builtins
import copy
import json
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from fnmatch import fnmatchcase
from typing import Any

from .serialization import Json

INSIDE = frozenset(
    {
        "adk_request_confirmation",
        "adk_request_credential",
        "adk_request_input",
        "exit_loop",
        "load_artifacts",
        "load_memory",
        "set_model_response",
        "transfer_to_agent",
    }
)
"""ADK's own, which steer the agent and need nothing from outside: never answered, always run."""
MCP = frozenset({"McpToolset", "MCPToolset"})
ACTIONS = ("escalate", "skip_summarization", "transfer_to_agent")

Run = Callable[..., Awaitable[Any]]
current: ContextVar["Tape | None"] = ContextVar("gradegate_tape", default=None)
"""Of the session that is having its turn: tools may be shared by several."""


class NotRecordedError(Exception):
    """Nothing stands in for an MCP server."""


class Tape:
    """What the tools of one session answered, or are to answer."""

    def __init__(self, told: Json) -> None:
        self.records = told["mode"] == "record"
        self._live = told.get("missing") == "live"
        self._ignored = told.get("ignore_args") or []
        self._answers = told.get("answers") or []
        self._used: set[int] = set()
        self._declared: Json = told.get("toolsets") or {}
        self._seen: Json = {}
        self._calls: list[Json] = []
        self.asked: dict[str, Json] = {}
        """The arguments of calls as the model gave them, by the calls' ids."""

    def take(self) -> Json:
        """What happened since this was asked last."""
        calls, self._calls = self._calls, []
        return {"tools": calls, "toolsets": self._seen if self.records else {}}

    async def run(self, tool: Any, own: Run, args: Json, context: Any) -> Any:
        """The tool's answer, from wherever it comes."""
        asked = self.asked.pop(context.function_call_id or "", args)
        if self.records:
            return await self._record(tool, own, asked, args, context)
        found = self._find(tool.name, asked)
        if found is not None:
            self._note(tool, asked, found["source"])
            return play(found, context)
        self._note(tool, asked, "live" if self._live else "missing")
        if self._live:
            return await own(args=args, tool_context=context)
        return {"error": f"no answer of {tool.name} is recorded for these arguments"}

    async def declarations(self, key: str, own: Run, context: Any) -> Any:
        """The tools of an MCP server, which need not be there where they were recorded."""
        if self.records:
            tools = await own(context)
            self._seen[key] = [declaration(tool) for tool in tools]
            return tools
        if key in self._declared:
            return [stand_in(told, own) for told in self._declared[key]]
        if self._live:
            return await own(context)
        if key not in self._seen:
            self._seen[key] = []
            self._calls.append({"name": f"MCP toolset {key}", "source": "missing"})
        raise NotRecordedError(
            f"the tools of MCP toolset {key} are not recorded: run `--tools record` once"
        )

    def _find(self, name: str, args: Json) -> "Json | None":
        """The next answer to this call; the last one again where there is no more."""
        wanted = self._without_ignored(name, args)
        last: Json | None = None
        for number, one in enumerate(self._answers):
            if one["name"] == name and self._without_ignored(name, one.get("args")) == wanted:
                last = one
                if number not in self._used:
                    self._used.add(number)
                    break
        return last

    def _without_ignored(self, name: str, args: "Json | None") -> Json:
        return without(args or {}, name, self._ignored)

    async def _record(self, tool: Any, own: Run, asked: Json, args: Json, context: Any) -> Any:
        before = dict(context.actions.state_delta)
        try:
            answer = await own(args=args, tool_context=context)
        except Exception as error:
            self._note(tool, asked, "live", error=f"{type(error).__name__}: {error}")
            raise
        state = context.actions.state_delta
        changed = {key: value for key, value in state.items() if before.get(key) != value}
        actions = {name: getattr(context.actions, name, None) for name in ACTIONS}
        self._note(
            tool,
            asked,
            "live",
            response=answer,
            state=changed,
            actions={name: value for name, value in actions.items() if value is not None},
        )
        return answer

    def _note(self, tool: Any, args: Json, source: str, **more: Any) -> None:
        kept = {"name": tool.name, "args": args, "source": source, **more}
        self._calls.append(as_json({key: value for key, value in kept.items() if value != {}}))


def play(told: Json, context: Any) -> Any:
    """Answer as the tool did, with what it did to the session."""
    if told.get("error") is not None:
        raise recorded_error(told["error"])
    for key, value in (told.get("state") or {}).items():
        context.state[key] = copy.deepcopy(value)
    for name, value in (told.get("actions") or {}).items():
        if name in ACTIONS:
            setattr(context.actions, name, value)
    return copy.deepcopy(told.get("response"))


def recorded_error(told: str) -> Any:
    """What a tool raised, as far as it has a name that Python knows."""
    name, _, message = told.partition(": ")
    known = getattr(builtins, name, None)
    if isinstance(known, type) and issubclass(known, Exception):
        try:
            return known(message)
        except TypeError:  # it wants more than a message
            pass
    return type(name, (Exception,), {})(message)


def without(args: Json, path: str, ignored: "list[str]") -> Json:
    """The arguments but for those that a pattern such as `*.interruptId` names, at any depth."""
    kept = {}
    for name, value in args.items():
        place = f"{path}.{name}"
        if not any(fnmatchcase(place, pattern) for pattern in ignored):
            kept[name] = without(value, place, ignored) if isinstance(value, dict) else value
    return kept


def as_json(value: Any) -> Any:
    """The value as JSON has it; what has no JSON is told in words."""
    from pydantic_core import to_jsonable_python

    return json.loads(json.dumps(to_jsonable_python(value, fallback=str), default=str))


def answering_tools(root: Any) -> list[Any]:
    """The plugin that has every tool answered by the tape of its session.

    google-adk has plugins since 1.7; before that the agents' own callbacks do it.
    """
    try:
        from google.adk.plugins.base_plugin import BasePlugin
    except ImportError:
        for agent in agents_below(root):
            watch(agent)
        return []

    class ToolTape(BasePlugin):  # type: ignore[misc] # google-adk is not where we are checked
        async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
            del callback_context
            prepare_agent(agent)

        async def before_tool_callback(
            self, *, tool: Any, tool_args: Json, tool_context: Any
        ) -> None:
            prepare_tool(tool, tool_args, tool_context)

    return [ToolTape("gradegate_tools")]


def prepare_agent(agent: Any) -> None:
    """Have the agent's MCP toolsets ask the tape which tools there are."""
    toolsets = [tool for tool in getattr(agent, "tools", None) or () if is_mcp(tool)]
    for number, toolset in enumerate(toolsets):
        if not hasattr(toolset.get_tools, "toolset"):
            toolset.get_tools = listing(f"{agent.name}/{number}", toolset.get_tools)


def listing(key: str, own: Run) -> Run:
    """A toolset's `get_tools`, as long as there is a tape."""

    async def get_tools(readonly_context: Any = None) -> Any:
        tape = current.get()
        if tape is None:
            return await own(readonly_context)
        return await tape.declarations(key, own, readonly_context)

    get_tools.toolset = key  # type: ignore[attr-defined] # by which it is known to be ours
    return get_tools


def prepare_tool(tool: Any, args: Json, context: Any) -> None:
    """Have the tool answered by the tape, and an agent that is one by its own tools."""
    tape = current.get()
    if tape is None or tool.name in INSIDE:
        return
    if any(cls.__name__.endswith("AgentTool") for cls in type(tool).__mro__):
        for agent in agents_below(getattr(tool, "agent", None)):
            watch(agent)
        return
    if context.function_call_id:
        tape.asked.setdefault(context.function_call_id, copy.deepcopy(args))
    run = vars(tool).get("run_async")
    if getattr(run, "tool", None) is not tool:  # a copy has that of the original
        own = type(tool).run_async.__get__(tool) if hasattr(run, "tool") else tool.run_async
        tool.run_async = answering(tool, own)


def answering(tool: Any, own: Run) -> Run:
    """A tool's `run_async`, as long as there is a tape."""

    async def run_async(*, args: Json, tool_context: Any) -> Any:
        tape = current.get()
        if tape is None:
            return await own(args=args, tool_context=tool_context)
        return await tape.run(tool, own, args, tool_context)

    run_async.tool = tool  # type: ignore[attr-defined] # by which it is known to be ours
    return run_async


def agents_below(agent: Any) -> Iterator[Any]:
    """An agent and all that it can hand over to."""
    if agent is None:
        return
    yield agent
    for other in getattr(agent, "sub_agents", None) or ():
        yield from agents_below(other)


def watch(agent: Any) -> None:
    """See an agent's calls without a plugin: one that is a tool may have a runner without ours."""
    prepare_agent(agent)
    if not hasattr(agent, "before_tool_callback"):
        return
    if not hasattr(agent, "canonical_before_tool_callbacks"):  # before 1.0 there is one at most
        if not hasattr(agent.before_tool_callback, "gradegate"):
            agent.before_tool_callback = alone(agent.before_tool_callback)
        return
    there = agent.before_tool_callback or []
    callbacks = there if isinstance(there, list) else [there]
    if before_tool not in callbacks:
        agent.before_tool_callback = [before_tool, *callbacks]


def before_tool(tool: Any, args: Json, tool_context: Any) -> None:
    """An agent's own callback, which answers nothing."""
    prepare_tool(tool, args, tool_context)


def alone(own: "Callable[..., Any] | None") -> Callable[..., Any]:
    """The same where an agent has room for one callback, and may have its own there."""

    def callback(tool: Any, args: Json, tool_context: Any) -> Any:
        prepare_tool(tool, args, tool_context)
        return own(tool, args, tool_context) if own else None

    callback.gradegate = True  # type: ignore[attr-defined] # by which it is known to be ours
    return callback


def is_mcp(tool: Any) -> bool:
    """Whether it stands for the tools of an MCP server."""
    return any(cls.__name__ in MCP for cls in type(tool).__mro__)


def declaration(tool: Any) -> Json:
    """What the model is told of a tool."""
    told = tool._get_declaration()  # noqa: SLF001 - ADK has no other way
    return {
        "name": tool.name,
        "description": tool.description,
        "declaration": told and told.model_dump(mode="json", exclude_none=True),
    }


def stand_in(told: Json, listed: Run) -> Any:
    """A tool that is declared as it was recorded; called, it looks for the real one."""
    from google.adk.tools.base_tool import BaseTool
    from google.genai import types

    class RecordedTool(BaseTool):  # type: ignore[misc] # google-adk is not where we are checked
        def _get_declaration(self) -> Any:
            declared = told.get("declaration")
            return declared and types.FunctionDeclaration.model_validate(declared)

        async def run_async(self, *, args: Json, tool_context: Any) -> Any:
            real = next((one for one in await listed() if one.name == told["name"]), None)
            if real is None:
                raise LookupError(f"the MCP server has no tool {told['name']}")
            return await real.run_async(args=args, tool_context=tool_context)

    return RecordedTool(name=told["name"], description=told.get("description") or "")
