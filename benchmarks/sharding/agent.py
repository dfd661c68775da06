"""An agent that takes its time: as long as its table says, once a shared limit lets it begin.

    python agent.py TABLE LIMIT_FILE PER_SECOND LOG

Speaks the line protocol, many sessions at once. The limit is the account's: all processes that
name the same file share it.
"""

import fcntl
import json
import sys
import threading
import time
from pathlib import Path

TABLE = json.loads(Path(sys.argv[1]).read_text())
LIMIT, PER_SECOND, LOG = Path(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4])
PRINTING = threading.Lock()
CASES: dict[str, str] = {}


def wait_for_turn() -> None:
    """Sleep until the account may send one more request."""
    if not PER_SECOND:
        return
    with LIMIT.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        mine = max(float(file.read() or 0), time.time()) + 1 / PER_SECOND
        file.seek(0)
        file.write(f"{mine:020.6f}")
    time.sleep(max(mine - time.time(), 0))


def answer(message: dict[str, str]) -> None:
    """Answer one message, in a thread of its own."""
    session = message["session"]
    said: dict[str, object] = {"ok": True}
    if message["op"] == "open":
        CASES[session] = message["eval_id"]
    elif message["op"] == "turn":
        began = time.time()
        wait_for_turn()
        case = CASES[session]
        time.sleep(TABLE[case])
        with LOG.open("a") as log:
            log.write(f"{case} {began} {time.time()}\n")
        said = {"invocation": {"final_response": {"parts": [{"text": f"Yes, {case} it is."}]}}}
    with PRINTING:
        print(json.dumps({"session": session, **said}), flush=True)


for line in sys.stdin:
    threading.Thread(target=answer, args=(json.loads(line),)).start()
