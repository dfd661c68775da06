"""The model of the zoo: what happens is in the user's first word."""

import json
from typing import Any

Body = dict[str, Any]
_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)


def call(name: str, **args: object) -> Body:
    """A part that calls a tool."""
    return {"functionCall": {"name": name, "args": args}}


PARTS: dict[str, list[Body]] = {
    "plain": [{"text": "Hello."}],
    "lines": [{"text": "One."}, {"text": ""}, {"text": "Two."}],
    "thinking": [{"text": "Hm.", "thought": True, "thoughtSignature": "_wA="}, {"text": "Yes."}],
    "calling": [call("look", thing="a cat", deep=None)],
    "talking": [{"text": "Let me see."}, call("look", thing="x"), call("look", thing="y")],
    "bare": [{"functionCall": {"name": "look"}}, call("look", thing="z")],
    "ordering": [call("order", item="hay")],
    "asking": [call("expert", request="What is a gnu?")],
    "lining": [call("transfer_to_agent", agent_name="line")],
    "pairing": [call("transfer_to_agent", agent_name="pair")],
    "painting": [{"inlineData": {"mimeType": "image/png", "data": _PIXEL}}],
    "breaking": [call("break_down")],
    "silent": [{"text": ""}],
}
GROUNDING = {
    "webSearchQueries": ["gnu"],
    "groundingChunks": [{"web": {"uri": "https://example.com", "title": "Gnu"}}],
    "groundingSupports": [
        {"segment": {"endIndex": 5, "text": "A gnu"}, "groundingChunkIndices": [0]}
    ],
}


def answer(body: Body) -> Body:
    """A whole candidate."""
    word = _first_word(body)
    if _has_answers(body) or _name(body) != "zoo":
        return _candidate([{"text": f"{_name(body)} is done."}])
    if word == "blocked":
        return {"finishReason": "SAFETY", "index": 0}
    if word == "grounded":
        return {**_candidate([{"text": "A gnu."}]), "groundingMetadata": GROUNDING}
    return _candidate(PARTS[word])


def _first_word(body: Body) -> str:
    said = [p.get("text", "") for c in body["contents"] if c["role"] == "user" for p in c["parts"]]
    asked = [text for text in said if text and not text.startswith(("For context:", "["))]
    return str(asked[-1]).split()[0] if asked else ""


def _has_answers(body: Body) -> bool:
    return any("functionResponse" in part for part in body["contents"][-1]["parts"])


def _name(body: Body) -> str:
    told = json.dumps(body["systemInstruction"])
    return told.partition('internal name is \\"')[2].partition('\\"')[0]


def _candidate(parts: list[Body]) -> Body:
    return {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
