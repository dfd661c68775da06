"""Criteria that judge a conversation as a whole: what they are shown, and how it is reported."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from gradegate.criteria.context import instructions_of, tools_of
from gradegate.criteria.options import Options
from gradegate.model.evalset import Content, Invocation, Part
from gradegate.model.result import CriterionResult, InvocationResult, Status

Json = dict[str, Any]

WITH_THE_LAST = "judged together with the last turn"


def judged_once(
    options: Options, turns: Sequence[Invocation], last: InvocationResult
) -> CriterionResult:
    """The verdict on the whole stands with the last turn; earlier ones have none of their own."""
    earlier = InvocationResult(status=Status.NOT_EVALUATED, reason=WITH_THE_LAST)
    return CriterionResult(
        score=last.score,
        threshold=options.threshold,
        status=options.status_of(last.score),
        reason=last.reason,
        invocations=(*(earlier for _ in turns[1:]), last),
        rubrics=last.rubrics,
    )


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
