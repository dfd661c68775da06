"""A run as metric functions of an `EvaluationDataset` see it: the `instance` they are called with.

The shape is that of the Agent Platform's SDK: the case as it is written, with the run's turns in
`agent_data` and its last answer as `response`.
"""

from collections.abc import Iterator
from typing import Any

from gradegate.model.evalset import Case, Content, DatasetCase, Invocation, RubricGroup
from gradegate.model.runs import Trace

AGENT = "agent"
"""Who speaks where a trace does not say."""


def instance_of(case: Case, trace: Trace) -> dict[str, Any]:
    """What a function gets to see of a run."""
    own = case.dataset or DatasetCase()
    expected = case.definition.conversation or ()
    reference = expected[-1].final_response if expected else None
    last = trace.invocations[-1] if trace.invocations else None
    given = {
        "prompt": _plain(last.user_content) if last else None,
        "response": _plain(last.final_response) if last else None,
        "reference": {"response": _plain(reference)} if reference else None,
        "rubric_groups": {name: _group(one) for name, one in own.rubric_groups.items()},
        "agent_data": {"agents": _agents(trace), "turns": list(_turns(own, trace))},
    }
    there = {name: value for name, value in given.items() if value}
    return {**own.fields, "eval_case_id": case.eval_id, **there}


def _turns(own: DatasetCase, trace: Trace) -> Iterator[dict[str, Any]]:
    """The history leads into the turn that it was the beginning of."""
    before = [
        {"author": event.author, "content": _plain(event.content)}
        for event in own.history
        if event.content
    ]
    for index, turn in enumerate(trace.invocations):
        asked = {"author": "user", "content": _plain(turn.user_content)}
        yield {"turn_index": index, "events": [*before, asked, *_events(turn)]}
        before = []


def _events(turn: Invocation) -> Iterator[dict[str, Any]]:
    data = turn.intermediate_data
    if data and data.invocation_events is not None:
        for event in data.invocation_events:
            if event.content:
                yield {"author": event.author, "content": _plain(event.content)}
    elif data:
        for call in data.tool_uses:
            part = {"function_call": call.model_dump(mode="json", exclude_none=True)}
            yield {"author": AGENT, "content": {"role": "model", "parts": [part]}}
        for response in data.tool_responses:
            part = {"function_response": response.model_dump(mode="json", exclude_none=True)}
            yield {"author": AGENT, "content": {"role": "user", "parts": [part]}}
    if turn.final_response:
        yield {"author": AGENT, "content": _plain(turn.final_response)}


def _agents(trace: Trace) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for turn in trace.invocations:
        for name, agent in (turn.app_details.agent_details if turn.app_details else {}).items():
            tools = [{"function_declarations": list(agent.tool_declarations)}]
            found[name] = {
                "agent_id": name,
                "instruction": agent.instructions,
                "tools": tools if agent.tool_declarations else [],
            }
    return found


def _group(group: RubricGroup) -> dict[str, Any]:
    return {
        "rubrics": [
            {
                "rubric_id": one.rubric_id,
                "content": {"property": {"description": one.rubric_content.text_property}},
            }
            for one in group.rubrics
        ]
    }


def _plain(content: Content | None) -> dict[str, Any] | None:
    return content.model_dump(mode="json", exclude_none=True) if content else None
