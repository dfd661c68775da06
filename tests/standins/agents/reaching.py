"""Tries what an agent may not do, and says in JSON how each went: `done`, or the error.

Run by itself it prints that; as a line-protocol agent it answers it to every turn. The attempts
are named in `reach.json` beside it: a list of [what, argument].
"""

import json
import os
import socket
import sys
from pathlib import Path


def _write(place: str) -> None:
    Path(os.path.expandvars(place)).write_text("reached")


def _connect(port: str) -> None:
    socket.create_connection(("127.0.0.1", int(port)), timeout=30).close()


def _listen(port: str) -> None:
    with socket.socket() as own:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        own.bind(("127.0.0.1", int(port)))


def _abstract(name: str) -> None:
    with socket.socket(socket.AF_UNIX) as own:
        own.connect(f"\0{name}")


def _signal(pid: str) -> None:
    os.kill(int(pid), 0)


def _semaphore(_: str) -> None:
    from multiprocessing import Lock

    Lock()


_DOES = {
    "write": _write,
    "mkdir": lambda place: Path(place).mkdir(),
    "link": lambda place: Path(place).symlink_to("/etc/passwd"),
    "remove": lambda place: Path(place).unlink(),
    "truncate": lambda place: os.truncate(place, 0),
    "connect": _connect,
    "listen": _listen,
    "abstract": _abstract,
    "signal": _signal,
    "semaphore": _semaphore,
}


def _tried() -> dict[str, str]:
    outcomes = {}
    attempts = json.loads((Path(__file__).parent / "reach.json").read_text(encoding="utf-8"))
    for what, argument in attempts:
        try:
            _DOES[what](argument)
        except OSError as error:
            outcomes[f"{what} {argument}"] = type(error).__name__
        else:
            outcomes[f"{what} {argument}"] = "done"
    return outcomes


def _main() -> None:
    if len(sys.argv) > 1:
        sys.stdout.write(json.dumps(_tried()))
        return
    for line in sys.stdin:
        message = json.loads(line)
        answer: dict[str, object] = {"session": message["session"], "ok": True}
        if message["op"] == "turn":
            parts = [{"text": json.dumps(_tried())}]
            answer = {
                "session": message["session"],
                "invocation": {"final_response": {"parts": parts}},
            }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _main()
