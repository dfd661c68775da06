"""google-adk's own record of what an agent does: a script for its own environment.

    python service.py AGENTS NAME    with an eval set as JSON on standard input

writes `{eval_id: {"error": text or null, "invocations": [Invocation]}}`.
"""

import asyncio
import json
import logging
import sys
import warnings
from typing import Any

warnings.simplefilter("ignore")  # google-adk marks its whole evaluation as experimental

from google.adk.apps import App  # noqa: E402 - after the filter
from google.adk.cli.utils.agent_loader import AgentLoader  # noqa: E402
from google.adk.evaluation.base_eval_service import (  # noqa: E402
    InferenceConfig,
    InferenceRequest,
)
from google.adk.evaluation.eval_set import EvalSet  # noqa: E402
from google.adk.evaluation.in_memory_eval_sets_manager import (  # noqa: E402
    InMemoryEvalSetsManager,
)
from google.adk.evaluation.local_eval_service import LocalEvalService  # noqa: E402


async def recorded(agents: str, name: str, eval_set: EvalSet) -> dict[str, Any]:
    """Every case, the way that `adk eval` has its agent run."""
    loaded = AgentLoader(agents).load_agent(name)
    app = loaded if isinstance(loaded, App) else None
    manager = InMemoryEvalSetsManager()
    manager.create_eval_set(name, eval_set.eval_set_id)
    for case in eval_set.eval_cases:
        manager.add_eval_case(name, eval_set.eval_set_id, case)
    service = LocalEvalService(
        root_agent=app.root_agent if app else loaded, eval_sets_manager=manager, app=app
    )
    request = InferenceRequest(
        app_name=name,
        eval_set_id=eval_set.eval_set_id,
        inference_config=InferenceConfig(parallelism=1),
    )
    return {
        result.eval_case_id: {
            "error": result.error_message,
            "invocations": [
                turn.model_dump(mode="json", exclude_none=True, by_alias=False)
                for turn in result.inferences or ()
            ],
        }
        async for result in service.perform_inference(request)
    }


logging.disable(logging.CRITICAL)
asked = EvalSet.model_validate_json(sys.stdin.read())
print(json.dumps(asyncio.run(recorded(sys.argv[1], sys.argv[2], asked))))
