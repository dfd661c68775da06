"""What Google's refusals mean for asking again."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from gradegate.ports import CallFailure

_TOO_MANY_REQUESTS = 429
_UNAVAILABLE = 503
_NOT_FOUND = 404
_SLOW_DOWN = frozenset((_TOO_MANY_REQUESTS, _UNAVAILABLE))
_MAY_PASS = frozenset((408, 409, 425))
_SERVER_ERROR = 500
_NO_ACCESS = frozenset((401, 403, _NOT_FOUND))
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s?")


def refusal(
    code: int, body: Any, headers: Mapping[str, str], model: str, now: datetime | None = None
) -> CallFailure:
    """The trouble behind an HTTP status other than 200."""
    error = _error(body)
    message = str(error.get("message") or "").strip()
    reason = f"{code} {error.get('status') or ''}".strip() + (f": {message}" if message else "")
    if code == _NOT_FOUND:
        reason = _unknown_model(model, message)
    details = list(_details(error))
    if code in _SLOW_DOWN and not _is_for_the_day(details):
        wait = _asked_to_wait(details, headers, now or datetime.now(UTC))
        return CallFailure(reason, may_pass=True, wait=wait, slow_down=True)
    if code in _MAY_PASS or (code >= _SERVER_ERROR and code != _UNAVAILABLE):
        return CallFailure(reason, may_pass=True)
    for_all = code in _NO_ACCESS or code in _SLOW_DOWN or _is_about_the_key(details)
    return CallFailure(reason, may_pass=False, for_all=for_all)


def _error(body: Any) -> dict[str, Any]:
    inner = body.get("error", body) if isinstance(body, dict) else None
    return inner if isinstance(inner, dict) else {}


def _details(error: dict[str, Any]) -> Iterator[dict[str, Any]]:
    details = error.get("details")
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, dict):
            yield detail


def _unknown_model(model: str, message: str) -> str:
    return (
        f"the service has no model `{model}` for this key: write a current one, such as "
        "`gemini-2.5-flash`, as `judge_model` in the test_config.json (its `judge_model_options`) "
        f"or as `model` under `[judge]` in gradegate.toml ({message or 'not found'})"
    )


def _is_for_the_day(details: list[dict[str, Any]]) -> bool:
    """Whether a daily quota is used up: the few seconds it tells to wait would not help."""
    return any(
        "PerDay" in str(violation)
        for detail in details
        if str(detail.get("@type", "")).endswith("QuotaFailure")
        for violation in detail.get("violations", ())
    )


def _is_about_the_key(details: list[dict[str, Any]]) -> bool:
    return any(str(detail.get("reason", "")).startswith("API_KEY_") for detail in details)


def _asked_to_wait(
    details: list[dict[str, Any]], headers: Mapping[str, str], now: datetime
) -> float | None:
    """Seconds to wait: the longer of RetryInfo in the body and Retry-After in the headers."""
    asked = [
        _seconds(str(detail.get("retryDelay", "")))
        for detail in details
        if str(detail.get("@type", "")).endswith("RetryInfo")
    ]
    asked.append(_retry_after(headers.get("Retry-After", ""), now))
    return max((seconds for seconds in asked if seconds is not None), default=None)


def _seconds(text: str) -> float | None:
    match = _SECONDS.fullmatch(text.strip())
    return float(match[1]) if match else None


def _retry_after(text: str, now: datetime) -> float | None:
    seconds = _seconds(text)
    if seconds is not None or not text:
        return seconds
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max((until.replace(tzinfo=until.tzinfo or UTC) - now).total_seconds(), 0.0)
