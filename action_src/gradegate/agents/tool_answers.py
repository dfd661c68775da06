"""What the worker is told of a case's tools: answer their calls, or take their answers down."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gradegate.files.tool_recordings import recorded
from gradegate.model.evalset import Case
from gradegate.model.settings import Suite
from gradegate.model.tool_recording import ToolAnswer, ToolRecording


def told_of_tools(
    suite: Suite, recordings: Mapping[str, ToolRecording], case: Case
) -> dict[str, Any]:
    """What a session is opened with beside the case, given the recordings of its side."""
    if suite.tools == "live":
        return {}
    if suite.tools == "record":
        return {"tools": {"mode": "record"}}
    recording = recordings.get(case.eval_set, ToolRecording())
    kept = recording.cases.get(case.eval_id, ())
    return {
        "tools": {
            "mode": "recorded",
            "missing": suite.tools_missing,
            "ignore_args": suite.ignore_args,
            "answers": [*_from("case", recorded(case)), *_from("recording", kept)],
            "toolsets": recording.toolsets,
        }
    }


def _from(source: str, answers: Iterable[ToolAnswer]) -> Iterator[dict[str, Any]]:
    for one in answers:
        yield one.model_dump(mode="json", exclude_defaults=True) | {"source": source}
