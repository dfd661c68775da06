"""How a user is simulated: `user_simulator_config` of an EvalConfig, and personas."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from gradegate.model.base import AdkValue

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

STOP_SIGNAL = "</finished>"
REQUIRED = ("stop_signal", "conversation_plan", "conversation_history")
PERSONA = "persona"
NO_LIMIT = -1
AUDIO = "llm_audio"
"""A user of google-adk's that speaks."""


class SimulatorConfig(AdkValue):
    """Which model plays the user, how long, and by which instructions."""

    type: Literal["llm_backed"] | None = None
    model: str = ""
    """Empty: the judge's."""
    model_configuration: dict[str, Any] = Field(default_factory=dict)
    max_allowed_invocations: int = 20
    custom_instructions: str | None = None
    include_function_calls: bool = False

    @field_validator("type", mode="before")
    @classmethod
    def _writes(cls, value: object) -> object:
        if value == AUDIO:
            message = f"is {AUDIO!r}, which is not supported yet: write 'llm_backed'"
            raise ValueError(message)
        return value

    @field_validator("max_allowed_invocations")
    @classmethod
    def _says_something(cls, value: int) -> int:
        if value < 1 and value != NO_LIMIT:
            message = f"must be 1 or more, or {NO_LIMIT} for no limit, not {value}"
            raise ValueError(message)
        return value

    @field_validator("custom_instructions")
    @classmethod
    def _can_be_used(cls, value: str | None) -> str | None:
        problem = value is not None and instructions_problem(value)
        if problem:
            raise ValueError(problem)
        return value

    @property
    def mentions_persona(self) -> bool:
        """Whether a persona would be heard of; our own instructions mention it."""
        own = self.custom_instructions
        return own is None or PERSONA in _names_in(own)


def instructions_problem(template: str) -> str | None:
    """What is wrong with custom instructions, if anything: syntax, or names left out or unknown."""
    from jinja2 import TemplateSyntaxError

    try:
        names = _names_in(template)
        _environment().compile(template)
    except TemplateSyntaxError as error:
        return f"not a Jinja template: line {error.lineno}: {error.message}"
    if missing := [name for name in REQUIRED if name not in names]:
        wanted = " and ".join(f"{{{{ {name} }}}}" for name in missing)
        return f"does not use {wanted}: the simulated user cannot do without"
    if unknown := sorted(names - {*REQUIRED, PERSONA}):
        known = ", ".join((*REQUIRED, PERSONA))
        return f"uses `{unknown[0]}`, which nobody sets: known are {known}"
    return None


def fill_in(template: str, values: Mapping[str, Any]) -> str:
    """The text of a template that is not ours: sandboxed and strict.

    Raises:
        ValueError: what the template asks for cannot be had.
    """
    from jinja2 import TemplateError

    try:
        return _environment().from_string(template).render(values)
    except (TemplateError, TypeError, AttributeError, ArithmeticError, LookupError) as error:
        message = f"`custom_instructions` cannot be filled in: {error}"
        raise ValueError(message) from error


def _names_in(template: str) -> set[str]:
    from jinja2 import meta

    return set(meta.find_undeclared_variables(_environment().parse(template)))


@cache
def _environment() -> "ImmutableSandboxedEnvironment":
    from jinja2 import StrictUndefined, pass_context
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)

    @pass_context
    def render_string_filter(context: Any, text: str) -> str:
        """ADK's filter for a persona's texts, which may name the stop signal themselves."""
        return environment.from_string(text).render(context.get_all())

    environment.filters["render_string_filter"] = render_string_filter
    return environment


class UserBehavior(AdkValue):
    """One habit: what it is, how to show it, and what would give it the lie."""

    name: str
    description: str
    behavior_instructions: tuple[str, ...]
    violation_rubrics: tuple[str, ...]


class UserPersona(AdkValue):
    """A character with habits."""

    id: str
    description: str
    behaviors: tuple[UserBehavior, ...]


def _habit(
    name: str, description: str, instructions: tuple[str, ...], violations: tuple[str, ...]
) -> UserBehavior:
    return UserBehavior(
        name=name,
        description=description,
        behavior_instructions=instructions,
        violation_rubrics=violations,
    )


_INVENTS = "The user asks for, or gives as a fact, something that the plan does not hold."
_REPEATS = "The user asks again for something that is already done."
_CROWDS = "The user puts two of the plan's goals into one message."

_PRECISE = _habit(
    "Asks precisely",
    "The user asks for one goal of the plan at a time and says all that is needed to reach it.",
    (
        "When a goal is reached, go on to the plan's next one; leave out what is done already.",
        "With a new goal give every detail that the plan has for it in the same message.",
    ),
    (_REPEATS, _INVENTS, _CROWDS, "The user names a goal and holds back details the plan has."),
)
_VAGUE = _habit(
    "Asks vaguely",
    "The user names one goal of the plan at a time, and its details only when asked for them.",
    (
        "When a goal is reached, go on to the plan's next one; leave out what is done already.",
        "With a new goal say only what you want in the end; keep details until you are asked.",
    ),
    (_REPEATS, _INVENTS, _CROWDS, "The user gives details of a goal before being asked for them."),
)
_TO_THE_POINT = _habit(
    "Answers only what matters",
    "The user answers questions that serve the plan, from the plan, and turns others away.",
    (
        "Answer from the plan, and no more than was asked.",
        "Where the plan does not say, tell the agent that you do not know.",
        "Do not answer what has nothing to do with your goals; lead back to them instead.",
    ),
    (
        _INVENTS,
        "The user goes into a question that has nothing to do with the plan.",
        "The user leaves a question open that serves the plan and that the plan answers.",
    ),
)
_OBLIGING = _habit(
    "Answers everything",
    "The user answers all that is asked, beside the point or not.",
    (
        "Answer every question: from the plan where it says something.",
        "Where the plan does not say, tell the agent that you do not know.",
    ),
    (_INVENTS, "The user leaves a question of the agent's without any answer."),
)
_CORRECTING = _habit(
    "Corrects mistakes",
    "The user notices what is wrong or was not asked for, and says so.",
    ("When the agent gets something wrong, say what is wrong and what you want instead.",),
    ("The plan shows something the agent said or did to be wrong, and the user lets it pass.",),
)
_TRUSTING = _habit(
    "Corrects nothing",
    "The user does not know better than the agent, and takes what it says as right.",
    ("Do not point out mistakes; go on as if what the agent said were right.",),
    ("The user tells the agent that it is wrong, or how to do it right.",),
)
_SECOND_CHANCE = _habit(
    "Gives one more chance",
    "When something fails the first time, the user helps once with what the plan has.",
    ("When the agent fails at something for the first time, ask it once to try again.",),
    (
        "The agent failed at a goal for the first time, and the user gives up on it at once.",
        "The user asks more than once to try the same thing again.",
    ),
)
_ENDS_AFTER_TWO = _habit(
    "Ends when done, or after a second failure",
    "The user ends the conversation when all goals are reached or one has failed twice.",
    (
        "When everything in the plan is done, answer `{{ stop_signal }}` and nothing else.",
        "So do when the agent has failed twice at the same thing, or hands you over to a person.",
    ),
    (
        "The user ends the conversation with goals open that the agent has not failed at twice.",
        "The user talks on when all is done, or after the second failure at the same thing.",
    ),
)
_ENDS_AFTER_ONE = _habit(
    "Ends when done, or at the first failure",
    "The user ends the conversation when all goals are reached or one has failed.",
    (
        "When everything in the plan is done, answer `{{ stop_signal }}` and nothing else.",
        "So do when the agent says that it cannot do something, or hands you over to a person.",
    ),
    (
        "The user ends the conversation with goals open and nothing failed.",
        "The user talks on when all is done, or when the agent has failed.",
    ),
)
_BUSINESSLIKE = _habit(
    "Speaks like a professional",
    "The user is brief and factual.",
    ("Write short, plain sentences, in the terms of the trade; no small talk, no thanks.",),
    ("The user chats, gushes or rambles.",),
)
_CHATTY = _habit(
    "Speaks like anybody",
    "The user writes as people do in a chat.",
    ("Write as in a chat with a helpful stranger: friendly, in everyday words.",),
    ("The user sounds like a form, a command line or a machine.",),
)

PERSONAS: Mapping[str, UserPersona] = {
    persona.id: persona
    for persona in (
        UserPersona(
            id="EXPERT",
            description="Someone who knows the subject and what they want, sees in the agent a "
            "tool to get it quickly, and has no time for small talk.",
            behaviors=(
                _PRECISE,
                _TO_THE_POINT,
                _CORRECTING,
                _SECOND_CHANCE,
                _ENDS_AFTER_TWO,
                _BUSINESSLIKE,
            ),
        ),
        UserPersona(
            id="NOVICE",
            description="Someone who has a problem and does not quite understand it, needs to be "
            "led, is glad to be asked, and could not tell a wrong answer from a right one.",
            behaviors=(_VAGUE, _TRUSTING, _OBLIGING, _ENDS_AFTER_ONE, _CHATTY),
        ),
        UserPersona(
            id="EVALUATOR",
            description="Someone who wants to see whether the agent can reach the plan's goals, "
            "and neither helps it nor stands in its way.",
            behaviors=(_PRECISE, _TO_THE_POINT, _ENDS_AFTER_ONE, _TRUSTING, _CHATTY),
        ),
    )
}


def _resolved(value: Any) -> Any:
    """A prebuilt persona's id stands for the persona."""
    if not isinstance(value, str):
        return value
    if value not in PERSONAS:
        known = ", ".join(PERSONAS)
        message = f"{value!r} is no persona: write one of {known}, or an object"
        raise ValueError(message)
    return PERSONAS[value]


Persona = Annotated[UserPersona, BeforeValidator(_resolved)]
