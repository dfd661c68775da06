"""google-adk's own evaluation of recorded turns: a script for its own environment.

Reads one JSON object from standard input, `{"criteria": …, "cases": [{"case", "actual"}]}`,
and writes `{"seconds": s, "cases": [{criterion: {"score", "status", "invocations": [score]}}]}`.
Everything but running an agent goes the way that `adk eval` goes, with its defaults.
"""

import asyncio
import functools
import json
import logging
import os
import sys
import time
import warnings
from typing import Any

warnings.simplefilter("ignore")  # google-adk marks its whole evaluation as experimental

from google.adk.agents import Agent  # noqa: E402 - after the filter
from google.adk.evaluation.base_eval_service import (  # noqa: E402
    EvaluateConfig,
    EvaluateRequest,
    InferenceResult,
    InferenceStatus,
)
from google.adk.evaluation.eval_case import EvalCase, Invocation  # noqa: E402
from google.adk.evaluation.eval_config import (  # noqa: E402
    EvalConfig,
    get_eval_metrics_from_config,
)
from google.adk.evaluation.in_memory_eval_sets_manager import (  # noqa: E402
    InMemoryEvalSetsManager,
)
from google.adk.evaluation.local_eval_service import LocalEvalService  # noqa: E402

VERTEX = os.environ.get("STAND_IN_FOR_VERTEX")
APP, EVAL_SET = "app", "set"


def point_at(url: str) -> None:
    """Give Vertex's client another address: google-adk itself has no setting for it."""
    from google.adk.evaluation import vertex_ai_eval_facade as facade

    client = facade.agentplatform.Client
    facade.agentplatform.Client = functools.partial(client, http_options={"base_url": url})


async def evaluated(asked: dict[str, Any]) -> dict[str, Any]:
    """All cases, in the order given, and the seconds it took to score them."""
    manager = InMemoryEvalSetsManager()
    manager.create_eval_set(APP, EVAL_SET)
    for each in asked["cases"]:
        manager.add_eval_case(APP, EVAL_SET, EvalCase.model_validate(each["case"]))
    config = EvalConfig.model_validate({"criteria": asked["criteria"]})
    wanted = [m for m in get_eval_metrics_from_config(config) if m.metric_name in asked["criteria"]]
    request = EvaluateRequest(
        inference_results=[_inference(each) for each in asked["cases"]],
        evaluate_config=EvaluateConfig(eval_metrics=wanted),
    )
    service = LocalEvalService(root_agent=Agent(name="root"), eval_sets_manager=manager)
    began = time.perf_counter()
    found = {result.eval_id: _result(result) async for result in service.evaluate(request)}
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "cases": [found[e["case"]["eval_id"]] for e in asked["cases"]]}


def _inference(each: dict[str, Any]) -> InferenceResult:
    return InferenceResult(
        app_name=APP,
        eval_set_id=EVAL_SET,
        eval_case_id=each["case"]["eval_id"],
        inferences=[Invocation.model_validate(turn) for turn in each["actual"]],
        session_id="session",
        status=InferenceStatus.SUCCESS,
    )


def _result(result: Any) -> dict[str, Any]:
    turns = result.eval_metric_result_per_invocation
    return {
        metric.metric_name: {
            "score": metric.score,
            "status": metric.eval_status.name.lower(),
            "invocations": [
                turn_metric.score
                for turn in turns
                for turn_metric in turn.eval_metric_results
                if turn_metric.metric_name == metric.metric_name
            ],
        }
        for metric in result.overall_eval_metric_results
    }


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    if VERTEX:
        point_at(VERTEX)
    print(json.dumps(asyncio.run(evaluated(json.load(sys.stdin)))))
