"""Vertex AI's SDK, and its way to the network. Importing this module takes 3.7 s and 464 MB.

The SDK is synchronous, retries by itself without heeding what the service asks for, and keeps of
an error only its text. So its requests are sent here, over our own loop: a failure is raised as
something that it does not retry and that carries all we need in its text, and what is under way
when we close ends.
"""

import asyncio
import json
import logging
import os
import threading
from concurrent.futures import Future
from typing import Any

os.environ.setdefault("TQDM_DISABLE", "1")  # read when tqdm is imported: one bar a call is noise

import agentplatform
import google.auth
import httpx
import pandas as pd
from agentplatform import types
from google.auth.credentials import Credentials
from google.auth.exceptions import GoogleAuthError
from google.auth.transport.requests import Request
from google.genai.types import HttpOptions, HttpRetryOptions

from gradegate.judge.providers.google_failures import google_failure
from gradegate.judge.providers.http_failures import (
    NOT_FOUND,
    connection_failure,
    message_in,
    unreadable_response,
)
from gradegate.judge.providers.vertex import VertexAccess
from gradegate.ports import CallFailure, Reply

_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
_FETCHED = frozenset({"coherence_v1"})
"""Metrics whose definition the SDK fetches from Google's storage before it can ask."""
_NEEDS_A_PROJECT = (
    "Vertex AI scores this by a metric that a key alone does not open: set GOOGLE_CLOUD_PROJECT "
    "and GOOGLE_CLOUD_LOCATION, with credentials for them"
)
_QUIET = ("agentplatform", "vertexai", "google_genai")
_MARK = "gradegate: "
_REFUSED = 400
_EXHAUSTED = 8
_TRANSIENT = frozenset((4, _EXHAUSTED, 10, 13, 14))
"""gRPC's deadline exceeded, resource exhausted, aborted, internal and unavailable."""
_ALREADY_UNDONE = frozenset((b"content-encoding", b"content-length", b"transfer-encoding"))


class VertexService:
    """Scores one thing by one metric; for threads."""

    def __init__(
        self, client: agentplatform.Client, transport: "LoopTransport", *, express: bool
    ) -> None:
        self._evals = client.evals
        self._transport = transport
        self._express = express
        self._metrics: dict[str, Any] = {}
        self._fetching = threading.Lock()

    @classmethod
    def open(
        cls, access: VertexAccess, loop: asyncio.AbstractEventLoop, timeout: float
    ) -> "VertexService | CallFailure":
        """The service, or what is wrong with the credentials."""
        for name in _QUIET:  # all that they would log comes back as an answer of ours
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            credentials = None if access.api_key else _credentials(access)
        except GoogleAuthError as error:
            return _no_access(access, error)
        transport = LoopTransport(loop, timeout)
        client = agentplatform.Client(
            api_key=access.api_key,
            credentials=credentials,
            project=access.project,
            location=access.location,
            http_options=HttpOptions(
                base_url=access.base_url,
                httpx_client=httpx.Client(transport=transport, timeout=timeout),
                retry_options=HttpRetryOptions(attempts=1),
            ),
        )
        return cls(client, transport, express=access.api_key is not None)

    async def close(self) -> None:
        """End what is under way."""
        await self._transport.aclose()

    def evaluate(self, metric: str, data: dict[str, Any]) -> Reply | CallFailure:
        """What the service says of the data: a prompt and a response, or a conversation."""
        try:
            if self._express:
                return self._evaluate_instance(metric, data)
            if metric in _FETCHED and metric not in self._metrics:
                with self._fetching:  # one fetches, the others then have it
                    fetched = metric not in self._metrics and self._evaluate(metric, data)
                if fetched:
                    return fetched
            return self._evaluate(metric, data)
        except Unanswered as unanswered:
            return unanswered.failure
        except (ValueError, OSError, GoogleAuthError) as error:
            return _not_asked(error)

    def _evaluate(self, metric: str, data: dict[str, Any]) -> Reply | CallFailure:
        name, _, version = metric.rpartition("_")
        known = self._metrics.get(metric)
        lazy = known or getattr(types.RubricMetric, name.upper())(version=version)
        result = self._evals.evaluate(dataset=_dataset(data), metrics=[lazy])
        self._metrics[metric] = lazy
        found = _metric_result(result)
        return _read(found, found and found.error_message)

    def _evaluate_instance(self, metric: str, data: dict[str, Any]) -> Reply | CallFailure:
        """The same with a key alone: `evaluate` would ask for credentials it does not need."""
        if metric in _FETCHED:
            return CallFailure(_NEEDS_A_PROJECT, retryable=False, for_all=True)
        response = self._evals.evaluate_instances(
            metric_config={"metrics": [types.Metric(name=metric)], "instance": _instance(data)}
        )
        found = next(iter(response.metric_results or ()), None)
        return _read(found, found and found.error and found.error.message)


def _credentials(access: VertexAccess) -> Credentials:
    """Credentials that have been seen to work, so that what is wrong with them is said plainly."""
    if access.credentials:
        load: Any = google.auth.load_credentials_from_file
        found: Credentials = load(access.credentials, scopes=_SCOPES)[0]
    else:
        found = google.auth.default(scopes=_SCOPES)[0]
    found.refresh(Request())  # type: ignore[no-untyped-call] # it has no types
    return found


def _no_access(access: VertexAccess, error: GoogleAuthError) -> CallFailure:
    what = (
        f"the credentials in {access.credentials}" if access.credentials else "this machine's own"
    )
    reason = (
        f"no access to Vertex AI with {what}: {error}: name a file of credentials with "
        "GOOGLE_APPLICATION_CREDENTIALS, or use google-github-actions/auth in the workflow"
    )
    return CallFailure(reason, retryable=error.retryable, for_all=not error.retryable)


def _dataset(data: dict[str, Any]) -> types.EvaluationDataset:
    if "turns" in data:
        case = types.EvalCase.model_validate({"agent_data": data})
        return types.EvaluationDataset(eval_cases=[case])
    return types.EvaluationDataset(eval_dataset_df=pd.DataFrame([{"reference": None, **data}]))


def _instance(data: dict[str, Any]) -> types.EvaluationInstance:
    """One thing to score, as the SDK makes it from a data set of one row."""
    if "turns" in data:
        return types.EvaluationInstance(prompt=_said([]), agent_data=data)
    prompt, response = ({"parts": [{"text": data[name]}]} for name in ("prompt", "response"))
    events = [{"author": "user", "content": prompt}, {"author": "model", "content": response}]
    turn = {"turn_index": 0, "turn_id": "turn_0", "events": events}
    return types.EvaluationInstance(
        prompt=_said([prompt]), response=_said([response]), agent_data={"turns": [turn]}
    )


def _said(contents: list[dict[str, Any]]) -> dict[str, Any]:
    return {"contents": {"contents": contents}}


def _read(found: Any, wrong: str | None) -> Reply | CallFailure:
    """A metric's result, of either of the SDK's two kinds, and what went wrong with it."""
    if wrong:
        return failure_in(wrong) or Reply("", unusable=f"Vertex AI could not score it: {wrong}")
    if found is None or found.score is None:
        return Reply("", unusable="Vertex AI gave no score")
    verdicts = enumerate(found.rubric_verdicts or (), 1)
    answer = {
        "score": found.score,
        "explanation": found.explanation or "",
        "rubrics": [_rubric(number, verdict) for number, verdict in verdicts],
    }
    return Reply(json.dumps(answer))


def _metric_result(result: types.EvaluationResult) -> types.EvalCaseMetricResult | None:
    for case in result.eval_case_results or ():
        for candidate in case.response_candidate_results or ():
            for found in (candidate.metric_results or {}).values():
                return found
    return None


def _rubric(number: int, verdict: types.evals.RubricVerdict) -> dict[str, Any]:
    rubric = verdict.evaluated_rubric
    property_ = rubric and rubric.content and rubric.content.property
    name = (property_ and property_.description) or (rubric and rubric.rubric_id)
    return {
        "rubric": name or f"rubric {number}",
        "met": bool(verdict.verdict),  # left out where it is not met
        "reasoning": verdict.reasoning or "",
    }


def _not_asked(error: Exception) -> CallFailure:
    """The SDK could not make a request of it; where that was the network's fault it may pass."""
    if isinstance(error, GoogleAuthError):
        return CallFailure(f"no access to Vertex AI: {error}", retryable=error.retryable)
    root: BaseException = error
    while root.__cause__ is not None:
        root = root.__cause__
    code = getattr(root, "code", None)
    passing = isinstance(root, ConnectionError | TimeoutError) or (
        isinstance(code, int) and (code >= 500 or code == 429)  # noqa: PLR2004 - HTTP's own
    )
    told = str(error) if root is error else f"{error}: {root}"
    return CallFailure(f"Vertex AI's SDK: {told}", retryable=passing)


class Unanswered(Exception):  # noqa: N818 - what happened, in the SDK's hands for a moment
    """No answer. The SDK turns an exception into its text, so the text says it all."""

    def __init__(self, failure: CallFailure) -> None:
        super().__init__(_MARK + json.dumps(failure._asdict()))
        self.failure = failure


def failure_in(message: str) -> CallFailure | None:
    """The failure that such a text tells of."""
    _, marked, told = message.partition(_MARK)
    return CallFailure(**json.loads(told)) if marked else None


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
            raise Unanswered(connection_failure(error)) from error
        failure = _failure_of(response)
        if failure is not None:
            raise Unanswered(failure)
        headers = [pair for pair in response.headers.raw if pair[0].lower() not in _ALREADY_UNDONE]
        return httpx.Response(
            response.status_code, headers=headers, content=response.content, request=request
        )


def _failure_of(response: httpx.Response) -> CallFailure | None:
    """What keeps an answer from being one: its status, or an error where the score should be."""
    try:
        body: Any = response.json()
    except ValueError:
        body = None
    if response.status_code >= _REFUSED:
        failure = google_failure(response.status_code, body, response.headers)
        return failure._replace(reason=_reason(response.status_code, body, failure.reason))
    if not isinstance(body, dict):
        return unreadable_response()
    return _failure_within(body)


def _reason(code: int, body: Any, reason: str) -> str:
    if code != NOT_FOUND:
        return f"Vertex AI: {reason}"
    message = message_in(body) or "not found"
    return (
        f"Vertex AI: 404 NOT_FOUND: {message}: see that GOOGLE_CLOUD_PROJECT is right and that its "
        "evaluation service runs in GOOGLE_CLOUD_LOCATION"
    )


def _failure_within(body: dict[str, Any]) -> CallFailure | None:
    """An error of the one metric that was asked for, where asking again may help."""
    results = body.get("metricResults") or [{}]
    error = results[0].get("error") if isinstance(results[0], dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    if not isinstance(error, dict) or code not in _TRANSIENT:
        return None
    reason = f"Vertex AI could not score it: {error.get('message') or f'error {code}'}"
    return CallFailure(reason, retryable=True, throttled=code == _EXHAUSTED)
