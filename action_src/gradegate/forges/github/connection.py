"""The connection to GitHub: PyGithub, told how long to wait."""

import logging
import time
from typing import Any, Self

from github import Auth, Github, GithubException, GithubRetry, set_log_level
from urllib3 import BaseHTTPResponse

RETRIES = 5
TIMEOUT_SECONDS = 30
PAGE_SIZE = 100
RETRIED_METHODS = frozenset({"GET", "POST", "PATCH", "DELETE"})
TOO_MANY_REQUESTS = 429
RETRIED_STATUSES = (TOO_MANY_REQUESTS, *range(500, 600))


class WaitBudget:
    """The seconds a client may spend waiting for GitHub, over all its requests."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def wait(self, seconds: float) -> bool:
        """Wait, or return False where that would take more than is left."""
        if seconds > self._left:
            return False
        self._left -= seconds
        time.sleep(seconds)
        return True


class WaitedLongEnough(GithubException):
    """The next attempt would be later than we may wait; it says nothing about permissions."""

    def __init__(self, trouble: str, seconds: float) -> None:
        super().__init__(
            0,
            message=f"{trouble}, and the next attempt would be in {seconds:.0f} s, "
            "which is longer than we may wait",
        )


class WaitingRetry(GithubRetry):
    """Waits as long as GitHub asks, but not for ever: in all as long as patience lasts."""

    def __init__(self, patience: WaitBudget, **options: Any) -> None:
        self.patience = patience
        super().__init__(**options)

    def new(self, **options: Any) -> Self:
        """The next attempt's retry shares this one's patience."""
        return super().new(patience=self.patience, **options)

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        """The seconds GitHub asks us to wait, in whichever header it says so.

        GithubRetry looks for a limit's reset only in a 403; GitHub may also answer 429.
        """
        asked = super().get_retry_after(response)
        if asked is not None or response.status != TOO_MANY_REQUESTS:
            return asked
        reset = response.headers.get("x-ratelimit-reset", "")
        if response.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
            return max(0.0, int(reset) - time.time()) + 1
        return self.secondary_rate_wait

    def sleep(self, response: BaseHTTPResponse | None = None) -> None:
        """Wait before the next attempt."""
        asked = self.get_retry_after(response) if response is not None else None
        seconds = asked or self.get_backoff_time()
        if not self.patience.wait(seconds):
            raise WaitedLongEnough(self._last_trouble(), seconds)

    def _last_trouble(self) -> str:
        last = self.history[-1]
        return f"HTTP {last.status}" if last.status else f"{type(last.error).__name__}"


def connect(
    token: str, api_url: str, *, patience_seconds: float, seconds_between_writes: float
) -> Github:
    """A client that retries, pages by the hundred and fetches only what is asked of it."""
    set_log_level(logging.WARNING)  # it would print every refusal that we are prepared for
    return Github(
        base_url=api_url,
        auth=Auth.Token(token),
        timeout=TIMEOUT_SECONDS,
        per_page=PAGE_SIZE,
        lazy=True,
        seconds_between_requests=0,
        seconds_between_writes=seconds_between_writes,
        retry=WaitingRetry(
            WaitBudget(patience_seconds),
            total=RETRIES,
            backoff_factor=0.5,
            allowed_methods=RETRIED_METHODS,
            status_forcelist=list(RETRIED_STATUSES),
        ),
    )
