"""How long to try: one call, one verdict, and a service that answers nobody.

Models that refuse for good: asking them again is neither polite nor useful.
"""

import math
from collections import Counter
from dataclasses import dataclass

from gradegate.ports import CallFailure

_PROBE_AFTER = 30.0


@dataclass(frozen=True)
class RetryPolicy:
    """Time limits in seconds."""

    per_call: float = 120.0
    per_verdict: float = 600.0
    """From a verdict's first call to its last; waiting for our own limits does not count."""
    first_retry: float = 1.0
    longest_retry: float = 30.0

    def backoff(self, attempt: int, draw: float) -> float:
        """How long to wait after the attempt (counted from 0); `draw` in [0, 1) spreads it."""
        longest = min(self.longest_retry, self.first_retry * 2.0 ** min(attempt, 16))
        return longest * (0.5 + draw / 2)


class Deadline:
    """The time left for a verdict, running from the first time it is looked at."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._began: float | None = None

    def left(self, now: float) -> float:
        """Seconds left."""
        if self._began is None:
            self._began = now
        return self._began + self._limit - now


class CircuitBreaker:
    """Whether the service has given nobody an answer for so long that asking is pointless."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._began: float | None = None
        self._latest = -math.inf
        self._closed_until = -math.inf
        self._reason = ""

    def answered(self) -> None:
        """The service works."""
        self._began = None

    def trouble(self, trouble: CallFailure, now: float) -> None:
        """One more call without an answer."""
        self._began = now if self._began is None else self._began
        self._latest = now
        self._reason = trouble.reason
        if trouble.wait is not None and trouble.wait > self._limit:
            self._closed_until = max(self._closed_until, now + trouble.wait)

    def reason(self, now: float) -> str | None:
        """Why not to ask now; every half minute one may try all the same."""
        if now < self._closed_until:
            left = self._closed_until - now
            return f"{self._reason} (the service asks to come back in {left:.0f} s)"
        if self._began is None or now - self._latest > _PROBE_AFTER:
            return None
        lasted = self._latest - self._began
        if lasted < self._limit:
            return None
        return f"{self._reason} (nothing was answered for {lasted:.0f} s)"


_ENOUGH = 5


class Refusals:
    """Remembers what each model refused, and when that is the end of it.

    A refusal that concerns every question counts at once. One that may lie in the question
    counts when a model that never answered anything has said the same several times.
    """

    def __init__(self) -> None:
        self._final: dict[str, str] = {}
        self._repeated: Counter[tuple[str, str]] = Counter()
        self._answering: set[str] = set()

    def answered(self, model: str) -> None:
        """The model works."""
        self._answering.add(model)

    def refused(self, model: str, trouble: CallFailure) -> None:
        """The model will not answer a question, however often it is asked."""
        self._repeated[model, trouble.reason] += 1
        often = self._repeated[model, trouble.reason] >= _ENOUGH
        if trouble.for_all or (often and model not in self._answering):
            self._final.setdefault(model, trouble.reason)

    def reason(self, model: str) -> str | None:
        """Why not to ask this model anything more."""
        return self._final.get(model)
