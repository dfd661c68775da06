"""What an agent did, as JSON in the shape that ADK's evaluation keeps."""

import math
import traceback
from typing import Any

Json = dict[str, Any]

_TRACEBACK_LINES = 12
_MESSAGE_LENGTH = 1000


def invocation(events: list[Any], configs: Json) -> Json:
    """The turn as ADK's evaluation keeps it: what was said and called on the way, and the end."""
    agents = [event for event in events if (event.author or "").lower() != "user"]
    kept = [event for event in agents if is_worth_keeping(event)]
    final = None
    for event in agents:
        if event.content and event.content.parts and event.is_final_response():
            final = event if final is None or not has_text(final) or has_text(event) else final
    authors = {event.author for event in events}
    return {
        "invocation_id": events[0].invocation_id if events else "",
        "final_response": final and dump(final.content),
        "intermediate_data": {"invocation_events": [step(e, is_final=e is final) for e in kept]},
        "app_details": {
            "agent_details": {
                name: details(name, config) for name, config in configs.items() if name in authors
            }
        },
    }


def is_worth_keeping(event: Any) -> bool:
    """Whether something was said, called, answered, sent or grounded."""
    if event.grounding_metadata is not None:
        return True
    return any(
        part.function_call or part.function_response or part.text or part.inline_data
        for part in (event.content and event.content.parts) or ()
    )


def has_text(event: Any) -> bool:
    """Whether any part of the event is text."""
    return any(part.text for part in event.content.parts)


def step(event: Any, *, is_final: bool) -> Json:
    """One event; the final response stands elsewhere and is not told twice."""
    told_elsewhere = is_final and not event.get_function_calls()
    return {
        "author": event.author,
        "content": None if told_elsewhere else dump(event.content),
        "grounding_metadata": dump(event.grounding_metadata),
        "usage_metadata": dump(getattr(event, "usage_metadata", None)),
        "model_version": getattr(event, "model_version", None),
    }


def details(name: str, config: Any) -> Json:
    """What an agent was told and which tools it was given."""
    return {
        "name": name,
        "instructions": as_text(config.system_instruction),
        "tool_declarations": [dump(tool) for tool in config.tools or ()],
    }


def as_text(instruction: Any) -> str:
    """An instruction in any of the shapes that google-genai takes."""
    if isinstance(instruction, str):
        return instruction
    if isinstance(instruction, list):
        return "\n".join(map(as_text, instruction))
    parts = getattr(instruction, "parts", None)
    return as_text(parts) if parts else getattr(instruction, "text", None) or ""


def dump(value: Any) -> Any:
    """A value of ADK's as JSON; what has no JSON is told by its name."""
    if value is None:
        return None
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True, fallback=str)
    return {"name": getattr(value, "__name__", type(value).__name__)}


def plain(value: Any) -> Any:
    """The same value with nothing in it that JSON or UTF-8 cannot carry."""
    if isinstance(value, dict):
        return {plain(str(key)): plain(content) for key, content in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def why(error: BaseException) -> str:
    """What went wrong, and the last lines of where."""
    if isinstance(error, SystemExit):
        summary = f"the agent called for the end of its process: sys.exit({error.code!r})"
    else:
        summary = f"{type(error).__name__}: {error}"
    lines = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    tail = lines.rstrip().splitlines()[-_TRACEBACK_LINES:]
    return "\n".join([summary[:_MESSAGE_LENGTH], *tail])
