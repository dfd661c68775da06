"""A model that plays the travel desk of `examples/`: it calls the tools its instructions name.

A pull request that leaves a tool out of the instructions has an agent that no longer calls it,
as with a real model; that is how tests plant a regression.
"""

import json
import re
from typing import Any

Body = dict[str, Any]

_WEATHER = re.compile(r"weather in (\w+)|(\w+?)の天気")
_FLIGHTS = re.compile(r"[Ff]lights from (\w+) to (\w+)|(\w+?)から(\w+?)への便")
_REFUND = re.compile(r"refund my booking (\w+)|予約([A-Z]\d+)を払い戻")


def answer(body: Body) -> Body:
    """The candidate for a request's body."""
    question, answered = _last_question(body)
    if answered:
        return _says(_in_words(answered[-1], japanese=not question.isascii()))
    for pattern, tool, names in (
        (_WEATHER, "get_weather", ("city",)),
        (_FLIGHTS, "find_flights", ("origin", "destination")),
        (_REFUND, "refund_booking", ("booking",)),
    ):
        found = pattern.search(question)
        if found:
            values = [value for value in found.groups() if value]
            return _act(body, tool, dict(zip(names, values, strict=True)))
    return _says("I can help with weather, flights and refunds.")


def _act(body: Body, tool: str, args: dict[str, str]) -> Body:
    told = json.dumps(body.get("systemInstruction", {}))
    tools = {
        declaration["name"]
        for kind in body.get("tools", [])
        for declaration in kind.get("functionDeclarations", [])
    }
    if tool in tools and tool in told:
        return _calls(tool, args)
    if "transfer_to_agent" in tools and "refund_clerk" in told and tool == "refund_booking":
        return _calls("transfer_to_agent", {"agent_name": "refund_clerk"})
    return _says("It should be fine, as far as I remember.")


def _last_question(body: Body) -> tuple[str, list[dict[str, Any]]]:
    """What the traveller said last, and what this agent's tools have answered since."""
    question = ""
    answered: list[dict[str, Any]] = []
    for content in body["contents"]:
        for part in content["parts"]:
            text = part.get("text", "")
            if content.get("role") == "user" and text and not _is_context(text):
                question, answered = text, []
            if "functionResponse" in part:
                answered.append(part["functionResponse"])
    return question, [a for a in answered if a["name"] != "transfer_to_agent"]


def _is_context(text: str) -> bool:
    """ADK retells what other agents did as if the user said it."""
    return text.startswith(("For context:", "["))


def _in_words(answered: dict[str, Any], *, japanese: bool) -> str:
    said = answered["response"]
    if "error" in said:
        return f"I am sorry: {said['error']}."
    if answered["name"] == "get_weather":
        place, sky, celsius = said["city"], said["sky"], said["celsius"]
        return (
            f"{place}は{sky}、{celsius}度です。"
            if japanese
            else f"{place}: {sky}, {celsius} degrees."
        )
    if answered["name"] == "find_flights":
        return _flights(said, japanese=japanese)
    booking, euros = said["booking"], said.get("euros")
    if japanese:
        return f"予約{booking}の{euros}ユーロを払い戻しました。"
    return f"Booking {booking} is {said['status']}: {euros} euros."


def _flights(said: dict[str, Any], *, japanese: bool) -> str:
    form = (
        "{flight}便、{departs}発、{price} {currency}"
        if japanese
        else ("{flight} at {departs} for {price} {currency}")
    )
    each = [form.format(**flight, currency=said["currency"]) for flight in said["flights"]]
    return "、".join(each) + "です。" if japanese else "; ".join(each) + "."


def _says(text: str) -> Body:
    return _candidate({"text": text})


def _calls(tool: str, args: dict[str, str]) -> Body:
    return _candidate({"functionCall": {"name": tool, "args": args}})


def _candidate(part: dict[str, Any]) -> Body:
    return {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
