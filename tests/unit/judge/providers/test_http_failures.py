"""What a refusal means: try again, slow down, wait so long, or leave it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from gradegate.judge.providers.http_failures import refusal
from gradegate.ports import CallFailure

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def refused(
    code: int, *details: dict[str, Any], message: str = "No.", after: str | None = None
) -> CallFailure:
    """The trouble that this answer means."""
    body = {"error": {"code": code, "status": "NO", "message": message, "details": [*details]}}
    headers = {} if after is None else {"Retry-After": after}
    return refusal(code, body, headers, "gemini-1.5-flash", NOW)


def retry_info(delay: str) -> dict[str, Any]:
    """Google's way to say how long to wait."""
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


@pytest.mark.parametrize(
    ("code", "may_pass", "slow_down", "for_all"),
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
    code: int, *, may_pass: bool, slow_down: bool, for_all: bool
) -> None:
    """Overload slows everyone down; a key or a model that is refused is refused for all."""
    trouble = refused(code)
    assert (trouble.may_pass, trouble.slow_down, trouble.for_all) == (may_pass, slow_down, for_all)
    assert "No." in trouble.reason


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
    assert refused(429, *details, after=after).wait == wait
    assert refused(503, *details, after=after).wait == wait


def test_a_daily_quota_is_not_waited_for() -> None:
    """Google sends a RetryInfo of seconds with it, which would not help."""
    quota = {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
    }
    trouble = refused(429, quota, retry_info("12s"))
    assert (trouble.may_pass, trouble.for_all) == (False, True)


def test_an_invalid_key_is_invalid_for_all() -> None:
    """Google sends it as a plain 400."""
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    assert refused(400, info).for_all


def test_an_unknown_model_is_named_with_what_to_write_instead() -> None:
    """The message says which file and field."""
    reason = refused(404, message="models/gemini-1.5-flash is not found").reason
    for words in ("`gemini-1.5-flash`", "`gemini-2.5-flash`", "test_config.json", "`judge_model`"):
        assert words in reason


@pytest.mark.parametrize("body", [None, "<html>", [], {"error": "no"}, {"error": {"details": 3}}])
def test_a_body_of_any_shape_is_read(body: Any) -> None:
    """A proxy's page is no reason to crash."""
    assert refusal(503, body, {}, "m").reason.startswith("503")
