"""An agent that asks its service for every answer, many sessions at once.

    python agent.py PORT

Speaks the line protocol. The service (`measured.Service`) says when it may, and how long it takes.
"""

import json
import socket
import sys
import threading

SERVICE = ("127.0.0.1", int(sys.argv[1]))
PRINTING = threading.Lock()
CASES: dict[str, str] = {}


def asked(case: str) -> str:
    """What the service answers."""
    with socket.create_connection(SERVICE) as connection, connection.makefile("rw") as file:
        file.write(f"{case}\n")
        file.flush()
        return file.readline().strip()


def answer(message: dict[str, str]) -> None:
    """Answer one message, in a thread of its own."""
    session = message["session"]
    said: dict[str, object] = {"ok": True}
    if message["op"] == "open":
        CASES[session] = message["eval_id"]
    elif message["op"] == "turn":
        text = asked(CASES[session])
        said = {"invocation": {"final_response": {"parts": [{"text": text}]}}}
    with PRINTING:
        print(json.dumps({"session": session, **said}), flush=True)


for line in sys.stdin:
    threading.Thread(target=answer, args=(json.loads(line),)).start()
