"""The line protocol: requests in, answers out, many sessions at once."""

import asyncio
import json
import os
import sys
import traceback
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from .copies import NO_COPY, Original
from .freshness import can_be_copied, note_dice
from .loading import Loaded, load
from .model_service import trouble
from .serialization import Json, plain, why
from .sessions import Session, open_session

T = TypeVar("T")
_LINE_LIMIT = 64 * 1024 * 1024
_CLOSING_TIME = 1.0


@dataclass
class Worker:
    """Answers requests as they come, those of different sessions at the same time."""

    out: BinaryIO
    loaded: Loaded | Json
    """The agent, or the answer that says why there is none."""
    is_original: bool = False
    """Whether it was to be copied and cannot be."""
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
        tape = request["session"] in self.sessions and self.sessions[request["session"]].tape
        if tape:
            said |= tape.take()
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
            if self.is_original and request.get("copy"):
                return NO_COPY
            if self.loaded.reset:
                await self.turn_of_one.acquire()
                self.loaded.reset()
            start, history = request["session_input"] or {}, request.get("history") or []
            tools = request.get("tools")
            self.sessions[name] = await open_session(self.loaded, start, history, tools)
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
        if hasattr(last.runner, "close"):
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


async def load_agent(place: Path) -> "Loaded | Json":
    """The agent, or the answer that says why there is none."""
    try:
        return await load(place, note_dice)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the agent raises is its failed run
        return failure(error, "the agent cannot be loaded: ")


async def work(worker: Worker, requests: int) -> None:
    """Serve until there are no more requests."""
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


def run(loop: asyncio.AbstractEventLoop, work: "Coroutine[Any, Any, T]") -> "T":
    """Run to the end. A SystemExit in a task of the agent's stops the loop, but not us."""
    task = loop.create_task(work)
    while not task.done():
        try:
            loop.run_until_complete(task)
        except SystemExit:
            traceback.print_exc()
    return task.result()


def in_a_loop() -> asyncio.AbstractEventLoop:
    """A new event loop, which is the current one from now on."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    return loop


def main() -> None:
    """Start; ends with the last request, whatever threads the agent left running."""
    requests, out = take_over()
    place, *others = sys.argv[1:]
    sys.path[:] = [*sys.path[1:], *others]  # [0] is our own folder, not the agent's
    loop = in_a_loop()
    users = sys.getrefcount(loop)
    loaded = run(loop, load_agent(Path(place).absolute()))
    if sys.getrefcount(loop) == users and can_be_copied(loaded):
        loop.close()
        Original(requests, out, partial(serve_as_copy, loaded)).run()
    else:
        run(loop, work(Worker(out, loaded, is_original=True), requests))
    sys.stderr.flush()
    os._exit(0)


def serve_as_copy(loaded: "Loaded | Json", requests: int, out: BinaryIO) -> None:
    """Serve in a process that was forked for it."""
    run(in_a_loop(), work(Worker(out, loaded), requests))
    sys.stderr.flush()
