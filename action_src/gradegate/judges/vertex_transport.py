"""The way of Vertex's SDK to the network: over our own loop, every refusal told as it was.

The SDK is synchronous, retries by itself without heeding what the service asks for, and keeps of
an error only its text. So its requests are sent here: a refusal is raised as something that it
does not retry and that carries all we need in its text, and what is under way when we close ends.
"""

import asyncio
import json
from concurrent.futures import Future
from typing import Any

import httpx

from gradegate.judges.trouble import refusal
from gradegate.ports import Trouble

_MARK = "gradegate: "
_REFUSED = 400
_NOT_FOUND = 404
_EXHAUSTED = 8
_TRANSIENT = frozenset((4, _EXHAUSTED, 10, 13, 14))
"""gRPC's deadline exceeded, resource exhausted, aborted, internal and unavailable."""
_ALREADY_UNDONE = frozenset((b"content-encoding", b"content-length", b"transfer-encoding"))


class Unanswered(Exception):  # noqa: N818 - what happened, in the SDK's hands for a moment
    """No answer. The SDK turns an exception into its text, so the text says it all."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(_MARK + json.dumps(trouble._asdict()))
        self.trouble = trouble


def trouble_in(message: str) -> Trouble | None:
    """The trouble that such a text tells of."""
    _, marked, told = message.partition(_MARK)
    return Trouble(**json.loads(told)) if marked else None


class LoopTransport(httpx.BaseTransport):
    """Sends what threads ask for on the loop, and lets go of it all when closed."""

    def __init__(self, loop: asyncio.AbstractEventLoop, timeout: float) -> None:
        self._loop = loop
        self._client = httpx.AsyncClient(
            timeout=timeout,
            limits=httpx.Limits(max_connections=None),
            follow_redirects=False,
        )
        self._under_way: set[Future[httpx.Response]] = set()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Called by the SDK, in a thread."""
        request.read()
        sending = asyncio.run_coroutine_threadsafe(self._send(request), self._loop)
        self._under_way.add(sending)
        try:
            return sending.result()
        finally:
            self._under_way.discard(sending)

    async def aclose(self) -> None:
        """End what is under way; the threads that wait for it come free."""
        for sending in tuple(self._under_way):
            sending.cancel()
        await self._client.aclose()

    async def _send(self, request: httpx.Request) -> httpx.Response:
        try:
            response = await self._client.request(
                request.method, request.url, headers=request.headers, content=request.content
            )
        except httpx.HTTPError as error:
            described = str(error) or type(error).__name__
            broke = Trouble(f"the connection broke: {described}", may_pass=True)
            raise Unanswered(broke) from error
        trouble = _trouble_of(response)
        if trouble is not None:
            raise Unanswered(trouble)
        headers = [pair for pair in response.headers.raw if pair[0].lower() not in _ALREADY_UNDONE]
        return httpx.Response(
            response.status_code, headers=headers, content=response.content, request=request
        )


def _trouble_of(response: httpx.Response) -> Trouble | None:
    """What keeps an answer from being one: its status, or an error where the score should be."""
    try:
        body: Any = response.json()
    except ValueError:
        body = None
    if response.status_code >= _REFUSED:
        trouble = refusal(response.status_code, body, response.headers, "")
        return trouble._replace(reason=_reason(response.status_code, body, trouble.reason))
    if not isinstance(body, dict):
        return Trouble("the service sent something unreadable", may_pass=True)
    return _trouble_within(body)


def _reason(code: int, body: Any, reason: str) -> str:
    if code != _NOT_FOUND:
        return f"Vertex AI: {reason}"
    error = body.get("error", {}) if isinstance(body, dict) else {}
    said = (error.get("message") if isinstance(error, dict) else None) or "not found"
    return (
        f"Vertex AI: 404 NOT_FOUND: {said}: see that GOOGLE_CLOUD_PROJECT is right and that its "
        "evaluation service runs in GOOGLE_CLOUD_LOCATION"
    )


def _trouble_within(body: dict[str, Any]) -> Trouble | None:
    """An error of the one metric that was asked for, where asking again may help."""
    results = body.get("metricResults") or [{}]
    error = results[0].get("error") if isinstance(results[0], dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    if not isinstance(error, dict) or code not in _TRANSIENT:
        return None
    reason = f"Vertex AI could not score it: {error.get('message') or f'error {code}'}"
    return Trouble(reason, may_pass=True, slow_down=code == _EXHAUSTED)
