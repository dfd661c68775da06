"""Trouble on demand, and the limits that GitHub keeps count of."""

import re
import threading
import time
from collections import deque
from dataclasses import dataclass, field

from tests.standins.github.answer import Answer, message

SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)
PRIMARY = "API rate limit exceeded for installation ID 1."


@dataclass(frozen=True)
class Fault:
    """What happens instead of, or around, a proper answer."""

    answer: Answer | None = None
    """Sent in place of the proper one; None leaves that as it is."""
    delay: float = 0.0
    reset: bool = False
    """Break the connection instead of answering."""
    too_late: bool = False
    """The request takes effect first: only the answer is lost."""


def server_error(status: int = 502, *, too_late: bool = False) -> Fault:
    """A server that is down, or (too late) went down when the work was done."""
    return Fault(Answer(status, "<html>Unicorn!</html>"), too_late=too_late)


def broken_connection(*, too_late: bool = False) -> Fault:
    """The connection is reset."""
    return Fault(reset=True, too_late=too_late)


def cut_short() -> Fault:
    """An answer that ends in the middle."""
    return Fault(Answer(200, '{"id": 1', {"Content-Length": "1000", "Connection": "close"}))


def slow(seconds: float) -> Fault:
    """A proper answer that takes its time."""
    return Fault(delay=seconds)


def secondary_limit(retry_after: int | None, status: int = 403) -> Fault:
    """Too many requests in a short time; GitHub mostly says how long to wait."""
    headers = {} if retry_after is None else {"retry_after": str(retry_after)}
    return Fault(message(status, SECONDARY, **headers))


def primary_limit(resets_in: float, status: int = 403) -> Fault:
    """The hour's requests are used up."""
    return Fault(_used_up(time.time() + resets_in, status))


def _used_up(resets_at: float, status: int = 403) -> Answer:
    return message(
        status, PRIMARY, x_ratelimit_remaining="0", x_ratelimit_reset=str(int(resets_at))
    )


@dataclass
class _Planned:
    fault: Fault
    times: int
    method: str | None
    path: re.Pattern[str]


class Faults:
    """Faults waiting for the requests they are meant for."""

    def __init__(self) -> None:
        self._planned: list[_Planned] = []
        self._lock = threading.Lock()

    def plan(self, fault: Fault, *, times: int, method: str | None, path: str) -> None:
        """Let it happen to the next `times` requests with this method and in this path."""
        with self._lock:
            self._planned.append(_Planned(fault, times, method, re.compile(path)))

    def take(self, method: str, path: str) -> Fault | None:
        """The fault meant for this request, if there is one."""
        with self._lock:
            for planned in self._planned:
                if planned.method in (None, method) and planned.path.search(path):
                    planned.times -= 1
                    if not planned.times:
                        self._planned.remove(planned)
                    return planned.fault
        return None

    @property
    def pending(self) -> int:
        """How many faults have not happened yet."""
        return sum(planned.times for planned in self._planned)


@dataclass
class RateLimits:
    """GitHub's two limits, kept count of."""

    requests_per_hour: int = 1000
    writes_per_minute: int = 80
    started: float = field(default_factory=time.time)
    used: int = 0
    writes: deque[float] = field(default_factory=deque)

    def count(self, method: str) -> Answer | None:
        """Count one request; the refusal where it is one too many."""
        if self.used >= self.requests_per_hour:
            return _used_up(self.started + 3600)
        self.used += 1
        if method == "GET":
            return None
        moment = time.time()
        while self.writes and self.writes[0] <= moment - 60:
            self.writes.popleft()
        if len(self.writes) >= self.writes_per_minute:
            wait = int(self.writes[0] + 60 - moment) + 1
            return message(403, SECONDARY, retry_after=str(wait))
        self.writes.append(moment)
        return None

    def headers(self) -> dict[str, str]:
        """What every answer tells about the hour's limit."""
        return {
            "x-ratelimit-limit": str(self.requests_per_hour),
            "x-ratelimit-remaining": str(self.requests_per_hour - self.used),
            "x-ratelimit-reset": str(int(self.started + 3600)),
            "x-ratelimit-used": str(self.used),
            "x-ratelimit-resource": "core",
        }
