"""An event loop whose clock jumps ahead whenever there is nothing to do but wait."""

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_GIVEN_UP = 600.0
"""Real seconds for what is owed, so that a mistake ends; no machine is that slow."""
_LOOK_AGAIN = 0.02


def in_virtual_time(coroutine: Coroutine[Any, Any, T], owed: Callable[[], bool] | None = None) -> T:
    """Run to the end; an hour of waiting takes no time, and takes exactly an hour.

    Where a real service is asked, `owed` says whether it owes an answer. The clock stands still
    until that is there: however slow the machine, on the clock it took no time.
    """
    with asyncio.Runner(loop_factory=lambda: _VirtualTimeLoop(owed)) as runner:
        return runner.run(coroutine)


def now() -> float:
    """The time on the running loop's clock, from 0."""
    return asyncio.get_running_loop().time()


class _VirtualTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self, owed: Callable[[], bool] | None) -> None:
        self.clock = 0.0
        super().__init__(_Jump(self, owed))

    def time(self) -> float:
        return self.clock


class _Jump(selectors.DefaultSelector):
    def __init__(self, loop: _VirtualTimeLoop, owed: Callable[[], bool] | None) -> None:
        super().__init__()
        self._loop = loop
        self._owed = owed

    def select(self, timeout: float | None = None) -> Any:
        events = super().select(0)
        if events or timeout == 0:
            return events
        if self._owed is not None and (events := self._what_is_owed(certain=timeout is None)):
            return events
        if timeout is None:
            raise RuntimeError("everyone waits for something that will not happen")
        self._loop.clock += timeout
        return []

    def _what_is_owed(self, *, certain: bool) -> Any:
        """What comes while something is owed; asked again and again, as a debt can be let go.

        A service that decides to leave a call hanging sends nothing that would wake us.
        """
        assert self._owed is not None
        until = time.monotonic() + _GIVEN_UP
        while certain or self._owed():
            if events := super().select(_LOOK_AGAIN):
                return events
            if time.monotonic() > until:
                raise RuntimeError("what is owed does not come")
        return []
