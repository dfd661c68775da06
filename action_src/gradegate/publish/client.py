"""The connection to GitHub: PyGithub, told how patient to be."""

import time
from typing import Any, Self

from github import Auth, Github, GithubRetry, RateLimitExceededException
from urllib3 import BaseHTTPResponse

from gradegate.model.errors import ForgeError

RETRIES = 5
TIMEOUT_SECONDS = 30
PAGE_SIZE = 100
RETRIED_METHODS = frozenset({"GET", "POST", "PATCH", "DELETE"})
RETRIED_STATUSES = (429, *range(500, 600))


class Patience:
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


class PatientRetry(GithubRetry):
    """Waits as long as GitHub asks, but not for ever: in all as long as patience lasts."""

    def __init__(self, patience: Patience, **options: Any) -> None:
        self.patience = patience
        super().__init__(**options)

    def new(self, **options: Any) -> Self:
        """The next attempt's retry shares this one's patience."""
        return super().new(patience=self.patience, **options)

    def sleep(self, response: BaseHTTPResponse | None = None) -> None:
        """Wait before the next attempt."""
        asked = self.get_retry_after(response) if response is not None else None
        seconds = asked or self.get_backoff_time()
        if not self.patience.wait(seconds):
            raise RateLimitExceededException(
                response.status if response is not None else 0,
                message=f"GitHub asks to wait {seconds:.0f} s, which is longer than we may",
            )


def connect(
    token: str, api_url: str, *, patience_seconds: float, seconds_between_writes: float
) -> Github:
    """A client that retries, pages by the hundred and fetches only what is asked of it."""
    if not token:
        raise ForgeError("no GitHub token: set `github-token: ${{ github.token }}`")
    return Github(
        base_url=api_url.rstrip("/"),
        auth=Auth.Token(token),
        timeout=TIMEOUT_SECONDS,
        per_page=PAGE_SIZE,
        lazy=True,
        seconds_between_requests=0,
        seconds_between_writes=seconds_between_writes,
        retry=PatientRetry(
            Patience(patience_seconds),
            total=RETRIES,
            backoff_factor=0.5,
            allowed_methods=RETRIED_METHODS,
            status_forcelist=list(RETRIED_STATUSES),
        ),
    )
