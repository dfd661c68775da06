"""What google-adk says: a script for its own environment, a JSON list a line in and out.

Reads `[{"criteria": {name: entry}, "case": EvalCase, "actual": [Invocation]}]` and writes,
in the same order, `[{"score", "status", "invocations": [{"score", "status"}]}]` for the one
criterion of each; an entry of None is for one that is always on. What google-adk refuses to
score is `not_evaluated`, as its own service has it, with the words it refused with. The line
`"names"` is answered with the names of all criteria and of those that are always on.
"""

import asyncio
import inspect
import json
import logging
import sys
import warnings
from typing import Any

warnings.simplefilter("ignore")  # google-adk marks its whole evaluation as experimental

from google.adk.evaluation.eval_case import EvalCase, Invocation  # noqa: E402 - after the filter
from google.adk.evaluation.eval_config import (  # noqa: E402
    EvalConfig,
    get_eval_metrics_from_config,
)
from google.adk.evaluation.metric_evaluator_registry import (  # noqa: E402
    DEFAULT_METRIC_EVALUATOR_REGISTRY,
)


async def evaluate(asked: dict[str, Any]) -> dict[str, Any]:
    """One case, scored the way `adk eval` would."""
    case = EvalCase.model_validate(asked["case"])
    actual = [Invocation.model_validate(turn) for turn in asked["actual"]]
    (name,) = asked["criteria"]
    entries = {each: entry for each, entry in asked["criteria"].items() if entry is not None}
    metrics = get_eval_metrics_from_config(EvalConfig.model_validate({"criteria": entries}))
    metric = next(metric for metric in metrics if metric.metric_name == name)
    evaluator = DEFAULT_METRIC_EVALUATOR_REGISTRY.get_evaluator(metric)
    try:
        result = evaluator.evaluate_invocations(
            actual, case.conversation, case.conversation_scenario
        )
        if inspect.isawaitable(result):
            result = await result
    except ValueError as refusal:
        return {"score": None, "status": "not_evaluated", "invocations": [], "why": str(refusal)}
    return {
        "score": result.overall_score,
        "status": result.overall_eval_status.name.lower(),
        "invocations": [
            {"score": turn.score, "status": turn.eval_status.name.lower()}
            for turn in result.per_invocation_results
        ],
        "breakdown": _breakdown(result),
    }


def _breakdown(result: Any) -> dict[str, Any]:
    """What an informational score is made of."""
    details = result.overall_token_usage_details or result.overall_duration_details
    return details.model_dump(mode="json", exclude_none=True) if details else {}


def names() -> list[list[str]]:
    """All that can be asked for, and what is reported without asking."""
    known = DEFAULT_METRIC_EVALUATOR_REGISTRY.get_registered_metrics()
    always = get_eval_metrics_from_config(EvalConfig())
    return [[metric.metric_name for metric in metrics] for metrics in (known, always)]


async def main() -> None:
    """Answer line by line until standard input ends: importing google-adk takes seconds."""
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        request = json.loads(line)
        answer = names() if request == "names" else [await evaluate(asked) for asked in request]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
