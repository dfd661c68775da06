"""How a user is simulated: `user_simulator_config` of an EvalConfig."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator

from gradegate.model.base import AdkValue

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

STOP_SIGNAL = "</finished>"
REQUIRED = ("stop_signal", "conversation_plan", "conversation_history")
PERSONA = "persona"
NO_LIMIT = -1


class SimulatorConfig(AdkValue):
    """Which model plays the user, how long, and by which instructions."""

    type: Literal["llm_backed"] | None = None
    model: str = ""
    """Empty: the judge's."""
    model_configuration: dict[str, Any] = Field(default_factory=dict)
    max_allowed_invocations: int = 20
    custom_instructions: str | None = None
    include_function_calls: bool = False

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
