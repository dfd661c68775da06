"""Cases of an `EvaluationDataset`, the format of google-agents-cli and the Agent Platform.

A case asks one thing: its `prompt`, or the user's last words in `agent_data.turns`. What was said
before those is history: it is put into the agent's session and not evaluated.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_snake

from gradegate.evalsets.formats import EvalSetFile, PlacedCase, oddities, stem_of
from gradegate.files.findings import Finding
from gradegate.files.json_document import Document, Key
from gradegate.files.schema_errors import schema_findings
from gradegate.model.base import AdkValue
from gradegate.model.evalset import (
    Content,
    ConversationScenario,
    DatasetCase,
    EvalCase,
    HistoryEvent,
    Invocation,
    Rubric,
    RubricContent,
    RubricGroup,
    SessionInput,
)
from gradegate.model.notice import notice

CASES = "eval_cases"
USER = "user"


class _Candidate(AdkValue):
    response: Content | None = None


class _Property(AdkValue):
    description: str


class _RubricContent(AdkValue):
    property: _Property


class _Rubric(AdkValue):
    rubric_id: str
    content: _RubricContent
    type: str | None = None


class _Group(AdkValue):
    rubrics: tuple[_Rubric, ...] = ()


class _Turn(AdkValue):
    events: tuple[HistoryEvent, ...] = ()


class _AgentData(AdkValue):
    turns: tuple[_Turn, ...] = ()


class _Message(AdkValue):
    author: str | None = None
    content: Content | None = None


class _UserScenario(AdkValue):
    starting_prompt: str
    conversation_plan: str


class _Case(AdkValue):
    model_config = ConfigDict(extra="allow")

    eval_case_id: str | None = None
    prompt: Content | None = None
    reference: _Candidate | None = None
    conversation_history: tuple[_Message, ...] = ()
    agent_data: _AgentData | None = None
    user_scenario: _UserScenario | None = None
    rubric_groups: dict[str, _Group] = Field(default_factory=dict)
    session_inputs: SessionInput | None = None
    session_input: SessionInput | None = None


_ANSWERS = ("responses", "intermediate_events", "agent_info")
"""What an agent once did: it is run anew."""
_NOT_SUPPORTED = ("system_instruction", "interactions_data_source")
"""What would change what is run."""
_SOURCES = ("bigquery_source", "gcs_source", "eval_dataset_df")


def is_dataset(value: Any) -> bool:
    """Whether a file's value is an EvaluationDataset and no eval set of ADK's."""
    if not isinstance(value, dict) or {"eval_set_id", "evalSetId"} & value.keys():
        return False
    cases = value.get(CASES, value.get("evalCases"))
    marks = {"prompt", "agent_data", "eval_case_id", "user_scenario"}
    if isinstance(cases, list):
        return any(isinstance(case, dict) and marks & set(map(to_snake, case)) for case in cases)
    return bool(set(_SOURCES) & set(map(to_snake, value)))


def read_dataset(document: Document) -> EvalSetFile:
    """Every case that can be read, and what is wrong with the others."""
    name = document.path.rpartition("/")[2]
    cases: list[PlacedCase] = []
    findings = [*document.warnings, *_sources(document)]
    found = document.resolve((CASES,))
    raw_cases = document.value.get(found[0]) if found else None
    for index, raw in enumerate(raw_cases if isinstance(raw_cases, list) else ()):
        path = (*found, index)
        placed = _case(document, raw, index, path)
        if isinstance(placed, PlacedCase):
            cases.append(placed)
            findings += _unused(document, raw, path)
        else:
            findings += placed
    findings += oddities(document, cases, findings)
    return EvalSetFile(document, stem_of(name), tuple(cases), tuple(findings))


def _case(
    document: Document, raw: Any, index: int, path: tuple[Key, ...]
) -> PlacedCase | list[Finding]:
    try:
        case = _Case.model_validate(raw)
    except ValidationError as error:
        return list(schema_findings(document, error, *path))
    asked = _asked(case)
    if isinstance(asked, str):
        return [document.finding(asked, *path)]
    history, message = asked
    definition = _definition(case, case.eval_case_id or f"case-{index + 1}", message)
    line, _ = document.position(*path)
    own = {to_snake(key): value for key, value in (case.model_extra or {}).items()}
    own = {key: value for key, value in own.items() if key not in (*_ANSWERS, *_NOT_SUPPORTED)}
    dataset = DatasetCase(history=history, rubric_groups=dict(_groups(case)), fields=own)
    return PlacedCase(definition, path, line, dataset)


def _asked(case: _Case) -> tuple[tuple[HistoryEvent, ...], Content | None] | str:
    """What was said before, and the message to answer; None where a model plays the user."""
    turns = case.agent_data.turns if case.agent_data else ()
    events = tuple(event for turn in turns for event in turn.events)
    if case.user_scenario:
        both = case.prompt or events
        return "has a `user_scenario` besides what is asked: keep one" if both else ((), None)
    if case.prompt and events:
        return "has both `prompt` and `agent_data.turns`: keep one of them"
    if case.prompt:
        return tuple(_messages(case)), case.prompt
    if not events:
        return "asks nothing: write `prompt`, or `agent_data.turns` that end with the user's words"
    *before, last = events
    if last.author != USER or last.content is None:
        return (
            "ends with the agent's words: end `agent_data.turns` with the message of the user "
            "that the agent is to answer"
        )
    if last.state_delta:
        before.append(last.model_copy(update={"content": None}))
    return tuple(before), last.content


def _messages(case: _Case) -> Iterator[HistoryEvent]:
    for message in case.conversation_history:
        role = message.content.role if message.content else None
        author = message.author or (USER if role in (None, USER) else "agent")
        yield HistoryEvent(author=author, content=message.content)


def _definition(case: _Case, eval_id: str, message: Content | None) -> EvalCase:
    session = case.session_inputs or case.session_input
    if message is None:
        assert case.user_scenario  # noqa: S101 - nothing is asked only of such a case
        scenario = ConversationScenario.model_validate(case.user_scenario.model_dump())
        return EvalCase(eval_id=eval_id, conversation_scenario=scenario, session_input=session)
    expected = case.reference.response if case.reference else None
    turn = Invocation(invocation_id="turn-1", user_content=message, final_response=expected)
    return EvalCase(eval_id=eval_id, conversation=(turn,), session_input=session)


def _groups(case: _Case) -> Iterator[tuple[str, RubricGroup]]:
    for name, group in case.rubric_groups.items():
        rubrics = tuple(
            Rubric(
                rubric_id=one.rubric_id,
                rubric_content=RubricContent(text_property=one.content.property.description),
                type=one.type,
            )
            for one in group.rubrics
        )
        yield name, RubricGroup(rubrics=rubrics)


def _sources(document: Document) -> Iterator[Finding]:
    for source in _SOURCES:
        if path := document.resolve((source,)):
            message = f"`{path[0]}` is not supported: write the cases into `eval_cases`"
            yield document.finding(message, *path)


def _unused(document: Document, raw: dict[str, Any], path: tuple[Key, ...]) -> Iterator[Finding]:
    for key in raw:
        name = to_snake(key)
        if name in _NOT_SUPPORTED:
            message = f"`{key}` is not supported: it would change what is run; take it out"
            yield document.finding(message, *path, key)
        elif name in _ANSWERS:
            told = notice("dataset.not_used", field=key)
            yield document.finding(told, *path, key, level="warning")
