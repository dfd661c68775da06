"""The model that plays all agents of the layouts, and their judge."""

import json
from typing import Any

from benchmarks.compatibility.layouts import ANSWER, CALL

Body = dict[str, Any]
TOOL = str(CALL["name"])
UNABLE = "I cannot help with that."


def answer(body: Body) -> str | Body:
    """A verdict for a judge's question; else what an agent with these instructions would say."""
    schema = body.get("generationConfig", {}).get("responseJsonSchema")
    if schema:
        return _verdict(body, schema)
    last = body["contents"][-1]["parts"][-1]
    if "functionResponse" in last:
        return ANSWER
    if TOOL in json.dumps(body.get("systemInstruction", {})):
        call = {"role": "model", "parts": [{"functionCall": CALL}]}
        return {"candidates": [{"content": call, "finishReason": "STOP"}]}
    return UNABLE


def _verdict(body: Body, schema: Body) -> str:
    right = UNABLE not in json.dumps(body["contents"])
    reason = "It tells the weather." if right else "It does not tell the weather."
    if "rubrics" in schema["properties"]:
        verdict = {"rubric_id": "weather", "reasoning": reason, "verdict": "yes" if right else "no"}
        return json.dumps({"rubrics": [verdict]})
    return json.dumps({"reasoning": reason, "verdict": "valid" if right else "invalid"})
