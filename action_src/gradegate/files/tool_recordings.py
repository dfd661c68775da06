"""What tools answered when they were recorded: a `*.tools.json` beside each eval set."""

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from gradegate.files.findings import Finding, refuse_errors
from gradegate.files.json_document import parse, text_within
from gradegate.files.schema_errors import schema_findings
from gradegate.model.evalset import Case, FunctionCall, FunctionResponse
from gradegate.model.runs import Trace
from gradegate.model.tool_recording import ToolAnswer, ToolRecording

ENDING = ".tools.json"
_SET_ENDINGS = (".evalset.json", ".test.json", ".json")


def recording_path(eval_set: str) -> str:
    """Where the recording for an eval set is."""
    path = PurePosixPath(eval_set)
    ending = next((one for one in _SET_ENDINGS if path.name.endswith(one)), "")
    return path.with_name(path.name.removesuffix(ending) + ENDING).as_posix()


def read_recording(root: Path, eval_set: str) -> ToolRecording:
    """The recording for an eval set; an empty one where there is none.

    Raises:
        FileError: it is wrong, or leads outside.
    """
    name = recording_path(eval_set)
    if not (root / name).is_file():
        return ToolRecording()
    findings, found = examine_recording(name, text_within(root, name))
    refuse_errors(findings)
    return found or ToolRecording()


def examine_recording(name: str, text: str) -> tuple[tuple[Finding, ...], ToolRecording | None]:
    """Everything that is wrong with one, or what it says."""
    document = parse(name, text)
    try:
        return (), ToolRecording.model_validate(document.value)
    except ValidationError as error:
        return tuple(schema_findings(document, error)), None


def recorded(case: Case) -> list[ToolAnswer]:
    """The answers that a case's own turns have, each with the call it belongs to."""
    found: list[ToolAnswer] = []
    for turn in case.definition.turns:
        calls = list(turn.tool_calls)
        for answer in turn.tool_responses:
            call = next((one for one in calls if _belongs(answer, one)), None)
            if call is not None and call.name:
                calls.remove(call)
                args, said = call.args or {}, answer.response
                found.append(ToolAnswer(name=call.name, args=args, source="case", response=said))
    return found


def _belongs(answer: FunctionResponse, call: FunctionCall) -> bool:
    """By id where both have one, else by name and in order."""
    if answer.id and call.id:
        return answer.id == call.id
    return answer.name == call.name


def made_of(traces: Iterable[Trace]) -> Mapping[str, ToolRecording]:
    """The recordings of runs, by eval set; of several runs of a case the first."""
    cases: dict[str, dict[str, tuple[ToolAnswer, ...]]] = {}
    toolsets: dict[str, dict[str, tuple[dict[str, Any], ...]]] = {}
    for trace in sorted(traces, key=lambda one: (one.key, one.run)):
        of_set = cases.setdefault(trace.eval_set, {})
        if trace.tools:
            of_set.setdefault(trace.eval_id, trace.tools)
        toolsets.setdefault(trace.eval_set, {}).update(trace.toolsets)
    return {
        name: ToolRecording(toolsets=toolsets[name], cases=found) for name, found in cases.items()
    }
