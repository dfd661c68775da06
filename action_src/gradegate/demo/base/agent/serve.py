"""The line protocol: a JSON object a line, in and out; sessions may overlap."""

import hashlib
import json
import random
import sys
from pathlib import Path
from typing import Any

from desk import Desk, Turn

Json = dict[str, Any]
TIDE = 25
"""Another one, another fortune."""


def luck_of(eval_id: str, run: int) -> random.Random:
    """Fortune that changes with every run and every change of the desk, and is fair to both."""
    source = Path(__file__).with_name("desk.py").read_bytes()
    seed = hashlib.sha256(source + f"{eval_id} {run} {TIDE}".encode())
    return random.Random(seed.digest())


def invocation_of(turn: Turn) -> Json:
    """A turn as ADK writes it down."""
    uses = [{"name": call.tool, "args": call.args} for call in turn.calls]
    responses = [{"name": call.tool, "response": call.response} for call in turn.calls]
    return {
        "final_response": {"role": "model", "parts": [{"text": turn.answer}]},
        "intermediate_data": {"tool_uses": uses, "tool_responses": responses},
    }


def main() -> None:
    """Serve until there is nothing more to read."""
    desks: dict[str, Desk] = {}
    for line in sys.stdin:
        message = json.loads(line)
        session = message["session"]
        answer: Json = {"ok": True}
        match message["op"]:
            case "open":
                desks[session] = Desk(luck_of(message["eval_id"], message["run"]))
            case "turn":
                said = message["user_content"]["parts"][0]["text"]
                answer = {"invocation": invocation_of(desks[session].answer(said))}
            case "close":
                del desks[session]
        print(json.dumps({"session": session, **answer}), flush=True)


main()
