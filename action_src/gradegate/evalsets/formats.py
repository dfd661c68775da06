"""The three shapes an eval set file may have, read into one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath
from typing import Any, TypeVar

from pydantic import Field, ValidationError

from gradegate.evalsets import keys
from gradegate.files.findings import Finding
from gradegate.files.json_document import Document, Key
from gradegate.files.schema_errors import schema_findings
from gradegate.model.base import AdkValue
from gradegate.model.evalset import (
    Content,
    DatasetCase,
    EvalCase,
    FunctionCall,
    IntermediateData,
    Invocation,
    Part,
    SessionInput,
)
from gradegate.model.notice import notice

T = TypeVar("T", bound=AdkValue)

EVAL_SET_ENDINGS = (".evalset.json", ".test.json")
DATASET_ENDING = "-dataset.json"
_DATASETS = "datasets"


def is_eval_set_name(file: PurePath) -> bool:
    """Whether a file that nobody named is an eval set; other datasets have the ending as well."""
    if file.name.endswith(DATASET_ENDING):
        return file.parent.name == _DATASETS
    return file.name.endswith(EVAL_SET_ENDINGS)


class _ToolUse(AdkValue):
    tool_name: str
    tool_input: dict[str, Any] | None = None


class _Said(AdkValue):
    author: str
    text: str


class _Turn(AdkValue):
    query: str
    reference: str | None = None
    expected_tool_use: tuple[_ToolUse, ...] | None = None
    expected_intermediate_agent_responses: tuple[_Said, ...] | None = None


class _Session(AdkValue):
    app_name: str = ""
    user_id: str = ""
    state: dict[str, Any] = Field(default_factory=dict)


class _Entry(AdkValue):
    name: str
    data: tuple[_Turn, ...]
    initial_session: _Session | None = None


class _Flat(AdkValue):
    turns: tuple[_Turn, ...]


class _Head(AdkValue):
    eval_set_id: str
    eval_cases: list[Any]


@dataclass(frozen=True)
class PlacedCase:
    """A case and where in its file it is written."""

    definition: EvalCase
    path: tuple[Key, ...]
    line: int
    dataset: DatasetCase | None = None


@dataclass(frozen=True)
class EvalSetFile:
    """What a file holds: the cases that could be read, and what is wrong with the rest."""

    document: Document
    eval_set_id: str
    cases: tuple[PlacedCase, ...]
    findings: tuple[Finding, ...]

    @property
    def stem(self) -> str:
        """The file's name without its ending."""
        return stem_of(PurePosixPath(self.document.path).name)


def read_eval_set(document: Document, session: Document | None = None) -> EvalSetFile:
    """Read a file of any of the three shapes; `session` is a flat list's initial one."""
    file_name = PurePosixPath(document.path).name
    value = document.value
    set_id = stem_of(file_name)
    reader = _Reader(document)
    if isinstance(value, dict):
        set_id = reader.eval_set(value) or set_id
    elif isinstance(value, list) and _is_flat(value):
        reader.flat(file_name, session)
    elif isinstance(value, list):
        reader.legacy(value)
    else:
        reader.remark("an eval set is an object with `eval_set_id` and `eval_cases`, or a list")
    findings = (*reader.findings, *oddities(document, reader.cases, reader.findings))
    return EvalSetFile(document, set_id, tuple(reader.cases), findings)


def oddities(
    document: Document, cases: Sequence[PlacedCase], known: Iterable[Finding]
) -> Iterator[Finding]:
    """Equal ids are an error, since cases pair by them; emptiness is only odd."""
    first: dict[str, int] = {}
    for case in cases:
        eval_id = case.definition.eval_id
        if eval_id in first:
            message = f"the id `{eval_id}` is taken by the case in line {first[eval_id]}"
            yield document.finding(f"{message}: give each case its own", *case.path)
        first.setdefault(eval_id, case.line)
        if case.definition.conversation == ():
            told = notice("evals.no_turns", case=eval_id)
            yield document.finding(told, *case.path, level="warning")
    if not cases and not any(finding.level == "error" for finding in known):
        yield document.finding(notice("evals.no_cases"), level="warning")


class _Reader:
    """Goes through one file, keeping what it can read and noting what it cannot."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.cases: list[PlacedCase] = []
        self.findings: list[Finding] = list(document.warnings)
        self._keys = keys.KeyReader(document)

    def remark(self, message: str, *path: Key) -> None:
        self.findings.append(self.document.finding(message, *path))

    def unknown(self, value: Any, known: frozenset[str], *path: Key) -> None:
        self.findings.extend(self._keys.unknown(value, known, *path))

    def eval_set(self, value: dict[str, Any]) -> str | None:
        self.unknown(value, keys.EVAL_SET)
        head = self._tried(_Head, value)
        if head is None:
            return None
        (key,) = self.document.resolve(["eval_cases"])
        for index, raw in enumerate(head.eval_cases):
            path = (key, index)
            self.unknown(raw, keys.CASE, *path)
            self._keep(self._tried(EvalCase, raw, *path), *path)
        return head.eval_set_id

    def legacy(self, entries: list[Any]) -> None:
        for index, raw in enumerate(entries):
            self.unknown(raw, keys.OLD_CASE, index)
            entry = self._tried(_Entry, raw, index)
            self._keep(_case_of(entry) if entry else None, index)

    def flat(self, file_name: str, session: Document | None) -> None:
        for index, raw in enumerate(self.document.value):
            self.unknown(raw, keys.OLD_TURN, index)
        turns = self._tried(_Flat, {"turns": self.document.value})
        start = self._session(session) if session else None
        if turns:
            self._keep(_case_of(_Entry(name=file_name, data=turns.turns, initial_session=start)))

    def _session(self, session: Document) -> _Session | None:
        try:
            return _Session.model_validate(session.value)
        except ValidationError as error:
            self.findings.extend(schema_findings(session, error))
            return None

    def _keep(self, definition: EvalCase | None, *path: Key) -> None:
        if definition is not None:
            line, _ = self.document.position(*path)
            self.cases.append(PlacedCase(definition, path, line))

    def _tried(self, model: type[T], raw: Any, *prefix: Key) -> T | None:
        try:
            return model.model_validate(raw)
        except ValidationError as error:
            self.findings.extend(schema_findings(self.document, error, *prefix))
            return None


def _is_flat(entries: list[Any]) -> bool:
    return bool(entries) and all(isinstance(e, dict) and "data" not in e for e in entries)


def _case_of(entry: _Entry) -> EvalCase:
    session = entry.initial_session
    given = session is not None and session.model_fields_set
    return EvalCase(
        eval_id=entry.name,
        conversation=tuple(_invocation(n, turn) for n, turn in enumerate(entry.data, start=1)),
        session_input=SessionInput.model_validate(session.model_dump())
        if session and given
        else None,
    )


def _invocation(number: int, turn: _Turn) -> Invocation:
    """A turn of the older shapes. What is left out altogether differs from what is empty."""
    return Invocation(
        invocation_id=f"turn-{number}",
        user_content=_content("user", turn.query),
        final_response=None if turn.reference is None else _content("model", turn.reference),
        intermediate_data=_steps(turn),
    )


def _steps(turn: _Turn) -> IntermediateData | None:
    """What is expected before the answer; None where nothing is said of it."""
    calls, said = turn.expected_tool_use, turn.expected_intermediate_agent_responses
    if calls is None and said is None:
        return None
    return IntermediateData(
        tool_uses=tuple(FunctionCall(name=u.tool_name, args=u.tool_input) for u in calls or ()),
        intermediate_responses=tuple((s.author, (Part(text=s.text),)) for s in said or ()),
    )


def _content(role: str, text: str) -> Content:
    return Content(role=role, parts=(Part(text=text),))


def stem_of(file_name: str) -> str:
    """The file's name without what every eval set's ends in."""
    for ending in (*EVAL_SET_ENDINGS, DATASET_ENDING, ".json"):
        if file_name.endswith(ending):
            return file_name.removesuffix(ending)
    return file_name
