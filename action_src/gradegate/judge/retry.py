"""Whether to call (again), and when: `Retry(after)` or `GiveUp(reason)`.

Asked before each call and after each failure, until a sample has its answer:

- `CircuitBreaker`: is it pointless, because this model refuses everything, or because the
  service has answered nobody for a long time or asks us to stay away for one? Shared by all.
- `Attempts`: is the verdict's time up (its `Deadline`)? If not, wait as long as the service asks,
  or else twice as long each time. One for each sample.

A failure that is not retryable ends its question at once.
"""

import math
import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from gradegate.ports import CallFailure

_PROBE_AFTER = 30.0
_ENOUGH = 5


class Retry(NamedTuple):
    """Call, after so many seconds."""

    after: float = 0.0


class GiveUp(NamedTuple):
    """Do not call any more."""

    reason: str


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


class Attempts:
    """The attempts at one sample."""

    def __init__(self, policy: RetryPolicy, deadline: Deadline) -> None:
        self._policy = policy
        self._deadline = deadline
        self._failures = 0
        self._latest: CallFailure | None = None

    def before_call(self, now: float) -> Retry | GiveUp:
        """Whether there is time for the next call. The first one is always made."""
        left = self._deadline.left(now)  # looking starts the clock
        if self._latest is None or left > 0:
            return Retry()
        return self._out_of_time(self._latest)

    def after_failure(self, failure: CallFailure, now: float) -> Retry | GiveUp:
        """How long to wait before the next call, if there is time for it."""
        pause = failure.retry_after or self._policy.backoff(self._failures, _draw())
        self._failures += 1
        self._latest = failure
        if pause < self._deadline.left(now):
            return Retry(pause)
        return self._out_of_time(failure)

    def time_for_call(self, now: float) -> float:
        """Seconds that the next call may take."""
        return min(self._policy.per_call, self._deadline.left(now))

    def cut_off(self, limit: float) -> CallFailure:
        """The failure of a call that was ended after so many seconds."""
        if self._latest is not None and limit < self._policy.per_call:
            # Our time was up, and not the service's: what it said before is the reason.
            return self._latest._replace(throttled=False, retry_after=None)
        return CallFailure(f"the judge did not answer within {limit:.3g} s", retryable=True)

    def _out_of_time(self, failure: CallFailure) -> GiveUp:
        limit = self._policy.per_verdict
        return GiveUp(f"{failure.reason} (given up after {limit:.0f} s of trying)")


class CircuitBreaker:
    """Whether calls are pointless: what each model refuses, and an outage of the service."""

    def __init__(self, limit: float) -> None:
        self._service = _Service(limit)
        self._models: defaultdict[str, _Model] = defaultdict(_Model)

    def check(self, model: str, now: float) -> Retry | GiveUp:
        """Whether to call this model now."""
        refused = self._models[model].check()
        return refused if isinstance(refused, GiveUp) else self._service.check(now)

    def answered(self, model: str) -> None:
        """The model and its service work."""
        self._models[model].answered()
        self._service.answered()

    def failed(self, model: str, failure: CallFailure, now: float) -> Retry | GiveUp:
        """One more call without an answer: whether calling again can be of any use."""
        if not failure.retryable:
            self._models[model].refused(failure)
            return GiveUp(failure.reason)
        self._service.failed(failure, now)
        return self._service.check(now)


class _Service:
    """Closed after so many seconds without an answer; one call every half minute tries again."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._began: float | None = None
        self._latest = -math.inf
        self._closed_until = -math.inf
        self._reason = ""

    def answered(self) -> None:
        self._began = None

    def failed(self, failure: CallFailure, now: float) -> None:
        self._began = now if self._began is None else self._began
        self._latest = now
        self._reason = failure.reason
        if failure.retry_after is not None and failure.retry_after > self._limit:
            self._closed_until = max(self._closed_until, now + failure.retry_after)

    def check(self, now: float) -> Retry | GiveUp:
        if now < self._closed_until:
            left = self._closed_until - now
            return GiveUp(f"{self._reason} (the service asks to come back in {left:.0f} s)")
        if self._began is None or now - self._latest > _PROBE_AFTER:
            return Retry()
        lasted = self._latest - self._began
        if lasted < self._limit:
            return Retry()
        return GiveUp(f"{self._reason} (nothing was answered for {lasted:.0f} s)")


class _Model:
    """Closed for good by a refusal of everything.

    A refusal that concerns every question counts at once. One that may lie in the question
    counts when a model that never answered anything has said the same several times.
    """

    def __init__(self) -> None:
        self._final: str | None = None
        self._repeated: Counter[str] = Counter()
        self._answers = False

    def answered(self) -> None:
        self._answers = True

    def refused(self, failure: CallFailure) -> None:
        self._repeated[failure.reason] += 1
        often = self._repeated[failure.reason] >= _ENOUGH
        if self._final is None and (failure.for_all or (often and not self._answers)):
            self._final = failure.reason

    def check(self) -> Retry | GiveUp:
        return Retry() if self._final is None else GiveUp(self._final)


def _draw() -> float:
    return random.random()  # noqa: S311 - spreads retries, guards nothing
