"""An event loop whose clock jumps ahead whenever there is nothing to do but wait."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def in_virtual_time(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run to the end; an hour of waiting takes no time, and takes exactly an hour."""
    with asyncio.Runner(loop_factory=_VirtualTimeLoop) as runner:
        return runner.run(coroutine)


def now() -> float:
    """The time on the running loop's clock, from 0."""
    return asyncio.get_running_loop().time()


class _VirtualTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.clock = 0.0
        super().__init__(_Jump(self))

    def time(self) -> float:
        return self.clock


class _Jump(selectors.DefaultSelector):
    def __init__(self, loop: _VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        events = super().select(0)
        if not events and timeout is None:
            raise RuntimeError("everyone waits for something that will not happen")
        if not events and timeout:
            self._loop.clock += timeout
        return events
