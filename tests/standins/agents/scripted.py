"""A line-protocol agent that does what its user says, each turn in a thread of its own.

say TEXT        answer TEXT                     crash           exit with code 3
meet N          note it in `met`; wait until    garbage         write a line that is not JSON
                N turns are under way, answer   huge            write a line without an end
                them, the latest first          stranger        answer a session nobody opened
hang            note it in `hung`, and wait     invalid         answer an invocation that is none
fail TEXT       answer with an error            nothing         answer with neither
lack CAUSE      the same, for such a cause
log TEXT        write TEXT to the log           spawn           start a sleeping child, say its pid
close badly     crash when the session is       environment     answer the environment's names
                closed                          eat             use memory without end
escape          start a child that leaves the   bomb            start children that start children
                group, say its pid                              and leave, until there is `stop`
write PATH      change a file                   descriptors     answer what it has open
read PATH       answer what is in a file        mute            close standard output, and live on
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

_writing = threading.Lock()
_meeting: list[str] = []
_bad_closers: set[str] = set()


def _write(line: str) -> None:
    with _writing:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def _answer(session: str, **content: object) -> None:
    _write(json.dumps({"session": session, **content}))


def _say(session: str, text: str) -> None:
    parts = [{"text": text}]
    _answer(session, invocation={"final_response": {"role": "model", "parts": parts}})


def _note(file: str) -> None:
    """Leave word that this was reached."""
    with Path(file).open("a") as noted:
        noted.write("once\n")


def _meet(session: str, number: str) -> None:
    _meeting.append(session)
    _note("met")
    if len(_meeting) == int(number):
        together = f"{len(_meeting)} at once"
        while _meeting:
            _say(_meeting.pop(), together)


def _hang(_session: str, _rest: str) -> None:
    _note("hung")
    time.sleep(600)


def _crash(_session: str, _rest: str) -> None:
    sys.stderr.flush()
    os._exit(3)


def _huge(_session: str, _rest: str) -> None:
    with _writing:
        while True:
            sys.stdout.write("x" * 1_000_000)


def _log(session: str, text: str) -> None:
    print(text, file=sys.stderr, flush=True)
    _say(session, "logged")


def _spawn(session: str, _rest: str) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    _say(session, str(child.pid))


def _escape(session: str, _rest: str) -> None:
    """As a daemon does: a new session, and a parent that is gone."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writing, str(os.getpid()).encode())
            os.closerange(0, 100)
            time.sleep(600)
        os._exit(0)
    _say(session, os.read(reading, 20).decode())


def _bomb(session: str, _rest: str) -> None:
    """Each generation leaves the group, has a child and ends; all hold `alive` open."""
    held = os.open("alive", os.O_WRONLY)
    if os.fork() == 0:
        while not os.access("stop", os.F_OK):
            os.setsid()
            if os.fork():
                os._exit(0)
        os._exit(0)
    os.close(held)
    _say(session, "lit")


def _eat(_session: str, _rest: str) -> None:
    eaten = []
    try:
        while True:
            eaten.append(b"x" * 10_000_000)
    except MemoryError:
        del eaten
        sys.stderr.write("no more memory\n")
        _crash("", "")


def _change(session: str, path: str) -> None:
    try:
        Path(path).write_text("changed")
    except OSError as error:
        _answer(session, error=str(error))
    else:
        _say(session, "changed")


def _read(session: str, path: str) -> None:
    try:
        _say(session, Path(path).read_text())
    except OSError as error:
        _answer(session, error=str(error))


def _descriptors(session: str, _rest: str) -> None:
    _say(session, " ".join(sorted(place.name for place in Path("/proc/self/fd").iterdir())))


def _close_badly(session: str, _rest: str) -> None:
    _bad_closers.add(session)
    _say(session, "soon")


_DOES: dict[str, Callable[[str, str], None]] = {
    "say": _say,
    "meet": _meet,
    "crash": _crash,
    "hang": _hang,
    "garbage": lambda _session, _rest: _write("Loading model…"),
    "huge": _huge,
    "stranger": lambda _session, _rest: _say("somebody-else", "hello"),
    "fail": lambda session, text: _answer(session, error=text),
    "lack": lambda session, cause: _answer(session, error="429 Too many\nline 3", cause=cause),
    "invalid": lambda session, _rest: _answer(session, invocation={"final_response": 7}),
    "nothing": lambda session, _rest: _answer(session),
    "log": _log,
    "spawn": _spawn,
    "close": _close_badly,
    "escape": _escape,
    "bomb": _bomb,
    "eat": _eat,
    "write": _change,
    "read": _read,
    "mute": lambda _session, _rest: os.close(1),
    "descriptors": _descriptors,
    "environment": lambda session, _rest: _say(session, " ".join(sorted(os.environ))),
}


def _take(message: dict[str, object]) -> None:
    session = str(message["session"])
    if message["op"] == "close" and session in _bad_closers:
        _crash(session, "")
    if message["op"] != "turn":
        _answer(session, ok=True)
        return
    content = message["user_content"]
    assert isinstance(content, dict)
    verb, _, rest = str(content["parts"][0]["text"]).partition(" ")
    threading.Thread(target=_DOES[verb], args=(session, rest), daemon=True).start()


for line in sys.stdin:
    _take(json.loads(line))
