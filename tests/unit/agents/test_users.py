"""Users played by a model: real Gemini calls to a stand-in, real agents behind the protocol."""

import json
import os
import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gradegate.agents.launch import Launch
from gradegate.agents.line_agent import CommandAgent
from gradegate.agents.sandbox import agent_environment
from gradegate.agents.users import SimulatedUser, history, simulated_users, written_users
from gradegate.evalsets.lint import check
from gradegate.judge.client import JudgeClient
from gradegate.judge.providers.gemini import GeminiProvider
from gradegate.model.evalset import Case, ConversationScenario, EvalCase, EvalConfig, Invocation
from gradegate.model.runs import NotRun, Trace
from gradegate.model.settings import JudgeSettings
from gradegate.model.simulation import PERSONAS, SimulatorConfig, instructions_problem
from gradegate.ports import Ask
from gradegate.store.sqlite import SqliteStore
from tests.standins.gemini import Fault, GeminiStandin, always

PROGRAM = Path(__file__).parents[2] / "standins" / "agents" / "scripted.py"
OWN = "{{ stop_signal }} {{ conversation_plan }} {{ conversation_history }}"
SCENARIO = {"starting_prompt": "say welcome", "conversation_plan": "Have two things said."}

Player = Callable[[dict[str, Any]], str]


def case(config: dict[str, Any] | None = None, **scenario: Any) -> Case:
    """A case with a simulated user."""
    definition = {"eval_id": "chat", "conversation_scenario": {**SCENARIO, **scenario}}
    return Case(
        suite="suite",
        eval_set="a.evalset.json",
        eval_set_id="a",
        eval_id="chat",
        line=1,
        definition=EvalCase.model_validate(definition),
        config=EvalConfig.model_validate({"user_simulator_config": config}),
        digest="",
    )


def player(*lines: str) -> Player:
    """A model that says the next line, by how many messages the user has sent already."""

    def say(body: dict[str, Any]) -> str:
        spoken = json.dumps(body).count('\\"speaker\\": \\"user\\"')
        return lines[spoken - 1]

    return say


@asynccontextmanager
async def asking(standin: GeminiStandin, store: Path) -> AsyncIterator[Ask]:
    """The real way to ask, with the stand-in at its end."""
    judge = GeminiProvider.from_environ(standin.environ)
    assert not isinstance(judge, str)
    with SqliteStore(store) as kept:
        async with JudgeClient(judge, kept, JudgeSettings()) as asker:
            yield asker


def agent(folder: Path, ask: Ask) -> CommandAgent:
    """A real program, and users that a model plays."""
    command = [sys.executable, str(PROGRAM)]
    launch = Launch(command, folder, agent_environment(os.environ, {}, folder))
    return CommandAgent(launch, users=simulated_users(ask, "gemini-2.5-flash", written_users))


async def talk(folder: Path, standin: GeminiStandin, one: Case, *runs: int) -> list[Trace | NotRun]:
    """What came of these runs of a case."""
    async with asking(standin, folder / "store.sqlite") as ask, agent(folder, ask) as runner:
        return [await runner.run(one, run) for run in runs or (1,)]


def texts(outcome: Trace | NotRun) -> list[tuple[str, str]]:
    """Both sides of a conversation."""
    assert isinstance(outcome, Trace), outcome
    return [(turn.user_content.text, turn.response_text) for turn in outcome.invocations]


async def test_the_user_speaks_until_the_stop_signal(tmp_path: Path) -> None:
    """The first message is the scenario's own, the others are the model's."""
    with GeminiStandin(player("say one", "say two\n", "</finished>")) as standin:
        (outcome,) = await talk(tmp_path, standin, case())
    assert texts(outcome) == [("say welcome", "welcome"), ("say one", "one"), ("say two", "two")]
    assert isinstance(outcome, Trace)
    assert outcome.error is None
    assert len(standin.requests) == 3


async def test_the_user_speaks_as_often_as_allowed(tmp_path: Path) -> None:
    """The starting prompt counts, and nothing is asked for a message that nobody would hear."""
    with GeminiStandin(lambda _: "say more") as standin:
        limited, usual = [
            (await talk(tmp_path, standin, one))[0]
            for one in (case({"max_allowed_invocations": 4}), case())
        ]
    assert len(texts(limited)) == 4
    assert len(texts(usual)) == 20
    assert len(standin.requests) == 19, "the first four of both are the same, asked once"


async def test_the_agents_failure_ends_the_run_as_its_own(tmp_path: Path) -> None:
    """What was said until then is kept."""
    with GeminiStandin(player("say one", "say two", "crash")) as standin:
        (outcome,) = await talk(tmp_path, standin, case())
    assert len(texts(outcome)) == 3
    assert isinstance(outcome, Trace)
    assert "exit code 3" in (outcome.error or "")


async def test_trouble_with_the_model_is_never_the_agents(tmp_path: Path) -> None:
    """The run is not run, with the reason; the first turns do not count as a failure."""

    def fails_third(number: int) -> Fault | None:
        return Fault.REFUSED if number == 3 else None

    with GeminiStandin(player("say one", "say two", "say 3"), faults=fails_third) as standin:
        (outcome,) = await talk(tmp_path, standin, case())
    assert isinstance(outcome, NotRun)
    assert "the simulated user could not go on" in outcome.reason
    assert "switched off" in outcome.reason


async def test_an_empty_message_is_asked_for_again_and_then_given_up(tmp_path: Path) -> None:
    """Nothing said is not something said."""
    with GeminiStandin(lambda _: "say x", faults=always(Fault.EMPTY)) as standin:
        (outcome,) = await talk(tmp_path, standin, case())
    assert isinstance(outcome, NotRun)
    assert len(standin.requests) == 3
    said = iter(["", " \n", "say on", "</finished>"])
    with GeminiStandin(lambda _: next(said)) as standin:
        (outcome,) = await talk(tmp_path, standin, case())
    assert texts(outcome)[1:] == [("say on", "on")]


@pytest.mark.parametrize("end", ["</finished>", "Thanks! </Finished>", "\n</finished>\n"])
async def test_the_stop_signal_ends_it_however_it_is_wrapped(tmp_path: Path, end: str) -> None:
    """In any case and with words around it, which nobody hears."""
    with GeminiStandin(lambda _: end) as standin:
        (outcome,) = await talk(tmp_path, standin, case())
    assert texts(outcome) == [("say welcome", "welcome")]


async def test_runs_differ_and_a_run_done_again_is_the_same(tmp_path: Path) -> None:
    """Each run asks for itself; what was asked once is had from the store."""
    count = iter(range(100))
    with GeminiStandin(lambda _: f"say {next(count)}") as standin:
        one = case({"max_allowed_invocations": 3})
        first, second = await talk(tmp_path, standin, one, 1, 2)
        asked = len(standin.requests)
        again, also = await talk(tmp_path, standin, one, 1, 2)
    assert texts(first) != texts(second)
    assert asked == 4
    assert len(standin.requests) == asked
    assert [texts(again), texts(also)] == [texts(first), texts(second)]


async def test_the_model_is_told_plan_persona_and_dialogue(tmp_path: Path) -> None:
    """And what the agent said stands between two lines of the mark."""
    with GeminiStandin(player("say one", "</finished>")) as standin:
        await talk(tmp_path, standin, case(user_persona="EXPERT"))
    prompt = standin.requests[-1].prompt
    assert "Have two things said." in prompt
    assert PERSONAS["EXPERT"].description in prompt
    assert "`</finished>` and nothing else" in prompt, "a persona's own `{{ stop_signal }}`"
    assert "stop_signal" not in prompt
    (fence,) = set(re.findall(r"^([0-9a-f]{32})$", prompt, re.MULTILINE))
    assert '"text": "one"' in prompt.split(fence)[5]


async def test_without_a_persona_there_is_none(tmp_path: Path) -> None:
    """And the rules for mistakes and for the end stand in its place."""
    with GeminiStandin(lambda _: "</finished>") as standin:
        await talk(tmp_path, standin, case())
    assert "Who you are" not in standin.requests[0].prompt
    assert "failed at the same thing twice" in standin.requests[0].prompt


async def test_config_names_the_model_and_its_settings(tmp_path: Path) -> None:
    """`model` and `model_configuration` reach the service."""
    with GeminiStandin(lambda _: "</finished>", models=["gemini-3"]) as standin:
        config = {"model": "gemini-3", "modelConfiguration": {"temperature": 0.25}}
        (outcome,) = await talk(tmp_path, standin, case(config))
    assert len(texts(outcome)) == 1
    (request,) = standin.requests
    assert request.model == "gemini-3"
    assert request.body["generationConfig"]["temperature"] == 0.25
    assert "responseMimeType" not in request.body["generationConfig"]


async def test_custom_instructions_are_the_whole_prompt(tmp_path: Path) -> None:
    """With a persona's texts as ADK's templates ask for them; the dialogue is fenced."""
    own = (
        "End with {{ stop_signal }}. Plan: {{ conversation_plan }} I am {{ persona.id }}.\n"
        "{% for b in persona.behaviors %}{{ b.get_behavior_instructions_str() "
        "| render_string_filter }}\n{% endfor %}{{ conversation_history }}"
    )
    with GeminiStandin(lambda _: "</finished>") as standin:
        config = {"custom_instructions": own}
        (outcome,) = await talk(tmp_path, standin, case(config, user_persona="NOVICE"))
    assert len(texts(outcome)) == 1
    prompt = standin.requests[0].prompt
    assert prompt.startswith("End with </finished>. Plan: Have two things said. I am NOVICE.\n  * ")
    assert "answer `</finished>` and nothing else" in prompt
    assert re.search(r"([0-9a-f]{32})\nuser: say welcome\n\nagent: welcome\n\1$", prompt)


@pytest.mark.parametrize(
    "deed",
    [
        "{{ persona.parse_raw('{}') }}",
        "{{ persona.__class__.__mro__ }}",
        "{{ persona.behaviors[99].name }}",
        "{{ 1 / 0 }}",
        "{{ conversation_plan.format_map }}{{ conversation_plan.nothing }}",
    ],
)
async def test_custom_instructions_can_do_nothing_else(tmp_path: Path, deed: str) -> None:
    """What cannot be filled in is told, costs the agent nothing, and reaches no model."""
    with GeminiStandin(lambda _: "say x") as standin:
        config = {"custom_instructions": OWN + deed}
        (outcome,) = await talk(tmp_path, standin, case(config, user_persona="NOVICE"))
    assert isinstance(outcome, NotRun)
    assert "`custom_instructions` cannot be filled in" in outcome.reason
    assert standin.requests == []


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        (OWN, None),
        (OWN + "{% if persona is defined %}{{ persona.id }}{% endif %}", None),
        (
            "{{ stop_signal }}",
            "does not use {{ conversation_plan }} and {{ conversation_history }}",
        ),
        ("stop_signal " + OWN.replace("{{ stop_signal }}", ""), "does not use {{ stop_signal }}"),
        (OWN + "{{ history }}", "uses `history`, which nobody sets"),
        (OWN + "\n{{ stop_signal", "line 2"),
        (OWN + "{{ stop_signal | nonsense }}", "No filter named 'nonsense'"),
    ],
)
def test_custom_instructions_are_checked_beforehand(template: str, problem: str | None) -> None:
    """The message names what is missing, unknown or broken."""
    found = instructions_problem(template)
    assert (found is None) if problem is None else (problem in (found or ""))


def test_check_finds_what_is_wrong_with_a_simulation(tmp_path: Path) -> None:
    """At the line: instructions, limit, kind, and personas that do not exist or go unheard."""
    scenarios = [{**SCENARIO, "user_persona": name} for name in ("EXPERT", "HACKER")]
    for folder, wrong in (("good", scenarios[0]), ("bad", scenarios[1])):
        cases = [{"eval_id": "a", "conversation_scenario": wrong}]
        content = {"eval_set_id": folder, "eval_cases": cases}
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.evalset.json").write_text(json.dumps(content))
    config = {"criteria": {"safety_v1": 1}, "user_simulator_config": {"custom_instructions": OWN}}
    (tmp_path / "good" / "test_config.json").write_text(json.dumps(config))
    config["user_simulator_config"] = {
        "custom_instructions": "hello",
        "max_allowed_invocations": 0,
        "type": "llm_audio",
    }
    (tmp_path / "bad" / "test_config.json").write_text(json.dumps(config, indent=1))
    findings = check(tmp_path).findings
    found = {f"{f.path}:{f.line} {f.message}" for f in findings if f.level == "error"}
    whole = "\n".join(sorted(found))
    assert "good/a.evalset.json:1 `a` has a `user_persona`, which `custom_instructions`" in whole
    assert "'HACKER' is no persona: write one of EXPERT, NOVICE, EVALUATOR, or an object" in whole
    assert "bad/test_config.json:6 `user_simulator_config.custom_instructions` does not" in whole
    assert "must be 1 or more, or -1 for no limit, not 0" in whole
    assert "`user_simulator_config.type` is 'llm_audio', which is not supported yet" in whole


def test_the_prebuilt_personas_are_those_of_adk() -> None:
    """And an object makes another."""
    assert list(PERSONAS) == ["EXPERT", "NOVICE", "EVALUATOR"]
    habit = {"name": "n", "description": "d", "behaviorInstructions": [], "violationRubrics": []}
    own = {"id": "GRUMPY", "description": "Always in a bad mood.", "behaviors": [habit]}
    scenario = ConversationScenario.model_validate({**SCENARIO, "userPersona": own})
    assert scenario.user_persona
    assert scenario.user_persona.id == "GRUMPY"
    with pytest.raises(ValidationError):
        ConversationScenario.model_validate({**SCENARIO, "user_persona": {"id": "GRUMPY"}})


EVENTS = {
    "user_content": {"parts": [{"text": "weather?"}]},
    "final_response": {"parts": [{"text": "he wants rain", "thought": True}, {"text": "rain"}]},
    "intermediate_data": {
        "invocation_events": [
            {"author": "w", "content": {"parts": [{"text": "let me see"}]}},
            {
                "author": "w",
                "content": {"parts": [{"functionCall": {"name": "look", "args": {"at": "sky"}}}]},
            },
            {
                "author": "w",
                "content": {
                    "parts": [{"functionResponse": {"name": "look", "response": {"wet": True}}}]
                },
            },
        ]
    },
}
OLDER = {
    **EVENTS,
    "intermediate_data": {
        "intermediate_responses": [["w", [{"text": "let me see"}]]],
        "tool_uses": [{"name": "look", "args": {"at": "sky"}}],
        "tool_responses": [{"name": "look", "response": {"wet": True}}],
    },
}


@pytest.mark.parametrize("turn", [EVENTS, OLDER])
def test_the_user_sees_words_and_tools_only_where_wanted(turn: dict[str, Any]) -> None:
    """Never what the model thought to itself."""
    dialogue = [Invocation.model_validate(turn)]
    words = [
        {"speaker": "user", "text": "weather?"},
        {"speaker": "agent", "text": "let me see"},
        {"speaker": "agent", "text": "rain"},
    ]
    tools = [
        {"speaker": "agent", "tool": "look", "called_with": {"at": "sky"}},
        {"speaker": "tool", "tool": "look", "returned": {"wet": True}},
    ]
    assert history(dialogue, with_calls=False) == words
    assert history(dialogue, with_calls=True) == [*words[:2], *tools, words[2]]


async def test_there_can_be_no_limit(tmp_path: Path) -> None:
    """-1, as ADK has it: the hundredth turn is asked for like the second."""
    scenario = ConversationScenario.model_validate(SCENARIO)
    turn = Invocation.model_validate(EVENTS)
    with GeminiStandin(lambda _: "say x") as standin:
        async with asking(standin, tmp_path / "store.sqlite") as ask:
            config = SimulatorConfig(model="gemini-2.5-flash", max_allowed_invocations=-1)
            message = await SimulatedUser(scenario, config, ask, 1).next_message([turn] * 100)
    assert not isinstance(message, NotRun | None)
    assert message.text == "say x"
    assert message.role == "user"
