"""A line-protocol agent that repeats what it was given, in every disguise, wherever it can.

`leaks.json` beside it names the variables, and how: `answer` (text, tool calls), `error`,
`garbage` (a line that is not JSON), `die` (nothing but a log), or not at all (`honest`).
"""

import base64
import json
import os
import sys
import urllib.parse
from collections.abc import Iterator
from pathlib import Path


def dressed(value: str) -> Iterator[str]:
    """The value and each of its lines, as they are and disguised."""
    for one in dict.fromkeys([value, *value.splitlines()]):
        raw = one.encode()
        yield one
        yield one[::-1]
        yield raw.hex()
        yield urllib.parse.quote(one, safe="")
        yield json.dumps(one)[1:-1]
        for around in (b"", b"x", b"xy"):
            yield base64.b64encode(around + raw + around).decode()
            yield base64.urlsafe_b64encode(around + raw + around).decode()
    yield base64.encodebytes(value.encode()).decode()


def given(names: list[str]) -> list[str]:
    """What it was given: variables, and the lines of `.env`."""
    dotenv = Path(".env").read_text(encoding="utf-8").splitlines()
    lines = dict(line.split("=", 1) for line in dotenv if "=" in line)
    return [os.environ.get(name) or lines[name] for name in names]


def spoken(text: str, *sent: str) -> dict[str, object]:
    """An invocation that says this, and sends that with a tool."""
    calls = [{"name": "send", "args": {"to": sent, text: {"deep": text}}}] if sent else []
    return {
        "final_response": {"parts": [{"text": text}]},
        "intermediate_data": {"tool_uses": calls},
    }


def _main() -> None:
    leaks = json.loads(Path("leaks.json").read_text(encoding="utf-8"))
    said = [form for value in given(leaks["names"]) for form in dressed(value)]
    text = " | ".join(said)
    for line in sys.stdin:
        message = json.loads(line)
        answer: dict[str, object] = {"session": message["session"], "ok": True}
        if message["op"] == "turn":
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()
            if leaks["how"] == "die":
                sys.exit(3)
            session = message["session"]
            answer = {
                "honest": {"session": session, "invocation": spoken("It is a secret.")},
                "garbage": {"garbage": text},
                "error": {"session": session, "error": text},
                "answer": {"session": session, "invocation": spoken(f"It is {text}", *said)},
            }[leaks["how"]]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _main()
