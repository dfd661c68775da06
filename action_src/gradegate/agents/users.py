"""Who speaks to the agent: a user written down, or one played by a model; and how it goes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from gradegate.agents.line_process import Failure
from gradegate.criteria.base.prompts import Prompt, as_json
from gradegate.model.evalset import (
    Case,
    Content,
    ConversationScenario,
    IntermediateData,
    Invocation,
    Part,
)
from gradegate.model.notice import notice
from gradegate.model.question import PlainText, Question
from gradegate.model.runs import NotRun
from gradegate.model.simulation import NO_LIMIT, STOP_SIGNAL, SimulatorConfig, UserPersona, fill_in
from gradegate.ports import Ask, User, UserFactory


class Listener(Protocol):
    """The agent's end of a conversation."""

    async def turn(self, message: Content) -> Invocation | Failure:
        """What the agent did with the message."""
        ...


class StaticUser:
    """Says what the eval case says, whatever the agent answers."""

    def __init__(self, conversation: Sequence[Invocation]) -> None:
        self._messages = [invocation.user_content for invocation in conversation]

    async def next_message(self, dialogue: Sequence[Invocation]) -> Content | NotRun | None:
        """The message of the next turn, until all are said."""
        spoken = len(dialogue)
        return self._messages[spoken] if spoken < len(self._messages) else None


class NobodyToTalk:
    """Stands in for a simulated user where no model was given to play one."""

    async def next_message(self, dialogue: Sequence[Invocation]) -> Content | NotRun | None:
        """Say that this cannot be run."""
        del dialogue
        return NotRun.because(notice("user.no_model"))


def written_users(case: Case, run: int) -> User:
    """The users of static conversations, the same in every run."""
    del run
    conversation = case.definition.conversation
    return NobodyToTalk() if conversation is None else StaticUser(conversation)


@dataclass(frozen=True)
class Dialogue:
    """The turns that were had, and why there were no more if that was not planned."""

    invocations: tuple[Invocation, ...] = ()
    failure: Failure | NotRun | None = None


async def converse(user: User, agent: Listener) -> Dialogue:
    """Let the user talk to the agent until the user is done or one of them fails."""
    had: list[Invocation] = []
    while (message := await user.next_message(had)) is not None:
        if isinstance(message, NotRun):
            return Dialogue(tuple(had), message)
        answer = await agent.turn(message)
        if isinstance(answer, Failure):
            return Dialogue(tuple(had), answer)
        had.append(answer)
    return Dialogue(tuple(had))


PROMPT = Prompt("simulated_user.md.j2", version="1", folder=Path(__file__).parent)
KIND = "simulated_user"
_TRIES = 3
"""The first usable answer counts; an empty or a blocked one is no reason to give up."""

Entry = dict[str, Any]


class SimulatedUser:
    """Says the scenario's first words, then what a model makes of plan, persona and dialogue.

    The run's number is part of what is asked: runs differ from each other, and a run that is
    done again has the same user, from the store. Base and head are asked alike.
    """

    def __init__(
        self, scenario: ConversationScenario, config: SimulatorConfig, ask: Ask, run: int
    ) -> None:
        self._scenario = scenario
        self._config = config
        self._ask = ask
        self._run = run

    async def next_message(self, dialogue: Sequence[Invocation]) -> Content | NotRun | None:
        """What to say next; None after the stop signal or the last turn that is allowed."""
        if not dialogue:
            return _said(self._scenario.starting_prompt)
        if len(dialogue) >= self._config.max_allowed_invocations != NO_LIMIT:
            return None
        try:
            question = self._question(dialogue)
        except ValueError as error:
            return NotRun.because(notice("user.cannot_speak", error=error))
        votes = await self._ask(question, _TRIES)
        if votes.failure is not None or not votes.answers:
            return NotRun.because(notice("user.no_answer", why=votes.why))
        text = votes.answers[0].text.strip()
        return None if STOP_SIGNAL in text.lower() else _said(text)

    def _question(self, dialogue: Sequence[Invocation]) -> Question[PlainText]:
        data = {
            "conversation_plan": self._scenario.conversation_plan,
            "persona": _character(self._scenario.user_persona),
            "dialogue": history(dialogue, with_calls=self._config.include_function_calls),
            "custom_instructions": self._config.custom_instructions,
            "run": self._run,
        }
        return Question(
            kind=KIND,
            version=PROMPT.version,
            data=data,
            answer=PlainText,
            render=self._rendering(data),
            model=self._config.model,
            model_config=self._config.model_configuration,
            objection=_says_nothing,
        )

    def _rendering(self, data: Mapping[str, Any]) -> Callable[[str], str]:
        """How to put it; whether custom instructions can be filled in shows here and now."""
        own = self._config.custom_instructions
        if own is None:
            return partial(PROMPT.render, data)
        render = partial(_custom, own, data, self._scenario.user_persona)
        render("")
        return render


def simulated_users(ask: Ask, default_model: str, otherwise: UserFactory) -> UserFactory:
    """Simulated users for the cases that have a scenario; `otherwise` makes the other users."""

    def user_of(case: Case, run: int) -> User:
        scenario = case.definition.conversation_scenario
        if scenario is None:
            return otherwise(case, run)
        config = case.config.user_simulator_config or SimulatorConfig()
        model = config.model or default_model
        return SimulatedUser(scenario, config.model_copy(update={"model": model}), ask, run)

    return user_of


def history(dialogue: Iterable[Invocation], *, with_calls: bool) -> list[Entry]:
    """The dialogue as its user saw it: words, not thoughts, and tools only where wanted."""
    entries: list[Entry] = []
    for turn in dialogue:
        entries.append({"speaker": "user", "text": turn.user_content.text})
        entries += _on_the_way(turn.intermediate_data, with_calls=with_calls)
        said = turn.final_response.parts or () if turn.final_response else ()
        entries.append({"speaker": "agent", "text": _words(said)})
    return entries


def _on_the_way(data: IntermediateData | None, *, with_calls: bool) -> list[Entry]:
    if data is None:
        return []
    if data.invocation_events is not None:
        return [entry for part in data.event_parts() for entry in _seen(part, with_calls)]
    spoken = [part for _, parts in data.intermediate_responses for part in parts]
    used = [Part(function_call=call) for call in data.tool_uses]
    had = [Part(function_response=response) for response in data.tool_responses]
    return [entry for part in (*spoken, *used, *had) for entry in _seen(part, with_calls)]


def _seen(part: Part, with_calls: bool) -> list[Entry]:  # noqa: FBT001 - private, and named by its callers
    if words := _words([part]):
        return [{"speaker": "agent", "text": words}]
    if with_calls and part.function_call:
        call = part.function_call
        return [{"speaker": "agent", "tool": call.name, "called_with": call.args}]
    if with_calls and part.function_response:
        response = part.function_response
        return [{"speaker": "tool", "tool": response.name, "returned": response.response}]
    return []


def _words(parts: Iterable[Part]) -> str:
    """Texts without the model's thoughts."""
    return "\n".join(p.text for p in parts if p.text and not (p.model_extra or {}).get("thought"))


def _character(persona: UserPersona | None) -> dict[str, Any] | None:
    """What the player of a persona is told; how to find it out is its judge's business."""
    if persona is None:
        return None
    names = {"stop_signal": STOP_SIGNAL}
    return {
        "description": fill_in(persona.description, names),
        "habits": [
            {
                "habit": fill_in(habit.description, names),
                "do": [fill_in(line, names) for line in habit.behavior_instructions],
            }
            for habit in persona.behaviors
        ],
    }


def _custom(template: str, data: Mapping[str, Any], persona: UserPersona | None, fence: str) -> str:
    """A user's own instructions, with the dialogue between two lines of the fence."""
    told = "\n\n".join(_line(entry).replace(fence, "") for entry in data["dialogue"])
    values = {
        "stop_signal": STOP_SIGNAL,
        "conversation_plan": data["conversation_plan"],
        "conversation_history": f"{fence}\n{told}\n{fence}",
    }
    return fill_in(template, values | ({"persona": _PlainPersona.of(persona)} if persona else {}))


@dataclass(frozen=True)
class _PlainHabit:
    """A habit for templates that are not ours, with the methods that ADK's has."""

    name: str
    description: str
    behavior_instructions: tuple[str, ...]
    violation_rubrics: tuple[str, ...]

    def get_behavior_instructions_str(self) -> str:
        """What to do, a line each."""
        return "\n".join(f"  * {line}" for line in self.behavior_instructions)

    def get_violation_rubrics_str(self) -> str:
        """What not to do, a line each."""
        return "\n".join(f"  * {line}" for line in self.violation_rubrics)


@dataclass(frozen=True)
class _PlainPersona:
    """A persona for templates that are not ours.

    Never the model itself: pydantic's objects have methods that read files and unpickle.
    """

    id: str
    description: str
    behaviors: tuple[_PlainHabit, ...]

    @classmethod
    def of(cls, persona: UserPersona) -> "_PlainPersona":
        habits = tuple(_PlainHabit(**habit.model_dump()) for habit in persona.behaviors)
        return cls(persona.id, persona.description, habits)


def _line(entry: Entry) -> str:
    if "called_with" in entry:
        return f"agent calls {entry['tool']}: {as_json(entry['called_with'])}"
    if "returned" in entry:
        return f"{entry['tool']} returns: {as_json(entry['returned'])}"
    return f"{entry['speaker']}: {entry['text']}"


def _says_nothing(answer: PlainText) -> str | None:
    return None if answer.text.strip() else "the model that plays the user said nothing"


def _said(text: str) -> Content:
    return Content(role="user", parts=(Part(text=text),))
