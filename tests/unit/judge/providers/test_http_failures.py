"""What a failed call to any HTTP service means: try again, slow down, wait so long, leave it."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from gradegate.judge.providers.google_failures import google_failure
from gradegate.judge.providers.http_failures import (
    connection_failure,
    http_failure,
    unreadable_response,
)
from gradegate.ports import CallFailure

FailureOf = Callable[[int, Any, Mapping[str, str]], CallFailure]
NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize("failure_of", [http_failure, google_failure])
@pytest.mark.parametrize(
    ("status", "retryable", "throttled", "for_all"),
    [
        (400, False, False, False),
        (401, False, False, True),
        (403, False, False, True),
        (404, False, False, True),
        (408, True, False, False),
        (413, False, False, False),
        (429, True, True, False),
        (500, True, False, False),
        (502, True, False, False),
        (503, True, True, False),
        (504, True, False, False),
    ],
)
def test_the_status_tells_whether_to_ask_again(
    failure_of: FailureOf, status: int, *, retryable: bool, throttled: bool, for_all: bool
) -> None:
    """Overload slows everyone down; a key or a model that is refused is refused for all."""
    failure = failure_of(status, {"error": {"message": "No."}}, {})
    assert failure == CallFailure(f"{status}: No.", retryable, None, throttled, for_all)


@pytest.mark.parametrize(
    ("after", "wait"),
    [
        (None, None),
        ("7", 7.0),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("-3", None),
    ],
)
def test_the_wait_asked_for_counts(after: str | None, wait: float | None) -> None:
    """Retry-After as seconds or date; nonsense is no wait, nor is one that cannot help."""
    headers = {} if after is None else {"Retry-After": after}
    assert http_failure(429, None, headers, NOW).retry_after == wait
    assert http_failure(503, None, headers, NOW).retry_after == wait
    assert http_failure(400, None, headers, NOW).retry_after is None


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"error": {"status": "NO", "message": " No. "}}, "503 NO: No."),
        ({"error": {"type": "overloaded_error", "message": "Busy"}}, "503 overloaded_error: Busy"),
        ({"error": "no such model"}, "503: no such model"),
        ({"message": "no"}, "503: no"),
        ({"error": {"details": 3}}, "503"),
        (None, "503"),
        ("<html>", "503"),
        ([], "503"),
    ],
)
def test_a_body_of_any_shape_is_read(body: Any, reason: str) -> None:
    """A proxy's page is no reason to crash."""
    assert http_failure(503, body, {}).reason == reason


def test_a_broken_connection_may_be_there_again() -> None:
    """An error without words is named by its kind."""
    assert connection_failure(OSError("reset")) == CallFailure(
        "the connection broke: reset", retryable=True
    )
    assert connection_failure(TimeoutError()).reason == "the connection broke: TimeoutError"


def test_an_unreadable_response_may_be_readable_the_next_time() -> None:
    """With what is wrong, where that can be said."""
    failure = unreadable_response(ValueError("cut off"))
    assert failure == CallFailure("the service sent something unreadable: cut off", retryable=True)
    assert unreadable_response().reason == "the service sent something unreadable"
