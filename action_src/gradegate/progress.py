"""How far a run has come, told on standard error, and how a signal ends it."""

import asyncio
import shutil
import signal
import sys
import time
from collections.abc import Coroutine
from typing import Self, TextIO, TypeVar

from gradegate import locales
from gradegate.judge.usage import JudgeProgress
from gradegate.model.errors import Interrupted

T = TypeVar("T")

SECONDS_BETWEEN_LINES = 10.0
SECONDS_BETWEEN_CHANGES = 0.1


class ProgressLine:
    """Tells of runs and of questions to judges; quiet where there is nothing to tell."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._runs = ""
        self._asked = ""
        self._last = time.monotonic()

    def runs(self, done: int, total: int) -> None:
        """So many of so many runs are made and scored."""
        self._runs = f"{locales.ratio(done, total)} runs"
        self._tell(final=done == total)

    def asked(self, progress: JudgeProgress) -> None:
        """What the judges were asked."""
        parts = [locales.some(progress.calls, "judge call")]
        if progress.hits:
            parts.append(f"{locales.count(progress.hits)} from the store")
        if progress.rate:
            parts.append(f"{progress.rate:.0f}/s")
        if progress.rest:
            parts.append(f"about {locales.duration(progress.rest)} to go")
        self._asked = ", ".join(parts)
        self._tell()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the terminal as it was."""
        if self._live:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _tell(self, *, final: bool = False) -> None:
        pause = SECONDS_BETWEEN_CHANGES if self._live else SECONDS_BETWEEN_LINES
        now = time.monotonic()
        if now - self._last < pause and not (final and self._live):
            return
        self._last = now
        line = " · ".join(part for part in (self._runs, self._asked) if part)
        self._stream.write(f"\r\x1b[K{_fitting(line)}" if self._live else f"{line}\n")
        self._stream.flush()


def _fitting(line: str) -> str:
    """As much as one row holds: what a terminal has broken in two, it cannot take back."""
    return line[: shutil.get_terminal_size().columns - 1]


def run_until_signal(work: Coroutine[None, None, T]) -> T:
    """Run to the end, or until a signal asks us to stop.

    Raises:
        Interrupted: after everything that was under way has been wound up.
    """
    received: list[int] = []

    async def main() -> T:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()

        def stop(number: int) -> None:
            received.append(number)
            task.cancel()

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop, number)
        return await task

    try:
        return asyncio.run(main())
    except asyncio.CancelledError:
        raise Interrupted(received[0] if received else signal.SIGINT) from None
