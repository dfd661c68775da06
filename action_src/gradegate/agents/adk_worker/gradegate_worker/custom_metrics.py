"""Calls users' metric functions with google-adk's own types, many at once.

One JSON object a line: `{"session", "function", "metric", "actual", "expected", "scenario"}` in,
`{"session", "result"}` or `{"session", "error"}` out; a line without a function is answered once
google-adk is imported. `{"session", "source", "name", "instance"}` calls the `evaluate(instance)`
that the source defines.
"""

import asyncio
import contextlib
import functools
import importlib
import inspect
import json
import math
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from .loading import read_dotenv
from .protocol import in_a_loop, lines_of, run, take_over
from .serialization import Json, plain, why


async def call(request: Json) -> Json:
    """What the function makes of it, as JSON."""
    if "source" in request:
        evaluate = defined(request["source"], request["name"])
        return {"result": explained(await in_a_thread(evaluate, request["instance"]))}
    if "function" not in request:
        with contextlib.suppress(ImportError):  # functions with a source need none
            import google.adk.evaluation.eval_metrics  # noqa: F401 - so that it is there
        return {"ok": True}
    from google.adk.evaluation.eval_case import ConversationScenario
    from google.adk.evaluation.eval_metrics import BaseCriterion, EvalMetric

    metric = request["metric"]
    scenario, expected = request["scenario"], request["expected"]
    returned = await in_a_thread(
        found(request["function"]),
        EvalMetric(
            metric_name=metric["metric_name"],
            criterion=BaseCriterion.model_validate(metric["criterion"]),
            custom_function_path=request["function"],
        ),
        [invocation(turn) for turn in request["actual"]],
        None if expected is None else [invocation(turn) for turn in expected],
        None if scenario is None else ConversationScenario.model_validate(scenario),
    )
    if inspect.isawaitable(returned):
        returned = await returned
    return {"result": told(returned)}


def found(path: str) -> Callable[..., Any]:
    """The function of this name."""
    module, _, name = path.rpartition(".")
    function = getattr(importlib.import_module(module), name)
    if not callable(function):
        raise TypeError(f"{path} is no function but a {type(function).__name__}")
    return function  # type: ignore[no-any-return] # callable, as seen


@functools.cache
def defined(source: str, name: str) -> Callable[..., Any]:
    """The `evaluate` that a metric's source defines; the source is run once a process."""
    namespace: Json = {"__name__": f"custom_metric_{name}"}
    exec(compile(source, f"<custom metric {name}>", "exec"), namespace)  # noqa: S102 - the user's own, in the agent's place
    evaluate = namespace.get("evaluate")
    if not callable(evaluate):
        raise TypeError("its source defines no function `evaluate(instance)`")
    return evaluate  # type: ignore[no-any-return] # callable, as seen


def explained(returned: Any) -> Json:
    """A score, with what the function says of it."""
    if isinstance(returned, dict) and "score" in returned:
        score, explanation = returned["score"], returned.get("explanation")
    else:
        score, explanation = returned, None
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise TypeError(
            f"it returned a {type(score).__name__}, and a number is wanted as the score"
        )
    return {"score": number(score), "explanation": explanation and str(explanation)}


def invocation(turn: Json) -> Any:
    """A turn of google-adk's; an older version than the one that ran the agent knows less."""
    from google.adk.evaluation.eval_case import Invocation, InvocationEvent

    known = {name: value for name, value in turn.items() if name in Invocation.model_fields}
    data = known.get("intermediate_data")
    if data and "invocation_events" in data:
        fields = InvocationEvent.model_fields
        events = [
            {name: value for name, value in event.items() if name in fields}
            for event in data["invocation_events"]
        ]
        known["intermediate_data"] = {"invocation_events": events}
    return Invocation.model_validate(known)


async def in_a_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call it where nothing else waits for it: one that hangs holds up nobody."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments)
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Any] = loop.create_future()

    def settle(set_it: Callable[[Any], None], value: Any) -> None:
        if not outcome.done():
            set_it(value)

    def work() -> None:
        try:
            value, set_it = function(*arguments), outcome.set_result
        except BaseException as error:  # noqa: BLE001 - whatever it raises is its own affair
            value, set_it = Failed(error), outcome.set_result
        loop.call_soon_threadsafe(settle, set_it, value)

    threading.Thread(target=work, daemon=True).start()
    returned = await outcome
    if isinstance(returned, Failed):
        raise returned.error
    return returned


class Failed:
    """What a function raised; a future cannot hold every kind of exception."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def told(result: Any) -> Json:
    """An EvaluationResult as JSON, if it is one."""
    status = getattr(result, "overall_eval_status", None)
    if status is None or not hasattr(result, "per_invocation_results"):
        raise TypeError(
            f"it returned a {type(result).__name__}, and google-adk wants an EvaluationResult"
        )
    return {
        "score": number(result.overall_score),
        "status": status.name.lower(),
        "invocations": [
            {
                "score": number(turn.score),
                "status": turn.eval_status.name.lower(),
                "rubrics": rubrics(turn.rubric_scores),
            }
            for turn in result.per_invocation_results
        ],
        "rubrics": rubrics(result.overall_rubric_scores),
    }


def number(value: Any) -> Any:
    """A score, or none."""
    if value is not None and not math.isfinite(value):
        raise ValueError(f"it returned the score {value}, which is no number to compare")
    return value


def rubrics(scores: Any) -> list[Json]:
    """Rubrics that the function scored."""
    return [
        {"rubric_id": one.rubric_id, "score": number(one.score), "rationale": one.rationale}
        for one in scores or ()
    ]


async def answer(request: Json, out: BinaryIO) -> None:
    """Answer one request; what a function raises is an answer as well."""
    try:
        said = await call(request)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the metric's own failure
        said = {"error": why(error)}
    out.write(json.dumps(plain({"session": request["session"], **said})).encode() + b"\n")
    out.flush()


async def work(requests: int, out: BinaryIO) -> None:
    """Answer until there are no more requests."""
    tasks = set()
    async for line in await lines_of(requests):
        task = asyncio.ensure_future(answer(json.loads(line), out))
        tasks.add(task)
        task.add_done_callback(tasks.discard)


def main() -> None:
    """Start; ends with the last request, whatever threads a metric left running."""
    requests, out = take_over()
    agent, *others = sys.argv[1:]
    place = Path(agent).absolute()
    read_dotenv(place)
    sys.path[:] = [*sys.path[1:], *others, str(place.parent), str(place)]
    run(in_a_loop(), work(requests, out))
    sys.stderr.flush()
    os._exit(0)
