"""What the worker is told of a case's tools: answer their calls, or take their answers down."""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from gradegate.files.tool_recordings import ToolRecording, read_recording, recorded
from gradegate.model.evalset import Case
from gradegate.model.runs import ToolAnswer
from gradegate.model.settings import Suite


class ToolAnswers:
    """How the calls of a suite's tools are answered on one side, which plays its own recordings."""

    def __init__(self, suite: Suite, root: Path) -> None:
        self._suite = suite
        self._recording = cache(lambda eval_set: read_recording(root, eval_set))

    def told(self, case: Case) -> dict[str, Any]:
        """What a session is opened with beside the case.

        Raises:
            FileError: the recording is wrong.
        """
        if self._suite.tools == "live":
            return {}
        if self._suite.tools == "record":
            return {"tools": {"mode": "record"}}
        recording: ToolRecording = self._recording(case.eval_set)
        kept = recording.cases.get(case.eval_id, ())
        return {
            "tools": {
                "mode": "recorded",
                "missing": self._suite.tools_missing,
                "ignore_args": self._suite.ignore_args,
                "answers": [*_from("case", recorded(case)), *_from("recording", kept)],
                "toolsets": recording.toolsets,
            }
        }


def _from(source: str, answers: Iterable[ToolAnswer]) -> Iterator[dict[str, Any]]:
    for one in answers:
        yield one.model_dump(mode="json", exclude_defaults=True) | {"source": source}
