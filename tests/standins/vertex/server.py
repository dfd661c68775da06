"""The stand-in: metrics, tokens for service accounts, and the metrics that Google keeps in files.

What it says of an instance is up to whoever starts it. Like the service it refuses what is not
well formed, whoever has no token, and metrics it does not know.
"""

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Self

from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.standins.gemini.faults import NO_FAULTS, Fault, Plan, commit, error_body

PROJECT, LOCATION = "stand-in", "us-central1"
TOKEN = "stand-in-token"  # noqa: S105 - opens nothing but the stand-in
KEY = "stand-in-express-key"
METRICS = frozenset(
    {
        "safety_v1",
        "multi_turn_task_success_v1",
        "multi_turn_trajectory_quality_v1",
        "multi_turn_tool_use_quality_v1",
    }
)
COHERENCE = """
name: coherence
prompt_template: |
  Rate how coherent the response is, from 1 to 5.
  Prompt: {prompt}
  Response: {response}
"""
"""A metric that the SDK fetches from storage; the real one is longer."""

Score = Callable[[str, dict[str, Any]], dict[str, Any]]
"""From a metric's name and an instance to a metric result."""


class Request(NamedTuple):
    """A request that arrived."""

    metric: str
    instance: dict[str, Any]
    at: float
    fault: Fault | None


class VertexStandin:
    """The service, in a thread of its own for as long as the context lasts."""

    def __init__(self, score: Score, *, faults: Plan = NO_FAULTS) -> None:
        self.requests: list[Request] = []
        self.most_at_once = 0
        self.fetched = 0
        self.score = score
        self.faults = faults
        self.url = ""
        self._at_once = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)

    def environ(self, folder: Path) -> dict[str, str]:
        """What points gradegate here; the account's file is written to the folder."""
        return {
            "GOOGLE_CLOUD_PROJECT": PROJECT,
            "GOOGLE_CLOUD_LOCATION": LOCATION,
            "GOOGLE_APPLICATION_CREDENTIALS": str(self.account(folder)),
            "GRADEGATE_VERTEX_BASE_URL": self.url,
        }

    def account(self, folder: Path) -> Path:
        """A service account's file that turns into a token here."""
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        file = folder / "account.json"
        content = {
            "type": "service_account",
            "project_id": PROJECT,
            "private_key_id": "1",
            "private_key": key.decode(),
            "client_email": "judge@stand-in.iam.gserviceaccount.com",
            "client_id": "1",
            "token_uri": f"{self.url}/token",
        }
        file.write_text(json.dumps(content), encoding="utf-8")
        return file

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(60):
            raise RuntimeError("the stand-in did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def hold(self) -> None:
        """Answer no call that comes from now on, until `release`."""
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
        place = "/v1beta1/projects/{project}/locations/{location}/:evaluateInstances"
        app.router.add_post(place, self._with_token)
        app.router.add_post("/v1beta1/:evaluateInstances", self._with_key)
        app.router.add_post("/token", _token)
        app.router.add_get("/storage/v1/b/{bucket}/o/{name}", self._stored)
        app.router.add_get("/download/storage/v1/b/{bucket}/o/{name}", self._stored)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _with_token(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return _error(401, "UNAUTHENTICATED", "Request had invalid credentials.")
        if request.match_info["project"] != PROJECT:
            return _error(403, "PERMISSION_DENIED", "Permission denied on resource project.")
        if request.match_info["location"] != LOCATION:
            return _error(404, "NOT_FOUND", "The location has no evaluation service.")
        return await self._evaluate(request)

    async def _with_key(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("x-goog-api-key") != KEY:
            return _error(401, "UNAUTHENTICATED", "API keys of this kind are not supported.")
        return await self._evaluate(request)

    async def _evaluate(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        metric = _metric(body)
        if metric is None or not body.get("instance"):
            return _error(400, "INVALID_ARGUMENT", "One metric and an instance are needed.")
        fault = self.faults(len(self.requests) + 1)
        self.requests.append(Request(metric, body["instance"], time.monotonic(), fault))
        with self._counted():
            await self._released.wait()
            answer = {"metricResults": [self.score(metric, body["instance"])]}
            if fault is not None:
                return await commit(fault, request, answer)
            return web.json_response(answer)

    @contextlib.contextmanager
    def _counted(self) -> Any:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            yield
        finally:
            self._at_once -= 1

    async def _stored(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name != "metrics/coherence/v1.yaml":
            return _error(404, "NOT_FOUND", f"No such object: {name}")
        if request.query.get("alt") == "media":
            self.fetched += 1
            return web.Response(text=COHERENCE, content_type="application/octet-stream")
        return web.json_response({"kind": "storage#object", "name": name})


def texts_of(instance: dict[str, Any]) -> dict[str, str]:
    """Prompt and response of an instance."""
    return {
        name: "\n".join(
            part.get("text", "")
            for content in instance[name]["contents"]["contents"]
            for part in content["parts"]
        )
        for name in ("prompt", "response", "reference")
        if instance.get(name)
    }


def _metric(body: dict[str, Any]) -> str | None:
    metrics = body.get("metrics") or []
    if len(metrics) != 1:
        return None
    named = metrics[0].get("predefined_metric_spec", {}).get("metric_spec_name")
    if named is None and "llm_based_metric_spec" in metrics[0]:
        return "coherence_v1"
    return named if named in METRICS else None


async def _token(_: web.Request) -> web.Response:
    """Where a service account's key is turned into a token."""
    return web.json_response({"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"})


def _error(code: int, status: str, message: str) -> web.Response:
    return web.json_response(error_body(code, status, message), status=code)
