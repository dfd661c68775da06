"""What Google's services add to a failed HTTP call: the details of google.rpc."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gradegate.judge.providers.http_failures import error_in, http_failure, seconds_in
from gradegate.ports import CallFailure


def google_failure(
    status: int, body: Any, headers: Mapping[str, str], at: datetime | None = None
) -> CallFailure:
    """The failure that a status other than success means."""
    failure = http_failure(status, body, headers, at)
    details = _details(body)
    if not failure.retryable:
        return failure._replace(for_all=failure.for_all or _is_about_the_key(details))
    if not failure.throttled:
        return failure
    if _is_for_the_day(details):
        return CallFailure(failure.reason, retryable=False, for_all=True)
    asked = (failure.retry_after, *map(_retry_delay, details))
    longest = max((seconds for seconds in asked if seconds is not None), default=None)
    return failure._replace(retry_after=longest)


def _details(body: Any) -> list[dict[str, Any]]:
    details = error_in(body).get("details")
    listed = details if isinstance(details, list) else []
    return [detail for detail in listed if isinstance(detail, dict)]


def _is_for_the_day(details: list[dict[str, Any]]) -> bool:
    """Whether a daily quota is used up: the few seconds it tells to wait would not help."""
    return any(
        "PerDay" in str(violation)
        for detail in details
        if _is_a("QuotaFailure", detail)
        for violation in detail.get("violations", ())
    )


def _is_about_the_key(details: list[dict[str, Any]]) -> bool:
    return any(str(detail.get("reason", "")).startswith("API_KEY_") for detail in details)


def _retry_delay(detail: dict[str, Any]) -> float | None:
    if not _is_a("RetryInfo", detail):
        return None
    return seconds_in(str(detail.get("retryDelay", "")))


def _is_a(kind: str, detail: dict[str, Any]) -> bool:
    return str(detail.get("@type", "")).endswith(kind)
