"""The line protocol: requests in, answers out, many sessions at once."""

import asyncio
import json
import os
import sys
import traceback
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from .loading import Loaded, load
from .model_service import trouble
from .serialization import Json, plain, why
from .sessions import Session, open_session

_LINE_LIMIT = 64 * 1024 * 1024
_CLOSING_TIME = 1.0


@dataclass
class Worker:
    """Answers requests as they come, those of different sessions at the same time."""

    out: BinaryIO
    loaded: Loaded | Json
    """The agent, or the answer that says why there is none."""
    sessions: dict[str, Session] = field(default_factory=dict)
    tasks: set["asyncio.Task[None]"] = field(default_factory=set)
    turn_of_one: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the open session of an agent that keeps its data in globals."""

    async def serve(self, requests: AsyncIterator[bytes]) -> None:
        """Answer until there are no more requests."""
        async for line in requests:
            task = asyncio.ensure_future(self.answer(json.loads(line)))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def answer(self, request: Json) -> None:
        """Do what is asked; an agent's failure is an answer as well."""
        try:
            said = await self.act(request)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the agent raises is its failed run
            said = failure(error)
        answer = plain({"session": request["session"], **said})
        self.out.write(json.dumps(answer).encode() + b"\n")
        self.out.flush()

    async def act(self, request: Json) -> Json:
        """One request of one session."""
        if isinstance(self.loaded, dict):
            return self.loaded
        name = request["session"]
        if request["op"] == "turn":
            return {"invocation": await self.sessions[name].turn(request["user_content"])}
        if request["op"] == "open":
            if self.loaded.reset:
                await self.turn_of_one.acquire()
                self.loaded.reset()
            start, history = request["session_input"] or {}, request.get("history") or []
            self.sessions[name] = await open_session(self.loaded, start, history)
        elif self.sessions.pop(name, None) and self.loaded.reset:
            self.turn_of_one.release()
        return {"ok": True}

    async def close(self) -> None:
        """Leave what is running, and give toolsets and plugins a moment to say goodbye."""
        for task in self.tasks:
            task.cancel()
        if isinstance(self.loaded, dict):
            return
        last = await open_session(self.loaded, {})
        await last.runner.close()
        if hasattr(self.loaded.resources, "aclose"):
            await self.loaded.resources.aclose()


def failure(error: BaseException, before: str = "") -> Json:
    """What went wrong, and whether that was the model's service and not the agent."""
    cause = trouble(error)
    return {"error": before + why(error), **({"cause": cause} if cause else {})}


async def lines_of(fd: int) -> asyncio.StreamReader:
    """What comes in, line by line."""
    reader = asyncio.StreamReader(limit=_LINE_LIMIT)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb")
    )
    return reader


async def work(place: Path, requests: int, out: BinaryIO) -> None:
    """Load the agent and serve it."""
    try:
        loaded: Loaded | Json = await load(place)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the agent raises is its failed run
        loaded = failure(error, "the agent cannot be loaded: ")
    worker = Worker(out, loaded)
    await worker.serve(await lines_of(requests))
    try:
        await asyncio.wait_for(worker.close(), _CLOSING_TIME)
    except Exception:  # noqa: BLE001 - nobody is left to be told but the log
        traceback.print_exc()


def take_over() -> tuple[int, BinaryIO]:
    """Keep standard input and output for the protocol; what the agent prints goes to the log."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return requests, os.fdopen(answers, "wb")


def run(task: "asyncio.Task[None]") -> None:
    """Run to the end. A SystemExit in a task of the agent's stops the loop, but not us."""
    while not task.done():
        try:
            task.get_loop().run_until_complete(task)
        except SystemExit:
            traceback.print_exc()


def main() -> None:
    """Start; ends with the last request, whatever threads the agent left running."""
    requests, out = take_over()
    place, *others = sys.argv[1:]
    sys.path[:] = [*sys.path[1:], *others]  # [0] is our own folder, not the agent's
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    run(loop.create_task(work(Path(place).absolute(), requests, out)))
    sys.stderr.flush()
    os._exit(0)
