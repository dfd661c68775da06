"""What a judge is shown of a turn, in either of the shapes that ADK writes it down.

Everything here is plain JSON and says the same for two runs in which the same happened: the
ids of tool calls, which are random, become numbers. Only so is an answer that did not change
between two commits judged once.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from gradegate.model.evalset import (
    AppDetails,
    Content,
    FunctionCall,
    FunctionResponse,
    IntermediateData,
    Invocation,
    InvocationEvent,
    Part,
)

Json = dict[str, Any]

_NO_EVIDENCE = frozenset({"search_entry_point", "searchEntryPoint"})
"""The search widget's HTML: long, and nothing that an answer could rest on."""


def instructions_of(app: AppDetails | None) -> dict[str, str]:
    """The developer's instructions by agent."""
    agents = app.agent_details if app else {}
    return {name: agent.instructions for name, agent in agents.items() if agent.instructions}


def tools_of(app: AppDetails | None) -> dict[str, list[Any]]:
    """The tool declarations by agent."""
    agents = app.agent_details if app else {}
    declared = {name: list(agent.tool_declarations) for name, agent in agents.items()}
    return {name: tools for name, tools in declared.items() if tools}


def steps_of(data: IntermediateData | None, *, texts: bool = True) -> list[Json]:
    """Tool calls with their responses and, if wanted, what was said on the way, in order."""
    if data is None:
        return []
    if data.invocation_events is not None:
        return event_steps(data.invocation_events, texts=texts)
    said = data.intermediate_responses if texts else ()
    spoken = [{"author": author, "said": _text(parts)} for author, parts in said if _text(parts)]
    return [*spoken, *_paired(data.tool_uses, data.tool_responses)]


def event_steps(events: Iterable[InvocationEvent], *, texts: bool = True) -> list[Json]:
    """Events as steps; those with nothing to show are left out."""
    numbers = _Numbers()
    steps = (_step(event, numbers, texts=texts) for event in events)
    return [step for step in steps if step]


def grounding_of(events: Iterable[InvocationEvent]) -> list[Json]:
    """What the model's own tools, such as a search, say that its words rest on."""
    return [
        {"author": event.author, "grounding_metadata": _evidence(event.grounding_metadata)}
        for event in events
        if event.grounding_metadata
    ]


def events_of(turn: Invocation) -> tuple[InvocationEvent, ...]:
    """The turn's events; none where it was written down in the older shape."""
    data = turn.intermediate_data
    return (data.invocation_events or ()) if data else ()


def answer_of(turn: Invocation, *, with_intermediate: bool) -> str:
    """The final response, if wanted with what was said before and between tool calls."""
    said = _said_on_the_way(turn.intermediate_data) if with_intermediate else []
    return "\n".join(text for text in (*said, turn.response_text) if text)


def _said_on_the_way(data: IntermediateData | None) -> list[str]:
    if data is None:
        return []
    if data.invocation_events is not None:
        return [event.content.text for event in data.invocation_events if event.content]
    return [_text(parts) for _, parts in data.intermediate_responses]


def _text(parts: Iterable[Part]) -> str:
    return "\n".join(part.text for part in parts if part.text)


class _Numbers:
    """Numbers for the random ids of tool calls, in the order they turn up."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def of(self, call_id: str | None) -> Json:
        if call_id is None:
            return {}
        return {"call": self._seen.setdefault(call_id, len(self._seen) + 1)}


def _step(event: InvocationEvent, numbers: _Numbers, *, texts: bool) -> Json:
    parts = (event.content.parts or ()) if event.content else ()
    calls = [
        numbers.of(p.function_call.id) | _call(p.function_call) for p in parts if p.function_call
    ]
    responses = [
        numbers.of(p.function_response.id) | _response(p.function_response)
        for p in parts
        if p.function_response
    ]
    shown: Json = {"said": _text(parts)} if texts and _text(parts) else {}
    shown |= {"tool_calls": calls} if calls else {}
    shown |= {"tool_responses": responses} if responses else {}
    return {"author": event.author} | shown if shown else {}


def _call(call: FunctionCall) -> Json:
    return {"name": call.name, "args": call.args}


def _response(response: FunctionResponse) -> Json:
    return {"name": response.name, "response": response.response}


def _paired(calls: Sequence[FunctionCall], responses: Sequence[FunctionResponse]) -> list[Json]:
    """Each call with its response: the one of its id, or else the next of its name."""
    rest = list(responses)
    steps = []
    for call in calls:
        found = next((r for r in rest if _answers(r, call)), None)
        if found is not None:
            rest.remove(found)
        step: Json = {"tool_call": _call(call)}
        steps.append(step | ({"tool_response": found.response} if found else {}))
    return [*steps, *({"tool_response": _response(response)} for response in rest)]


def _answers(response: FunctionResponse, call: FunctionCall) -> bool:
    if response.id is not None and call.id is not None:
        return response.id == call.id
    return response.name == call.name


def _evidence(metadata: Json | None) -> Json:
    return {key: value for key, value in (metadata or {}).items() if key not in _NO_EVIDENCE}


def agents_of(turns: Sequence[Invocation]) -> dict[str, Json]:
    """Every agent that took part: its instructions and tools, as first seen."""
    found: dict[str, Json] = {}
    for turn in turns:
        instructions, tools = instructions_of(turn.app_details), tools_of(turn.app_details)
        for name in turn.app_details.agent_details if turn.app_details else ():
            agent = {"instructions": instructions.get(name, ""), "tools": tools.get(name, [])}
            found.setdefault(name, agent)
    return found


def events_in(turn: Invocation, calls: Mapping[str, str]) -> list[Json]:
    """All that was said and called in a turn, in order: the user first, the answer last.

    `calls` gives numbers to the ids of tool calls, which differ from run to run.
    """
    spoken = [("user", turn.user_content), *_on_the_way(turn), ("agent", turn.final_response)]
    return [
        {"author": author, "content": _plain(content, calls)}
        for author, content in spoken
        if content is not None and content.parts
    ]


def numbered_calls(turns: Sequence[Invocation]) -> dict[str, str]:
    """The ids of tool calls by number, in the order they turn up."""
    numbers = count(1)
    found: dict[str, str] = {}
    for turn in turns:
        ids = [one.id for one in turn.tool_calls] + [one.id for one in turn.tool_responses]
        for call_id in ids:
            if call_id is not None and call_id not in found:
                found[call_id] = f"call_{next(numbers)}"
    return found


def _on_the_way(turn: Invocation) -> list[tuple[str, Content | None]]:
    """The turn's events; in the older shape what was said, then each call, then each response."""
    data = turn.intermediate_data
    if data is None:
        return []
    if data.invocation_events is not None:
        return [(event.author, event.content) for event in data.invocation_events]
    said = [(author, Content(parts=parts)) for author, parts in data.intermediate_responses]
    calls = [Part(function_call=call) for call in data.tool_uses]
    responses = [Part(function_response=response) for response in data.tool_responses]
    tools = [("agent", Content(role="model", parts=(part,))) for part in calls]
    return [*said, *tools, *(("agent", Content(role="user", parts=(p,))) for p in responses)]


def _plain(content: Content, calls: Mapping[str, str]) -> Json:
    told = content.model_dump(mode="json", exclude_none=True)
    for part in told["parts"]:
        for kind in ("function_call", "function_response"):
            if part.get(kind, {}).get("id") is not None:
                part[kind]["id"] = calls[part[kind]["id"]]
    return told
