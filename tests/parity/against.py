"""One case put to google-adk and to us, and where the two disagree."""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gradegate.criteria import registry
from gradegate.model.evalset import EvalCase
from gradegate.model.question import Question, Votes
from gradegate.model.result import CriterionResult, InvocationResult
from gradegate.model.runs import Trace

ROOT = Path(__file__).parents[2]
INTERPRETER = ROOT / ".parity-venv" / "bin" / "python"
CLOSE = 1e-9

Json = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A criterion's name and options, a case, and what the agent did with it."""

    criterion: str
    options: Mapping[str, Any]
    """Without the threshold, which is set when the score is known."""
    case: Mapping[str, Any]
    actual: tuple[Mapping[str, Any], ...]
    threshold: float = 0.5
    kind: str = ""
    """What the case is an example of, for messages and counts."""

    @property
    def entry(self) -> float | Json:
        """The `EvalConfig` entry: the bare threshold where nothing else is said."""
        return {"threshold": self.threshold, **self.options} if self.options else self.threshold

    def as_json(self) -> Json:
        """What the reference script reads."""
        criteria = {self.criterion: self.entry}
        return {"criteria": criteria, "case": self.case, "actual": self.actual}

    def with_threshold(self, threshold: float) -> "Asked":
        """The same with another threshold."""
        return replace(self, threshold=threshold)


class GoogleAdk:
    """google-adk behind a pipe: each request is a line of JSON, and so is its answer."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def __call__(self, asked: Sequence[Asked]) -> list[Json]:
        """What it makes of each case, in the same order."""
        answers: list[Json] = self._put([each.as_json() for each in asked])
        assert len(answers) == len(asked)
        return answers

    def always_on(self, asked: Sequence[Asked]) -> list[Json]:
        """What it reports of each case without being asked for it."""
        answers: list[Json] = self._put(
            [{**each.as_json(), "criteria": {each.criterion: None}} for each in asked]
        )
        return answers

    def names(self) -> tuple[set[str], set[str]]:
        """The names of all its criteria, and of those that are always on."""
        known, always = self._put("names")
        return set(known), set(always)

    def _put(self, request: Any) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "google-adk's process ended: its last words are on standard error"
        return json.loads(line)


@contextmanager
def started_google_adk() -> Iterator[GoogleAdk]:
    """google-adk in a process and an environment of its own, until the block ends."""
    assert INTERPRETER.exists(), "google-adk is not installed: run `make test-parity`"
    command = [INTERPRETER, Path(__file__).with_name("reference.py")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8") as process:
        yield GoogleAdk(process)


async def ours(asked: Asked) -> CriterionResult:
    """What we make of it."""
    criterion = registry.parse(asked.criterion, asked.entry)
    case = EvalCase.model_validate(asked.case)
    trace = Trace.model_validate(
        {"eval_set": "parity", "eval_id": case.eval_id, "invocations": asked.actual}
    )
    return await criterion.score(case, trace, nobody)


async def nobody(question: Question[Any], samples: int) -> Votes[Any]:
    """The judge of criteria that need none."""
    raise AssertionError(f"asked for {samples} samples of {question.kind}")


def agrees(mine: CriterionResult, theirs: Json) -> bool:
    """Whether scores and statuses are the same, of the case and of each of its turns."""
    turns = theirs["invocations"]
    results: list[CriterionResult | InvocationResult] = [mine, *mine.invocations]
    pairs = zip(results, [theirs, *turns], strict=False)
    return len(mine.invocations) == len(turns) and all(
        one.status.value == other["status"] and _close(one.score, other["score"])
        for one, other in pairs
    )


def _close(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= CLOSE


async def differences(asked: Sequence[Asked], theirs: Sequence[Json]) -> list[str]:
    """Each disagreement, with all that is needed to try it again."""
    found = []
    for each, answer in zip(asked, theirs, strict=True):
        mine = await ours(each)
        if not agrees(mine, answer):
            case = json.dumps(each.as_json(), ensure_ascii=False)
            found.append(f"{each.kind}\n ours: {mine!r}\ntheirs: {answer}\n  case: {case}")
    return found
