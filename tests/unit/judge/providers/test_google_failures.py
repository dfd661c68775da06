"""What Google adds to a failed call: how long to wait, whose quota it is, whose key."""

from datetime import UTC, datetime
from typing import Any

import pytest

from gradegate.judge.providers.google_failures import google_failure
from gradegate.ports import CallFailure

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def refused(
    code: int, *details: dict[str, Any], message: str = "No.", after: str | None = None
) -> CallFailure:
    """The failure that this answer means."""
    body = {"error": {"code": code, "status": "NO", "message": message, "details": [*details]}}
    headers = {} if after is None else {"Retry-After": after}
    return google_failure(code, body, headers, NOW)


def retry_info(delay: str) -> dict[str, Any]:
    """Google's way to say how long to wait."""
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


@pytest.mark.parametrize(
    ("after", "delay", "wait"),
    [
        (None, None, None),
        ("7", None, 7.0),
        (None, "34.07s", 34.07),
        ("7", "34s", 34.0),
        ("50", "34s", 50.0),
        ("Sun, 01 Mar 2026 12:00:30 GMT", None, 30.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", None, 0.0),
        ("soon", "later", None),
        ("-3", None, None),
    ],
)
def test_the_longest_wait_asked_for_counts(
    after: str | None, delay: str | None, wait: float | None
) -> None:
    """Retry-After as seconds or date, RetryInfo as a duration; nonsense is no wait."""
    details = [retry_info(delay)] if delay else []
    assert refused(429, *details, after=after).retry_after == wait
    assert refused(503, *details, after=after).retry_after == wait


def test_a_daily_quota_is_not_waited_for() -> None:
    """Google sends a RetryInfo of seconds with it, which would not help."""
    quota = {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
    }
    failure = refused(429, quota, retry_info("12s"))
    assert (failure.retryable, failure.for_all) == (False, True)


def test_an_invalid_key_is_invalid_for_all() -> None:
    """Google sends it as a plain 400."""
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    assert refused(400, info).for_all


@pytest.mark.parametrize("body", [None, "<html>", [], {"error": "no"}, {"error": {"details": 3}}])
def test_a_body_of_any_shape_is_read(body: Any) -> None:
    """A proxy's page is no reason to crash."""
    assert google_failure(503, body, {}).reason.startswith("503")
