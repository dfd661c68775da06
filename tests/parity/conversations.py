"""Seeded conversations to score: turns, calls in both shapes, thresholds that bite."""

import math
from collections.abc import Sequence
from random import Random
from typing import Any

from tests.parity.against import Asked, Json, ours

TOOLS = ("search", "book_flight", "weather", None)
ARGUMENTS: tuple[Json | None, ...] = (
    None,
    {},
    {"n": 1},
    {"n": 1.0},
    {"n": True},
    {"n": "1"},
    {"city": "Paris", "days": [1, 2]},
    {"days": [1.0, 2], "city": "Paris"},
    {"city": "paris", "days": [1, 2]},
    {"days": [2, 1], "city": "Paris"},
    {"filter": {"max": None}},
    {"filter": {}},
)


def turn(**fields: Any) -> Json:
    """One invocation as JSON."""
    return {"user_content": {"role": "user", "parts": [{"text": "and now?"}]}, **fields}


def static_case(turns: Sequence[Json]) -> Json:
    """An eval case that expects these turns."""
    return {"eval_id": "case", "conversation": list(turns)}


def call(draw: Random) -> Json:
    """A call of a tool; few names and arguments, so that calls repeat."""
    made: Json = {"name": draw.choice(TOOLS)}
    args = draw.choice(ARGUMENTS)
    if args is not None or draw.random() < 0.5:
        made["args"] = args
    return made


def calls(draw: Random, at_most: int = 4) -> list[Json]:
    """Calls, with repetitions among them."""
    made = [call(draw) for _ in range(draw.randint(0, at_most))]
    return [*made, draw.choice(made)] if made and draw.random() < 0.3 else made


def slightly_other(draw: Random, expected: Sequence[Json]) -> list[Json]:
    """What an agent may have called: as expected, or with the usual deviations."""
    made = [dict(each) for each in expected]
    for _ in range(draw.choice((0, 0, 1, 1, 2))):
        match draw.choice(("more", "fewer", "other order", "other arguments", "twice")):
            case "more":
                made.insert(draw.randint(0, len(made)), call(draw))
            case "fewer" if made:
                made.pop(draw.randrange(len(made)))
            case "other order":
                draw.shuffle(made)
            case "other arguments" if made:
                draw.choice(made)["args"] = draw.choice(ARGUMENTS)
            case "twice" if made:
                made.append(dict(draw.choice(made)))
    for number, each in enumerate(made):
        each["id"] = f"call-{number}"
    return made


def intermediate_data(draw: Random, made: Sequence[Json]) -> Json | None:
    """The calls in either of ADK's shapes, or nothing where there are none."""
    if not made and draw.random() < 0.4:
        return draw.choice((None, {}, {"tool_uses": []}, {"invocation_events": []}))
    if draw.random() < 0.5:
        return {draw.choice(("tool_uses", "toolUses")): list(made), "tool_responses": []}
    return {draw.choice(("invocation_events", "invocationEvents")): _events(draw, made)}


def _events(draw: Random, made: Sequence[Json]) -> list[Json]:
    key = draw.choice(("function_call", "functionCall"))
    events: list[Json] = [{"author": "agent", "content": None}] if draw.random() < 0.3 else []
    rest = list(made)
    while rest:
        together, rest = rest[: (size := draw.randint(1, 3))], rest[size:]
        parts: list[Json] = [{key: each} for each in together]
        parts.insert(draw.randint(0, len(parts)), {"text": "let me see"})
        answered = [{"function_response": {"name": "search", "response": {"ok": True}}}]
        events.append({"author": "agent", "content": {"role": "model", "parts": parts}})
        events.append({"author": "agent", "content": {"role": "user", "parts": answered}})
    events.append({"author": "agent", "content": {"parts": draw.choice(([], None))}})
    return events


async def with_telling_thresholds(draw: Random, asked: Sequence[Asked]) -> list[Asked]:
    """Each with a threshold just met, just missed, or anywhere.

    The thresholds sit on our own score to the last bit: were google-adk's score another,
    even by that bit, the statuses would differ.
    """
    placed = []
    for each in asked:
        score = (await ours(each)).score or 0.0
        anywhere = draw.choice((0.0, 0.25, 1 / 3, 0.5, 2 / 3, 0.8, 1.0, draw.random()))
        just_missed = math.nextafter(score, 2.0)
        placed.append(each.with_threshold(draw.choice((score, just_missed, anywhere))))
    return placed
