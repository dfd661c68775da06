"""The stand-in itself: a real HTTP server in a thread of its own."""

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Self

from aiohttp import web

from tests.standins.gemini.faults import NO_FAULTS, Fault, Plan, commit, error_body

Answer = Callable[[dict[str, Any]], str | dict[str, Any]]
"""What to say to a request's body: the text, or a whole candidate, or a whole response."""

MODELS = ("gemini-3.5-flash-lite", "gemini-2.5-flash")
KEY = "stand-in-key"
TOKEN = "stand-in-token"  # noqa: S105 - opens nothing
_FIELDS = frozenset(
    ("contents", "systemInstruction", "generationConfig", "safetySettings", "tools", "toolConfig")
)


@dataclass(frozen=True)
class Request:
    """One call as it arrived."""

    model: str
    body: dict[str, Any]
    at: float
    fault: Fault | None = None

    @property
    def prompt(self) -> str:
        """What was asked, as one text."""
        return prompt_of(self.body)


def prompt_of(body: dict[str, Any]) -> str:
    """The texts of a request's contents."""
    return "\n".join(
        part.get("text", "") for content in body["contents"] for part in content["parts"]
    )


class GeminiStandin:
    """Serves `generateContent` and its streaming form, for an API key or a Vertex project.

    Use it as a context manager; `url` is what GOOGLE_GEMINI_BASE_URL takes.
    """

    def __init__(
        self,
        answer: Answer,
        *,
        latency: float = 0.0,
        faults: Plan = NO_FAULTS,
        models: Collection[str] = MODELS,
        port: int = 0,
    ) -> None:
        self.requests: list[Request] = []
        self.most_at_once = 0
        self.answer = answer
        self.faults = faults
        self.url = ""
        self._latency = latency
        self._answered_at_once = 0
        self._models = models
        self._port = port
        self._at_once = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)

    @property
    def environ(self) -> dict[str, str]:
        """What points a client here."""
        return {"GOOGLE_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": self.url}

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(60):
            raise RuntimeError("the stand-in did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def hold(self, after: int = 0) -> None:
        """Answer so many calls of all that come, and no more until `release`."""
        self._answered_at_once = after
        self._loop.call_soon_threadsafe(self._released.clear)

    def release(self) -> None:
        """Answer what was held, and what comes from now on."""
        self._loop.call_soon_threadsafe(self._released.set)

    async def serve(self) -> None:
        """Serve until told to stop."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._released = asyncio.Event()
        self._released.set()
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/{version}/models/{call}", self._with_key)
        vertex = "/{version}/projects/{project}/locations/{location}/publishers/google/models"
        app.router.add_post(vertex + "/{call}", self._with_token)
        app.router.add_post("/token", _token)
        app.router.add_get("/requests", self._counts)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self._port).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _with_key(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("x-goog-api-key") != KEY:
            info = {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
            }
            message = "API key not valid. Please pass a valid API key."
            return _error(400, "INVALID_ARGUMENT", message, info)
        return await self._call(request)

    async def _with_token(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return _error(401, "UNAUTHENTICATED", "Request had invalid credentials.")
        return await self._call(request)

    async def _call(self, request: web.Request) -> web.StreamResponse:
        model, _, method = request.match_info["call"].partition(":")
        body = await request.json()
        number, fault = self._record(model, body)
        if model not in self._models:
            message = f"models/{model} is not found for API version v1beta, or is not supported."
            return _error(404, "NOT_FOUND", message)
        if wrong := _mistake(body, method):
            return _error(400, "INVALID_ARGUMENT", wrong)
        with self._counted():
            if number > self._answered_at_once:
                await self._released.wait()
            await asyncio.sleep(self._latency)
            response = self._response(model, body, number)
            if fault is not None:
                return await commit(fault, request, response)
            if method == "streamGenerateContent":
                return await _stream(request, response)
            return web.json_response(response)

    def _record(self, model: str, body: dict[str, Any]) -> tuple[int, Fault | None]:
        number = len(self.requests) + 1
        fault = self.faults(number)
        self.requests.append(Request(model, body, time.monotonic(), fault))
        return number, fault

    @contextlib.contextmanager
    def _counted(self) -> Any:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            yield
        finally:
            self._at_once -= 1

    def _response(self, model: str, body: dict[str, Any], number: int) -> dict[str, Any]:
        said = self.answer(body)
        if isinstance(said, str):
            content = {"role": "model", "parts": [{"text": said}]}
            said = {"content": content, "finishReason": "STOP", "index": 0}
        if "candidates" in said:
            return said
        asked, answered = len(prompt_of(body)) // 4, len(json.dumps(said)) // 4
        usage = {"promptTokenCount": asked, "candidatesTokenCount": answered}
        return {
            "candidates": [said],
            "usageMetadata": {**usage, "totalTokenCount": asked + answered},
            "modelVersion": model,
            "responseId": f"stand-in-{number}",
        }

    async def _counts(self, _: web.Request) -> web.Response:
        return web.json_response(
            {"requests": len(self.requests), "most_at_once": self.most_at_once}
        )


def _mistake(body: dict[str, Any], method: str) -> str | None:
    """What the service would object to in a request."""
    if method not in {"generateContent", "streamGenerateContent"}:
        return f"Unknown method {method!r}."
    if unknown := sorted(set(body) - _FIELDS):
        return f'Invalid JSON payload received. Unknown name "{unknown[0]}": Cannot find field.'
    if not body.get("contents"):
        return "* GenerateContentRequest.contents: contents is not specified"
    config = body.get("generationConfig", {})
    if "responseJsonSchema" in config and "responseSchema" in config:
        return "Only one of response_schema and response_json_schema may be set."
    if "responseJsonSchema" in config and config.get("responseMimeType") != "application/json":
        return "A response schema needs response_mime_type application/json."
    return None


async def _stream(request: web.Request, response: dict[str, Any]) -> web.StreamResponse:
    """The same answer in two server-sent events, the text split between them."""
    stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await stream.prepare(request)
    for chunk in _halves(response):
        await stream.write(b"data: " + json.dumps(chunk).encode() + b"\r\n\r\n")
    await stream.write_eof()
    return stream


def _halves(response: dict[str, Any]) -> list[dict[str, Any]]:
    candidate = response["candidates"][0]
    text = candidate["content"]["parts"][0]["text"]
    middle = len(text) // 2
    first = {"content": {"role": "model", "parts": [{"text": text[:middle]}]}, "index": 0}
    rest = {**candidate, "content": {"role": "model", "parts": [{"text": text[middle:]}]}}
    return [{**response, "candidates": [first]}, {**response, "candidates": [rest]}]


async def _token(_: web.Request) -> web.Response:
    """Where a service account's key is turned into a token."""
    return web.json_response({"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"})


def _error(code: int, status: str, message: str, *details: dict[str, Any]) -> web.Response:
    return web.json_response(error_body(code, status, message, *details), status=code)
