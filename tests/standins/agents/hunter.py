"""A line-protocol agent that hunts for GitHub tokens instead of answering.

`hunt PATH…` answers where it found one, a place a line: in its environment, in what other
processes have in environment, memory, command line and open files, and in or below the paths.
`hunt pid=N… PATH…` looks at those processes alone.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

TOKEN = re.compile(rb"ghs_[A-Za-z0-9]{36}")
MOST = 1 << 26


def _in_file(path: Path) -> bool:
    with suppress(OSError, ValueError), path.open("rb") as file:
        return bool(TOKEN.search(file.read(MOST)))
    return False


def _in_memory(folder: Path) -> bool:
    with suppress(OSError), (folder / "maps").open() as maps, (folder / "mem").open("rb", 0) as mem:
        for line in maps:
            addresses, rights, *_ = line.split()
            start, end = (int(address, 16) for address in addresses.split("-"))
            if "rw" in rights and end - start < MOST:
                with suppress(OSError, OverflowError):
                    mem.seek(start)
                    if TOKEN.search(mem.read(end - start)):
                        return True
    return False


def _in_process(folder: Path) -> Iterator[str]:
    for name in ("environ", "cmdline"):
        if _in_file(folder / name):
            yield f"process {name}"
    if _in_memory(folder):
        yield "process memory"
    with suppress(OSError):
        for descriptor in (folder / "fd").iterdir():
            if descriptor.is_file() and _in_file(descriptor):
                yield "process descriptor"


def _below(place: Path) -> Iterator[str]:
    for top, _, files in os.walk(place):
        for name in files:
            if _in_file(Path(top, name)):
                yield f"file {Path(top, name)}"
    if place.is_file() and _in_file(place):
        yield f"file {place}"


def hunt(wanted: list[str]) -> list[str]:
    """Every place a token was found in."""
    found = ["environment"] if TOKEN.search(repr(dict(os.environ)).encode()) else []
    named = [word.removeprefix("pid=") for word in wanted if word.startswith("pid=")]
    own = str(os.getpid())
    pids = named or [f.name for f in Path("/proc").iterdir() if f.name.isdigit() and f.name != own]
    for pid in pids:
        found += _in_process(Path("/proc", pid))
    for word in wanted:
        if not word.startswith("pid="):
            found += _below(Path(word))
    return sorted(set(found))


for line in sys.stdin:
    message = json.loads(line)
    answer: dict[str, object] = {"session": message["session"], "ok": True}
    if message["op"] == "turn":
        _, *words = message["user_content"]["parts"][0]["text"].split()
        parts = [{"text": "\n".join(hunt(words))}]
        invocation = {"final_response": {"parts": parts}}
        answer = {"session": message["session"], "invocation": invocation}
    print(json.dumps(answer), flush=True)
