"""One run of a program that speaks the agent line protocol."""

import asyncio
import json
import signal
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pydantic_core import from_json

from gradegate.agents.launch import Launch, start
from gradegate.files.credentials import known_secrets
from gradegate.model.masking import SecretMasker

LINE_LIMIT = 16 * 1024 * 1024
_LOG_BYTES = 8 * 1024
_LONGEST_SECRET = 16 * 1024
_LOG_LINES = 20
_EXCERPT = 200
_GRACE = 2.0
_UNREAD = 0.5
"""Seconds for what an ended program has left in its pipes, which its children may hold open."""
_ENDING = 5.0
"""Seconds to end in for a program that closed its output, as one that ends does first."""
_STDIN, _STDOUT = 0, 1

Answer = dict[str, Any]


@dataclass(frozen=True)
class Failure:
    """Why a session cannot go on."""

    reason: str
    certain: bool = True
    """Whether it is this session's own doing; otherwise it may only have been near."""
    cause: str | None = None
    """What is wrong with the model's service, where the program says that it is that."""
    overran: bool = False
    """Whether the program did not answer in time."""


@dataclass
class _Pending:
    number: int
    answer: asyncio.Future[Answer | Failure]


@dataclass
class _Sessions:
    open: set[str] = field(default_factory=set)
    abandoned: set[str] = field(default_factory=set)
    """Left while an answer was due; it may still come and means nothing then."""
    served: int = 0


class LineProcess(asyncio.SubprocessProtocol):
    """A program in its own process group, answering several sessions at once.

    Once `broken` it is dead; once `retired` it should be given no new sessions; `trouble` is
    the latest reason for either.
    """

    def __init__(self, secrets: SecretMasker) -> None:
        """With what the program may repeat and nobody is to read: all it says is without it."""
        self.broken: str | None = None
        self.trouble: str | None = None
        self.retired = False
        self.has_answered = False
        self._sessions = _Sessions()
        self._pending: dict[str, _Pending] = {}
        self._asked = 0
        self._latest_answered = 0
        self._unread = bytearray()
        self._secrets = secrets
        self._log = b""
        self._gone = asyncio.Event()
        self._transport: asyncio.SubprocessTransport

    @classmethod
    async def start(cls, launch: Launch) -> "LineProcess":
        """Start the program; an OSError says why it cannot be."""
        return await start(launch, partial(cls._spawn, known_secrets(launch.env)), cls.stop)

    @classmethod
    async def _spawn(cls, masker: SecretMasker, *command: str, **how: Any) -> "LineProcess":
        loop = asyncio.get_running_loop()
        _, process = await loop.subprocess_exec(lambda: cls(masker), *command, **how)
        return process

    @property
    def is_idle(self) -> bool:
        """Whether no session is open."""
        return not self._sessions.open

    def join(self, session: str) -> None:
        """Count a session as open from now on."""
        self._sessions.open.add(session)
        self._sessions.served += 1

    def leave(self, session: str) -> None:
        """Count the session as gone; an answer still due to it will be ignored."""
        self._sessions.open.discard(session)

    async def request(
        self, session: str, message: Answer, seconds: float, complaint: str
    ) -> Answer | Failure:
        """Send one message of an open session and wait for its answer.

        Where that takes more than so many seconds, the complaint is the failure's reason.
        """
        if self.broken:
            return self._failure(self.broken)
        self._asked += 1
        pending = _Pending(self._asked, asyncio.get_running_loop().create_future())
        self._pending[session] = pending
        self._send(message)
        try:
            async with asyncio.timeout(seconds):
                return await pending.answer
        except TimeoutError:
            return self._overrun(pending, complaint)
        finally:
            if self._pending.pop(session, None):
                self._sessions.abandoned.add(session)

    async def stop(self) -> None:
        """End the program and everything it started: asked first, killed then."""
        stdin = self._transport.get_pipe_transport(_STDIN)
        if stdin is not None and not self.broken:
            stdin.close()
            await self._wait_until_gone()
        self._break("the program was stopped")
        await self._wait_until_gone()
        self._transport.close()

    def kill(self) -> None:
        """Have the supervisor end the program and all it started, then itself."""
        with suppress(ProcessLookupError):
            self._transport.send_signal(signal.SIGTERM)

    def log_tail(self) -> str:
        """The last lines of what the program wrote to standard error."""
        # Cut after it was masked: half a key is much of it.
        lines = self._said(self._log)[-_LOG_BYTES:].splitlines()
        return "\n".join(lines[-_LOG_LINES:])

    def with_log(self, reason: str) -> str:
        """The reason, followed by the end of the log where there is one."""
        tail = self.log_tail()
        return f"{reason}\nits log ends with:\n{tail}" if tail else reason

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asyncio's word that the program runs."""
        assert isinstance(transport, asyncio.SubprocessTransport)  # noqa: S101 - asyncio's promise, for the type checker
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Asyncio's word that the program wrote something."""
        if fd != _STDOUT:
            self._log = (self._log + data)[-_LOG_BYTES - _LONGEST_SECRET :]
            return
        if self.broken:
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            whole = bytes(self._unread) + line
            self._unread.clear()
            self._read(whole)
        self._unread += rest
        if len(self._unread) > LINE_LIMIT:
            self._break(f"the program wrote a line longer than {LINE_LIMIT >> 20} MiB")

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Asyncio's word that a pipe was closed, as the end of the program does too."""
        del exc
        if fd == _STDOUT:
            self._break_soon("the program closed its standard output", _ENDING)

    def process_exited(self) -> None:
        """Asyncio's word that the program ended; what it started may hold its pipes."""
        self.kill()
        self._break_soon(self._ending(), _UNREAD)

    def connection_lost(self, exc: Exception | None) -> None:
        """Asyncio's word that the program ended and all it wrote has been read."""
        del exc
        self._break(self._ending())
        self._gone.set()

    def _send(self, message: Answer) -> None:
        stdin = self._transport.get_pipe_transport(_STDIN)
        assert isinstance(stdin, asyncio.WriteTransport)  # noqa: S101 - asyncio's promise, for the type checker
        stdin.write(json.dumps(message).encode() + b"\n")

    def _read(self, line: bytes) -> None:
        if self.broken or not line.strip():
            return
        try:
            answer = from_json(line, allow_inf_nan=False)
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or not isinstance(answer.get("session"), str):
            shown = self._said(line[: _EXCERPT + _LONGEST_SECRET])[:_EXCERPT]
            self._break(f"the program wrote a line that is not an answer in JSON: {shown}")
            return
        discreet = self._secrets.hide_all(answer)
        self._deliver(discreet["session"], discreet)

    def _said(self, data: bytes) -> str:
        return self._secrets.hide(data.decode(errors="replace"))

    def _deliver(self, session: str, answer: Answer) -> None:
        self.has_answered = True
        pending = self._pending.pop(session, None)
        if pending and not pending.answer.done():
            self._latest_answered = max(self._latest_answered, pending.number)
            pending.answer.set_result(answer)
        elif session in self._sessions.abandoned:
            self._sessions.abandoned.discard(session)
        else:
            self._break(f"the program answered session {session[:_EXCERPT]!r}, which asked nothing")

    def _overrun(self, pending: _Pending, complaint: str) -> Failure:
        """Silence is the session's own where requests made after it were answered.

        Otherwise it may only have queued behind others in a program that takes one at a time.
        """
        self.retired = True
        self.trouble = complaint
        certain = self._latest_answered > pending.number
        return replace(self._failure(self.trouble, certain=certain), overran=True)

    def _failure(self, reason: str, *, certain: bool = False) -> Failure:
        return Failure(self.with_log(reason), certain or self._sessions.served == 1)

    def _break(self, reason: str) -> None:
        if self.broken:
            return
        self.broken = self.trouble = reason
        self._unread.clear()
        self.kill()
        for pending in self._pending.values():
            if not pending.answer.done():
                pending.answer.set_result(self._failure(reason))
        self._pending.clear()

    def _break_soon(self, reason: str, seconds: float) -> None:
        """Unless something that says more comes meanwhile."""
        asyncio.get_running_loop().call_later(seconds, self._break, reason)

    def _ending(self) -> str:
        code = self._transport.get_returncode()
        if code is not None and code < 0:
            return f"the program was ended by signal {-code} ({signal.strsignal(-code)})"
        return f"the program ended with exit code {code}"

    async def _wait_until_gone(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await self._gone.wait()
