"""What can go wrong with a call, and plans that say with which call it does."""

import asyncio
import json
import random
import socket
import struct
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from aiohttp import web

_FOR_EVER = 3600.0


class Fault(StrEnum):
    """One way for a call to go wrong."""

    UNAVAILABLE = "503"
    UNAVAILABLE_RETRY_AFTER = "503 with Retry-After"
    BUSY = "429"
    BUSY_RETRY_AFTER = "429 with Retry-After"
    BUSY_RETRY_INFO = "429 with RetryInfo"
    DAILY_QUOTA = "429 for the rest of the day"
    BROKEN = "500"
    BAD_GATEWAY = "502 with an HTML page"
    REFUSED = "400"
    FORBIDDEN = "403"
    HANG = "no answer"
    RESET = "connection reset"
    CUT_BODY = "connection closed in the middle of the body"
    CUT_JSON = "a body that is half a JSON object"
    EMPTY = "no candidates"
    BLOCKED = "the prompt was blocked"
    SAFETY = "finish reason SAFETY"
    CUT_OFF = "finish reason MAX_TOKENS"


Plan = Callable[[int], Fault | None]
"""The fault of the n-th request, counted from 1."""

IN_TRANSPORT = (
    Fault.UNAVAILABLE,
    Fault.UNAVAILABLE_RETRY_AFTER,
    Fault.BUSY,
    Fault.BUSY_RETRY_AFTER,
    Fault.BUSY_RETRY_INFO,
    Fault.BROKEN,
    Fault.BAD_GATEWAY,
    Fault.HANG,
    Fault.RESET,
    Fault.CUT_BODY,
    Fault.CUT_JSON,
)
"""Faults that say nothing about the question."""

REFUSAL = "Judging is switched off for this project."
_WAIT = "1"


def always(fault: Fault | None) -> Plan:
    """The same fault with every request."""
    return lambda _: fault


NO_FAULTS = always(None)


def share_of(share: float, kinds: Sequence[Fault], seed: int = 1) -> Plan:
    """A random share of requests go wrong, in one of these ways; the same for equal seeds."""
    draw = random.Random(seed)
    return lambda _: draw.choice(kinds) if draw.random() < share else None


async def commit(fault: Fault, request: web.Request, answer: dict[str, Any]) -> web.StreamResponse:
    """Let the request go wrong; `answer` is what it would have got."""
    if fault in _STATUSES:
        return _refusal(fault)
    if fault in _CANDIDATES:
        return web.json_response({**answer, **_CANDIDATES[fault]})
    if fault == Fault.CUT_OFF:
        return web.json_response(_cut_off(answer))
    if fault == Fault.CUT_JSON:
        body = json.dumps(answer)
        return web.Response(text=body[: len(body) // 2], content_type="application/json")
    if fault == Fault.CUT_BODY:
        return await _cut_body(request, answer)
    if fault == Fault.HANG:
        await asyncio.sleep(_FOR_EVER)
    return _reset(request)


def error_body(code: int, status: str, message: str, *details: dict[str, Any]) -> dict[str, Any]:
    """An error in the form Google's APIs give it."""
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


_STATUSES: dict[Fault, tuple[int, str, str]] = {
    Fault.UNAVAILABLE: (503, "UNAVAILABLE", "The model is overloaded."),
    Fault.UNAVAILABLE_RETRY_AFTER: (503, "UNAVAILABLE", "The model is overloaded."),
    Fault.BUSY: (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted."),
    Fault.BUSY_RETRY_AFTER: (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted."),
    Fault.BUSY_RETRY_INFO: (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota."),
    Fault.DAILY_QUOTA: (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota."),
    Fault.BROKEN: (500, "INTERNAL", "An internal error has occurred."),
    Fault.BAD_GATEWAY: (502, "", ""),
    Fault.REFUSED: (400, "INVALID_ARGUMENT", REFUSAL),
    Fault.FORBIDDEN: (403, "PERMISSION_DENIED", REFUSAL),
}

_RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.3s"}
_PER_DAY = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
}
_DETAILS: dict[Fault, tuple[dict[str, Any], ...]] = {
    Fault.BUSY_RETRY_INFO: (_RETRY_INFO,),
    Fault.DAILY_QUOTA: (_PER_DAY, _RETRY_INFO),
}

_CANDIDATES: dict[Fault, dict[str, Any]] = {
    Fault.EMPTY: {"candidates": []},
    Fault.BLOCKED: {"candidates": [], "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}},
    Fault.SAFETY: {"candidates": [{"finishReason": "SAFETY", "index": 0}]},
}


def _refusal(fault: Fault) -> web.Response:
    code, status, message = _STATUSES[fault]
    if fault == Fault.BAD_GATEWAY:
        return web.Response(status=502, text="<html>Bad Gateway</html>", content_type="text/html")
    headers = {"Retry-After": _WAIT} if fault.value.endswith("Retry-After") else {}
    body = error_body(code, status, message, *_DETAILS.get(fault, ()))
    return web.json_response(body, status=code, headers=headers)


def _cut_off(answer: dict[str, Any]) -> dict[str, Any]:
    text = answer["candidates"][0]["content"]["parts"][0]["text"]
    half = {"role": "model", "parts": [{"text": text[: len(text) // 2]}]}
    return {**answer, "candidates": [{"content": half, "finishReason": "MAX_TOKENS", "index": 0}]}


async def _cut_body(request: web.Request, answer: dict[str, Any]) -> web.StreamResponse:
    body = json.dumps(answer).encode()
    response = web.StreamResponse(
        headers={"Content-Type": "application/json", "Content-Length": str(len(body))}
    )
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    return _reset(request)


def _reset(request: web.Request) -> web.Response:
    transport = request.transport
    if transport is not None:
        connection = transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    return web.Response()
