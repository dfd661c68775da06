"""A loaded agent that answers nothing itself, and copies of it that do.

An agent may keep what it said: in a dict, in a file of its home. Asked once more it would say the
same, and a rerun would tell nothing. So each copy is a fork of this process, which has loaded the
agent and never runs it, and has a home and a temporary folder of its own. Loading takes seconds, a
fork takes none. Where the agent cannot be forked, whoever asks for a copy is told so.
"""

import json
import os
import selectors
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, NoReturn

from .freshness import contents, move_in, throw_dice_anew
from .serialization import Json

NO_COPY: Json = {"error": "the agent cannot be copied", "cause": "no_copy"}
"""The answer where there can be none: the next is to be started from the beginning."""
_READ = 1 << 16
Serve = Callable[[int, BinaryIO], object]
"""Answers requests from a descriptor on a stream, until there are no more."""


@dataclass(eq=False)
class Copy:
    """A forked process that answers for some sessions, seen from the one it was forked from."""

    pid: int
    requests: int
    answers: int
    unsent: bytearray = field(default_factory=bytearray)
    unread: bytearray = field(default_factory=bytearray)
    sessions: "set[str]" = field(default_factory=set)


class Original:
    """Hands each request to the copy that its session is with."""

    def __init__(self, requests: int, out: BinaryIO, serve: Serve) -> None:
        self._requests = requests
        self._out = out
        self._serve = serve
        self._copies: dict[int, Copy] = {}
        self._by_session: dict[str, Copy] = {}
        self._unread = bytearray()
        self._homes: set[str] = set()
        self._at_first = contents()
        self._selector = selectors.DefaultSelector()
        self._selector.register(requests, selectors.EVENT_READ)

    def run(self) -> None:
        """Go on until there are no more requests and all copies have ended."""
        asking = True
        while asking or self._copies:
            for key, events in self._selector.select():
                if key.fd == self._requests:
                    asking = self._take_requests()
                elif events & selectors.EVENT_WRITE:
                    self._send(key.data)
                else:
                    self._take_answers(key.data)

    def _take_requests(self) -> bool:
        read = os.read(self._requests, _READ)
        for line in lines(self._unread, read):
            self._hand_over(line)
        if not read:
            self._selector.unregister(self._requests)
            for copy in self._copies.values():
                self._end_when_sent(copy)
        return bool(read)

    def _hand_over(self, line: bytes) -> None:
        request = json.loads(line)
        name = request["session"]
        if request["op"] == "open":
            copy = self._copy(request.get("copy", 0))
            if copy is None:
                self._answer(json.dumps({"session": name, **NO_COPY}).encode())
                return
            copy.sessions.add(name)
            self._by_session[name] = copy
        copy = self._by_session[name]
        copy.unsent += line + b"\n"
        if request["op"] == "close":
            copy.sessions.discard(name)
        self._watch(copy)

    def _copy(self, number: int) -> "Copy | None":
        if number not in self._copies:
            if contents(self._homes) != self._at_first:
                return None  # what is there now may be what a copy remembered
            self._copies[number] = self._fork()
        return self._copies[number]

    def _fork(self) -> Copy:
        requests, ours = os.pipe()
        theirs, answers = os.pipe()
        home = tempfile.mkdtemp(prefix="copy-")
        self._homes.add(home)
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            self._become_copy(requests, answers, home, (ours, theirs))
        os.close(requests)
        os.close(answers)
        os.set_blocking(ours, False)
        copy = Copy(pid, ours, theirs)
        self._selector.register(theirs, selectors.EVENT_READ, copy)
        return copy

    def _become_copy(
        self, requests: int, answers: int, home: str, others: "tuple[int, int]"
    ) -> NoReturn:
        self._selector.close()
        for one in (*others, self._requests, self._out.fileno()):
            os.close(one)
        for copy in self._copies.values():
            os.close(copy.answers)
            if copy.requests >= 0:
                os.close(copy.requests)
        move_in(home)
        throw_dice_anew()
        self._serve(requests, os.fdopen(answers, "wb"))
        os._exit(0)

    def _watch(self, copy: Copy) -> None:
        if copy.unsent and copy.requests not in self._selector.get_map():
            self._selector.register(copy.requests, selectors.EVENT_WRITE, copy)

    def _send(self, copy: Copy) -> None:
        try:
            del copy.unsent[: os.write(copy.requests, copy.unsent)]
        except BrokenPipeError:
            copy.unsent.clear()  # its end is seen where its answers are read
        if not copy.unsent:
            self._selector.unregister(copy.requests)
            if self._requests not in self._selector.get_map():
                self._end_when_sent(copy)

    def _end_when_sent(self, copy: Copy) -> None:
        if copy.requests >= 0 and not copy.unsent:
            os.close(copy.requests)
            copy.requests = -1

    def _take_answers(self, copy: Copy) -> None:
        read = os.read(copy.answers, _READ)
        for line in lines(copy.unread, read):
            self._answer(line)
        if not read:
            self._reap(copy)

    def _answer(self, line: bytes) -> None:
        self._out.write(line + b"\n")
        self._out.flush()

    def _reap(self, copy: Copy) -> None:
        """A copy that ended in the middle takes this process along: so the end is seen, and why."""
        self._selector.unregister(copy.answers)
        os.close(copy.answers)
        if copy.requests in self._selector.get_map():
            self._selector.unregister(copy.requests)
        if copy.requests >= 0:
            os.close(copy.requests)
        self._copies = {number: one for number, one in self._copies.items() if one is not copy}
        _, status = os.waitpid(copy.pid, 0)
        if copy.sessions:
            end_as(status)


def lines(unread: bytearray, read: bytes) -> "Iterator[bytes]":
    """The whole lines in what has been read; the rest stays."""
    *whole, rest = read.split(b"\n")
    for line in whole:
        yield bytes(unread) + line
        unread.clear()
    unread += rest


def end_as(status: int) -> NoReturn:
    """End the way a copy did."""
    if os.WIFSIGNALED(status):
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))
