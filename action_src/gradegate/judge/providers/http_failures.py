"""What a failed HTTP call means for calling again, whosever service it is."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from gradegate.ports import CallFailure

BAD_REQUEST, NOT_FOUND = 400, 404
_THROTTLED = frozenset((429, 503))
_RETRYABLE = frozenset((408, 409, 425))
_SERVER_ERROR = 500
_NO_ACCESS = frozenset((401, 403, NOT_FOUND))
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s?")


def http_failure(
    status: int, body: Any, headers: Mapping[str, str], at: datetime | None = None
) -> CallFailure:
    """The failure that a status other than success means; `body` is JSON, or anything else."""
    reason = _reason(status, error_in(body), message_in(body))
    if status in _THROTTLED:
        wait = _retry_after(headers.get("Retry-After", ""), at or datetime.now(UTC))
        return CallFailure(reason, retryable=True, retry_after=wait, throttled=True)
    if status in _RETRYABLE or status >= _SERVER_ERROR:
        return CallFailure(reason, retryable=True)
    return CallFailure(reason, retryable=False, for_all=status in _NO_ACCESS)


def connection_failure(error: Exception) -> CallFailure:
    """No response came, or not all of it."""
    described = str(error) or type(error).__name__
    return CallFailure(f"the connection broke: {described}", retryable=True)


def unreadable_response(error: object = "") -> CallFailure:
    """A response that is not what the service promises, such as JSON that is cut off."""
    told = f": {error}" if str(error) else ""
    return CallFailure(f"the service sent something unreadable{told}", retryable=True)


def error_in(body: Any) -> dict[str, Any]:
    """The error that a body of any shape tells of."""
    inner = body.get("error", body) if isinstance(body, dict) else None
    return inner if isinstance(inner, dict) else {}


def message_in(body: Any) -> str:
    """What it says in words; empty where it says nothing."""
    if isinstance(body, dict) and isinstance(body.get("error"), str):
        return str(body["error"]).strip()
    return str(error_in(body).get("message") or "").strip()


def seconds_in(text: str) -> float | None:
    """A duration such as `7` or `34.07s`."""
    match = _SECONDS.fullmatch(text.strip())
    return float(match[1]) if match else None


def _reason(status: int, error: dict[str, Any], message: str) -> str:
    """`429 RESOURCE_EXHAUSTED: Too many…`: what the service calls it stands beside the status."""
    label = error.get("status") or error.get("type") or ""
    return f"{status} {label}".strip() + (f": {message}" if message else "")


def _retry_after(text: str, at: datetime) -> float | None:
    seconds = seconds_in(text)
    if seconds is not None or not text:
        return seconds
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max((until.replace(tzinfo=until.tzinfo or UTC) - at).total_seconds(), 0.0)
