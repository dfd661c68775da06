"""ADK's eval sets and invocations, as far as criteria read them, and a case in its place."""

from typing import Any, NamedTuple, Self

from pydantic import ConfigDict, Field, model_validator

from gradegate.model.base import AdkValue, Value
from gradegate.model.simulation import Persona, SimulatorConfig


class FunctionCall(AdkValue):
    """One call of a tool. `args` may be None, which differs from `{}`."""

    id: str | None = None
    name: str | None = None
    args: dict[str, Any] | None = None


class FunctionResponse(AdkValue):
    """What a tool answered."""

    id: str | None = None
    name: str | None = None
    response: dict[str, Any] | None = None


class Part(AdkValue):
    """One part of a content; kinds that no criterion reads are carried along unread."""

    model_config = ConfigDict(extra="allow")

    text: str | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None


class Content(AdkValue):
    """What someone said, in parts."""

    role: str | None = None
    parts: tuple[Part, ...] | None = None

    @property
    def text(self) -> str:
        """The parts' texts, empty ones dropped, joined by a newline."""
        return "\n".join(part.text for part in self.parts or () if part.text)


class InvocationEvent(AdkValue):
    """One event on the way to the final response."""

    author: str
    content: Content | None = None
    grounding_metadata: dict[str, Any] | None = None
    usage_metadata: dict[str, Any] | None = None
    model_version: str | None = None


class IntermediateData(AdkValue):
    """What happened before the final response, in either of ADK's two shapes."""

    tool_uses: tuple[FunctionCall, ...] = ()
    tool_responses: tuple[FunctionResponse, ...] = ()
    intermediate_responses: tuple[tuple[str, tuple[Part, ...]], ...] = ()
    invocation_events: tuple[InvocationEvent, ...] | None = None

    def event_parts(self) -> tuple[Part, ...]:
        """All parts of all events, in order; none where the other shape is used."""
        events = self.invocation_events or ()
        return tuple(p for e in events if e.content for p in e.content.parts or ())


class RubricContent(AdkValue):
    """The property a rubric asks about."""

    text_property: str | None = None


class Rubric(AdkValue):
    """One yes/no question put to a judge."""

    rubric_id: str
    rubric_content: RubricContent
    description: str | None = None
    type: str | None = None

    @property
    def text(self) -> str:
        """What it asks."""
        return self.rubric_content.text_property or self.description or ""


class AgentDetails(AdkValue):
    """One agent of an app: its instructions and the tools it was given."""

    name: str
    instructions: str = ""
    tool_declarations: tuple[Any, ...] = ()


class AppDetails(AdkValue):
    """The agents of an app by name."""

    agent_details: dict[str, AgentDetails] = Field(default_factory=dict)


class Invocation(AdkValue):
    """One user turn and all that came of it, expected or actual."""

    invocation_id: str = ""
    user_content: Content
    final_response: Content | None = None
    intermediate_data: IntermediateData | None = None
    creation_timestamp: float = 0.0
    duration: float | None = None
    model_duration: float | None = None
    tool_duration: float | None = None
    rubrics: tuple[Rubric, ...] | None = None
    app_details: AppDetails | None = None

    @property
    def response_text(self) -> str:
        """The final response as text; empty where there is none."""
        return self.final_response.text if self.final_response else ""

    @property
    def tool_calls(self) -> tuple[FunctionCall, ...]:
        """Tool calls in order, from whichever shape the intermediate data has."""
        data = self.intermediate_data
        if data is None:
            return ()
        if data.invocation_events is None:
            return data.tool_uses
        return tuple(p.function_call for p in data.event_parts() if p.function_call)

    @property
    def tool_responses(self) -> tuple[FunctionResponse, ...]:
        """Tool responses in order, from whichever shape the intermediate data has."""
        data = self.intermediate_data
        if data is None:
            return ()
        if data.invocation_events is None:
            return data.tool_responses
        return tuple(p.function_response for p in data.event_parts() if p.function_response)


class ConversationScenario(AdkValue):
    """A conversation whose user turns a model writes as it goes."""

    starting_prompt: str
    conversation_plan: str
    user_persona: Persona | None = None


class SessionInput(AdkValue):
    """What a session starts with."""

    model_config = ConfigDict(extra="allow")

    app_name: str = ""
    user_id: str = ""
    session_id: str | None = None
    state: dict[str, Any] = Field(default_factory=dict)


class EvalCase(AdkValue):
    """One conversation to evaluate: static, or simulated from a scenario."""

    eval_id: str
    conversation: tuple[Invocation, ...] | None = None
    conversation_scenario: ConversationScenario | None = None
    session_input: SessionInput | None = None
    rubrics: tuple[Rubric, ...] | None = None

    @model_validator(mode="after")
    def _one_kind_of_conversation(self) -> Self:
        if (self.conversation is None) == (self.conversation_scenario is None):
            message = "needs exactly one of `conversation` and `conversation_scenario`"
            raise ValueError(message)
        return self

    @property
    def turns(self) -> tuple[Invocation, ...]:
        """The turns as they are written; none where a model plays the user."""
        return self.conversation or ()

    @property
    def is_simulated(self) -> bool:
        """Whether a model plays the user."""
        return self.conversation_scenario is not None


class EvalConfig(AdkValue):
    """Which criteria apply to an eval set: name → threshold or options, as written."""

    criteria: dict[str, float | dict[str, Any]] = Field(default_factory=dict)
    custom_metrics: dict[str, dict[str, Any]] = Field(default_factory=dict)
    user_simulator_config: SimulatorConfig | None = None


DEFAULT_EVAL_CONFIG = EvalConfig(
    criteria={"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}
)


class HistoryEvent(AdkValue):
    """Something said before the first turn, put into the agent's session and not evaluated."""

    author: str
    content: Content | None = None
    state_delta: dict[str, Any] = Field(default_factory=dict)


class RubricGroup(AdkValue):
    """Rubrics of a case under a name."""

    rubrics: tuple[Rubric, ...] = ()


class DatasetCase(Value):
    """What a case of an `EvaluationDataset` says that ADK's eval case has no room for."""

    history: tuple[HistoryEvent, ...] = ()
    rubric_groups: dict[str, RubricGroup] = Field(default_factory=dict)
    fields: dict[str, Any] = Field(default_factory=dict)
    """`context` and fields of the user's own, for the user's own metrics."""


class CaseKey(NamedTuple):
    """What identifies a case on one side. Sorts by suite, then path, then id."""

    suite: str
    eval_set: str
    eval_id: str


class Case(Value):
    """A loaded eval case: its definition, its eval set's config, and where to point at."""

    suite: str
    eval_set: str
    """The file's path relative to the repository, with forward slashes."""
    eval_set_id: str
    eval_id: str
    line: int
    """Where the case begins in its file, for annotations."""
    definition: EvalCase
    config: EvalConfig
    config_file: str | None = None
    """Where the config is written; None: nowhere, the default applies."""
    digest: str
    """Of the definition and of nothing else: equal digests, equal case."""
    dataset: DatasetCase | None = None
    """Set where the case comes from an `EvaluationDataset`."""
    ignore_args: tuple[str, ...] = ()
    """Arguments of tools that differ from run to run: the suite's word."""
    recording: str = ""
    """Digest of what is recorded of its tools beside the set, on its own side."""

    @property
    def key(self) -> CaseKey:
        """The case's identity."""
        return CaseKey(self.suite, self.eval_set, self.eval_id)
