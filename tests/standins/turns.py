"""Short ways to write down turns, cases and traces as ADK's JSON has them."""

from typing import Any

from gradegate.model.evalset import Case, DatasetCase, EvalCase, EvalConfig
from gradegate.model.runs import Trace

Json = dict[str, Any]


def content(*texts: str) -> Json:
    """A content of text parts."""
    return {"parts": [{"text": text} for text in texts]}


def call(name: str, call_id: str | None = None, **args: Any) -> Json:
    """A part that calls a tool."""
    return {"function_call": {"id": call_id, "name": name, "args": args}}


def response(name: str, call_id: str | None = None, **said: Any) -> Json:
    """A part with what a tool answered."""
    return {"function_response": {"id": call_id, "name": name, "response": said}}


def event(*parts: Json, author: str = "root", **fields: Any) -> Json:
    """An event of these parts."""
    return {"author": author, "content": {"parts": list(parts)}, **fields}


def turn(answer: str | None, *events: Json, prompt: str = "What now?", **fields: Any) -> Json:
    """A turn with its final response and the events before it."""
    made: Json = {"user_content": content(prompt), **fields}
    if answer is not None:
        made["final_response"] = content(answer)
    if events:
        made["intermediate_data"] = {"invocation_events": list(events)}
    return made


def rubric(rubric_id: str, asks: str = "", kind: str | None = None) -> Json:
    """A rubric, of a type where it is a case's or a turn's."""
    text = asks or f"The answer is {rubric_id}."
    made: Json = {"rubric_id": rubric_id, "rubric_content": {"text_property": text}}
    return made | ({"type": kind} if kind else {})


def case_of(*turns: Json, **fields: Any) -> EvalCase:
    """A case that expects these turns."""
    return EvalCase.model_validate({"eval_id": "case", "conversation": turns, **fields})


def placed(definition: EvalCase, dataset: DatasetCase | None = None) -> Case:
    """The case in an eval set, with what an EvaluationDataset says of it."""
    return Case(
        suite="suite",
        eval_set="set",
        eval_set_id="set",
        eval_id=definition.eval_id,
        line=1,
        definition=definition,
        config=EvalConfig(),
        digest=definition.eval_id,
        dataset=dataset,
    )


def trace_of(*turns: Json) -> Trace:
    """A run that went like this."""
    return Trace.model_validate({"eval_set": "set", "eval_id": "case", "invocations": turns})
