"""ADK agents that behave and misbehave, each in a process of the real google-adk."""

import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from gradegate.agents.adk import AdkAgent
from gradegate.agents.sandbox import Sandbox
from gradegate.model.runs import NotRun
from gradegate.model.settings import Suite
from gradegate.model.variables import MODEL_VARIABLES, own_names
from tests.integration.adk import (
    EXAMPLES,
    NEEDS,
    adk_agent,
    adk_python,
    calls,
    case,
    run_all,
    side,
    texts,
    travel_cases,
    write,
)
from tests.integration.small_index import small_index
from tests.places import open_place
from tests.standins.gemini import Fault, GeminiStandin, always
from tests.standins.travel_model import answer

DOER = (Path(__file__).parents[1] / "standins" / "adk_agents" / "doer.py").read_text()
FILES = {
    **NEEDS,
    "agents/doer/agent.py": DOER,
    "agents/doer/__init__.py": "from . import agent\n",
}
SUITE = Suite(name="doer", agent="agents/doer")
GIVEN = {"GOOGLE_API_KEY": "k", "MINE": "m", "GITHUB_TOKEN": "t"}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture
def root(place: Path) -> Path:
    """A side with the agent that does what it is told."""
    return write(place / "sides" / "export", FILES)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def doer(environments: Path) -> AsyncIterator[AdkAgent]:
    """That agent at work, for all tests that leave its process as they find it."""
    with open_place() as place:
        root = write(place / "sides" / "export", FILES)
        async with adk_agent(root, environments, GIVEN, SUITE) as runner:
            yield runner


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(environments: Path) -> AsyncIterator[AdkAgent]:
    """The example at work, found without any settings."""
    with open_place() as place, GeminiStandin(answer) as model:
        root = side(place)
        suite, _ = travel_cases(root)
        async with adk_agent(root, environments, model.environ, suite) as runner:
            yield runner


async def does_what_its_eval_sets_say(runner: AdkAgent) -> None:
    """Every expected call and word comes."""
    _, cases = travel_cases(EXAMPLES)
    traces = await run_all(runner, cases)
    assert [trace.error for trace in traces] == [None] * 7
    for trace, asked in zip(traces, cases, strict=True):
        expected = asked.definition.conversation or ()
        assert texts(trace) == [turn.response_text for turn in expected]
        assert [
            [(call.name, call.args) for call in turn.tool_calls] for turn in trace.invocations
        ] == [[(call.name, call.args) for call in turn.tool_calls] for turn in expected]


async def test_the_example_does_what_its_eval_sets_say(desk: AdkAgent) -> None:
    """Without any settings: found, installed, loaded."""
    await does_what_its_eval_sets_say(desk)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["0.5.0", "1.0.0", "1.7.0", "1.18.0", "2.0.0", "2.7.1"])
async def test_the_example_does_the_same_on_older_versions(
    place: Path, environments: Path, version: str
) -> None:
    """The oldest that we run, those without plugins and without apps, and some between."""
    needs = f"google-adk=={version}\ndeprecated\n"  # which 0.5 and 1.0 import and do not ask for
    root = write(side(place), {"travel_desk/requirements.txt": needs})
    suite, _ = travel_cases(root)
    with GeminiStandin(answer) as model:
        async with adk_agent(root, environments, model.environ, suite) as runner:
            await does_what_its_eval_sets_say(runner)


@pytest.mark.slow
async def test_base_and_head_run_with_different_versions_at_once(
    place: Path, environments: Path
) -> None:
    """Each side has the google-adk it asks for, and head's broken instruction shows."""
    base, head = side(place / "base"), side(place / "head")
    tell = "\nimport google.adk\nroot_agent.instruction += f' ADK {google.adk.__version__}'\n"
    agent = (head / "travel_desk" / "agent.py").read_text() + tell
    older = {"travel_desk/requirements.txt": "google-adk==2.7.1\n"}
    write(base, {"travel_desk/agent.py": agent, **older})
    broken = agent.replace("get_weather about", "your heart about")
    write(head, {"travel_desk/agent.py": broken})
    suite, cases = travel_cases(head)
    with GeminiStandin(answer) as model:
        async with (
            adk_agent(base, environments, model.environ, suite) as old,
            adk_agent(head, environments, model.environ, suite) as new,
        ):
            before, after = await run_all(old, cases), await run_all(new, cases)
    assert [trace.error for trace in (*before, *after)] == [None] * 14
    changed = {b.eval_id for b, a in zip(before, after, strict=True) if calls(b) != calls(a)}
    weather = {"weather_in_paris", "weather_nowhere", "weather_then_flights"}
    assert changed == weather | {"tenki", "tenki_kara_bin"}
    for traces, version in ((before, "2.7.1"), (after, "2.13.0")):
        details = traces[0].invocations[0].app_details
        assert details
        assert f"ADK {version}" in details.agent_details["travel_desk"].instructions


async def test_sub_agents_are_named_and_described(desk: AdkAgent) -> None:
    """Who did what stands in the events; what each was told and given, in the details."""
    (trace,) = await run_all(desk, [case("Please refund my booking A17.")])
    (turn,) = trace.invocations
    assert turn.intermediate_data
    events = turn.intermediate_data.invocation_events or ()
    assert [event.author for event in events] == ["travel_desk"] * 2 + ["refund_clerk"] * 3
    assert all((e.usage_metadata or {}).get("total_token_count") for e in events[::2])
    assert events[-1].content is None
    assert turn.app_details
    clerk = turn.app_details.agent_details["refund_clerk"]
    assert "Refund the booking that the traveller names" in clerk.instructions
    assert "refund_booking" in json.dumps(clerk.tool_declarations)
    assert turn.duration
    assert turn.model_duration


async def test_a_failing_turn_fails_its_case_and_no_other(doer: AdkAgent) -> None:
    """The reason ends with the traceback; the process goes on, and so do the others in it."""
    deeds = ["fail no such city", "leave 3", "leave_in_a_task 4", "ask name?"]
    bad = [case("pid", deed, eval_id=deed) for deed in deeds]
    good = case("pid", "say on", "pid", eval_id="good")
    *failed, fine = await run_all(doer, [*bad, good])
    (after,) = await run_all(doer, [case("pid", eval_id="after")])
    reasons = ["ValueError: no such city", "sys.exit(3)", "sys.exit(4)", "EOFError"]
    for trace, reason in zip(failed, reasons, strict=True):
        assert (trace.error or "").startswith(reason) or reason in (trace.error or "")
        assert "agent.py" in (trace.error or "")
        assert len(trace.invocations) == 1
    assert fine.error is None
    assert {*texts(fine)[::2], *texts(after)} == set(texts(failed[0]))


async def test_a_process_that_dies_is_the_guilty_ones_failure(
    root: Path, environments: Path, warm_adk: Path
) -> None:
    """`os._exit` takes all sessions with it; the others are had in a fresh process."""
    guilty = case("say before", "drop_dead 7", eval_id="guilty")
    others = [case("say a", "say b", eval_id=str(n)) for n in range(2)]
    async with adk_agent(root, environments, {}, SUITE, str(warm_adk)) as runner:
        dead, *rest = await run_all(runner, [guilty, *others])
    assert "exit code 7" in (dead.error or "")
    assert [trace.error for trace in rest] == [None] * 2


async def test_what_an_agent_prints_is_no_answer(doer: AdkAgent) -> None:
    """Prints, writes to descriptor 1 and children's output all end in the log."""
    (trace,) = await run_all(doer, [case("chatter {", "unprintable", "say fine")])
    assert trace.error is None
    assert texts(trace) == ["printed", "half ? a pair", "fine"]


async def test_sessions_overlap_in_one_process(doer: AdkAgent) -> None:
    """Five turns wait for each other."""
    traces = await run_all(doer, [case("meet 5", "pid", eval_id=str(n)) for n in range(5)])
    assert [trace.error for trace in traces] == [None] * 5
    assert len({texts(trace)[1] for trace in traces}) == 1


async def test_a_session_starts_as_the_case_says_and_leaks_nothing(doer: AdkAgent) -> None:
    """App, user, id and state are the case's; what another session left is not there."""
    first = case("say secret", "session", app_name="a1", user_id="kim", state={"x": 1})
    pinned = case("session", app_name="a1", user_id="kim", session_id="pinned", state={"y": [2]})
    (left,) = await run_all(doer, [first])
    (seen,) = await run_all(doer, [pinned])
    (again,) = await run_all(doer, [pinned])
    (plain,) = await run_all(doer, [case("session")])
    app, user, _, state = json.loads(texts(left)[1])
    assert (app, user) == ("a1", "kim")
    assert state == {"x": 1, "seen": "secret", "user:seen": "secret"}
    assert json.loads(texts(seen)[0]) == ["a1", "kim", "pinned", {"y": [2]}]
    assert texts(again) == texts(seen)
    assert json.loads(texts(plain)[0])[3] == {}


APP = "from google.adk.apps import App\napp = App(name='bot', root_agent=inner)\n"
PLUGIN = """
from google.adk.apps import App
from google.adk.plugins.base_plugin import BasePlugin

class Loud(BasePlugin):
    async def on_user_message_callback(self, *, invocation_context, user_message):
        return types.Content(role="user", parts=[types.Part(text="say heard by a plugin")])

app = App(name="bot", root_agent=Doer(name="doer"), plugins=[Loud(name="loud")])
"""
GLOBALS = """
counted = []

async def count(_, __):
    counted.append(1)
    await asyncio.sleep(0.01)
    return str(len(counted))

DEEDS["count"] = count
reset_data = counted.clear
"""
MAKER = "async def get_agent_async():\n    return Doer(name='doer'), None\n"
BODY = DOER.rpartition("root_agent =")[0]
PACKAGE = {"bot/__init__.py": "from . import agent\n", "bot/agent.py": DOER}
LAYOUTS: dict[str, tuple[str, dict[str, str]]] = {
    "a package that imports its agent": ("bot", PACKAGE),
    "an agent.py alone": ("bot", {"bot/agent.py": DOER}),
    "an __init__.py alone": ("bot", {"bot/__init__.py": DOER}),
    "an app before an agent": (
        "bot",
        {"bot/agent.py": DOER.replace("root_agent =", "inner =") + APP + "root_agent = None\n"},
    ),
    "a module": ("bot", {"bot.py": DOER}),
    "a module with its ending": ("bot.py", {"bot.py": DOER}),
    "a maker": ("bot", {"bot/agent.py": BODY + MAKER}),
    "a configuration": (
        "bot",
        {"bot/root_agent.yaml": "agent_class: bot.code.Doer\nname: doer\n", "bot/code.py": BODY},
    ),
    "a name that is none": ("my.bot-2", {"my.bot-2/agent.py": DOER}),
    "a name that is taken": ("json", {"json/agent.py": DOER}),
    "the top": (".", {"agent.py": DOER, "__init__.py": "from . import agent\n"}),
    "a .env above": (
        "deep/bot",
        {
            "deep/.env": "NAME=doer\n",
            "deep/bot/agent.py": BODY + "root_agent = Doer(name=os.environ['NAME'])\n",
        },
    ),
    "modules beside and above": (
        "deep/bot",
        {
            "deep/bot/agent.py": "import near\nfrom .own import root_agent\n",
            "deep/bot/own.py": "from top import Doer\nroot_agent = Doer(name='doer')\n",
            "deep/near.py": "",
            "top.py": BODY,
        },
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
async def test_an_agent_is_found_where_adk_finds_it(
    place: Path, environments: Path, warm_adk: Path, layout: str
) -> None:
    """Every layout that ADK's own tools load, and a few that they stumble over."""
    agent, files = LAYOUTS[layout]
    root = write(place / "sides" / "export", files)
    async with adk_agent(
        root, environments, {}, Suite(name="bot", agent=agent), str(warm_adk)
    ) as runner:
        (trace,) = await run_all(runner, [case("say hello")])
    assert (texts(trace), trace.error) == (["hello"], None)


async def test_an_apps_plugins_take_part(place: Path, environments: Path, warm_adk: Path) -> None:
    """A plugin of the app's changes what the user said before the agent hears it."""
    root = write(place / "sides" / "export", {"bot/agent.py": BODY + PLUGIN})
    async with adk_agent(
        root, environments, {}, Suite(name="bot", agent="bot"), str(warm_adk)
    ) as runner:
        (trace,) = await run_all(runner, [case("say hello", "say again")])
    assert (texts(trace), trace.error) == (["heard by a plugin"] * 2, None)


async def test_an_agent_with_globals_has_them_reset_and_one_session_at_a_time(
    place: Path, environments: Path, warm_adk: Path
) -> None:
    """`reset_data` is called for every case, and nobody else is in between."""
    root = write(place / "sides" / "export", {"bot/agent.py": DOER + GLOBALS})
    async with adk_agent(
        root, environments, {}, Suite(name="bot", agent="bot"), str(warm_adk)
    ) as runner:
        traces = await run_all(
            runner, [case("count", "count", "count", eval_id=str(n)) for n in range(4)]
        )
    assert [texts(trace) for trace in traces] == [["1", "2", "3"]] * 4


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import no_such_module\n", "No module named 'no_such_module'"),
        ("import sys\nsys.exit('bye')\n", "sys.exit('bye')"),
        ("def broken(:\n", "SyntaxError"),
        ("agent = 1\n", "no `root_agent`, `app` or `get_agent_async`"),
        ("root_agent = 'not one'\n", "root_agent"),
    ],
)
async def test_an_agent_that_cannot_be_loaded_fails_every_case(
    place: Path, environments: Path, warm_adk: Path, code: str, reason: str
) -> None:
    """It has failed, which is not the same as not having been run."""
    root = write(place / "sides" / "export", {"bot/agent.py": code})
    async with adk_agent(
        root, environments, {}, Suite(name="bot", agent="bot"), str(warm_adk)
    ) as runner:
        traces = await run_all(runner, [case("say hello", eval_id=str(n)) for n in range(20)])
    assert all(reason in (trace.error or "") for trace in traces), traces[0].error


async def test_a_model_that_cannot_be_asked_leaves_its_cases_not_run(
    place: Path, environments: Path, warm_adk: Path
) -> None:
    """A key that is refused, or none at all: nothing the agent did."""
    code = "from google.adk.agents import Agent\n"
    code += "root_agent = Agent(name='bot', model='gemini-2.5-flash')\n"
    root = write(place / "sides" / "export", {"bot/agent.py": code})
    suite = Suite(
        name="bot", agent="bot", env=own_names("GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL")
    )
    with GeminiStandin(answer, faults=always(Fault.FORBIDDEN)) as model:
        for environ in (model.environ, {"GOOGLE_GEMINI_BASE_URL": model.url}):
            async with adk_agent(root, environments, environ, suite, str(warm_adk)) as runner:
                outcome = await runner.run(case("hello"), 1)
            assert isinstance(outcome, NotRun), outcome
            assert "could not be used (credentials)" in outcome.reason


async def test_an_agent_that_cannot_be_loaded_is_not_tried_for_each_case(
    place: Path, environments: Path, warm_adk: Path
) -> None:
    """However many there are, it is soon told."""
    code = "print('tried', file=open('tries', 'a'))\nimport no_such_module\n"
    root = write(place / "sides" / "export", {"bot/agent.py": code})
    async with adk_agent(
        root, environments, {}, Suite(name="bot", agent="bot"), str(warm_adk)
    ) as runner:
        await run_all(runner, [case("say hello", eval_id=str(n)) for n in range(20)])
    assert (root / "tries").read_text() == "tried\n"


async def test_the_agent_sees_what_the_suite_names(
    doer: AdkAgent, root: Path, environments: Path, warm_adk: Path
) -> None:
    """A suite without `env` hands the model's variables on; one with it, nothing else."""
    traces = await run_all(doer, [case("environment")])
    named = Suite(name="doer", agent="agents/doer", env=own_names("MINE"))
    async with adk_agent(root, environments, GIVEN, named, str(warm_adk)) as runner:
        traces += await run_all(runner, [case("environment")])
    seen = [set(texts(trace)[0].split()) - {"LANG", "LC_ALL", "LC_CTYPE"} for trace in traces]
    usual = {"HOME", "PATH", "TMPDIR"}
    models = {name for name in MODEL_VARIABLES if name in os.environ or name in GIVEN}
    assert seen == [usual | models, usual | {"MINE"}]


async def test_an_existing_interpreter_is_used_as_it_is(root: Path, environments: Path) -> None:
    """`--agent-python` makes nothing: the reason names an interpreter without google-adk."""
    with tempfile.TemporaryDirectory() as untouched:
        python = await adk_python(environments)
        async with adk_agent(root, Path(untouched), {}, SUITE, str(python)) as runner:
            (trace,) = await run_all(runner, [case("say hello")])
        assert (texts(trace), trace.error) == (["hello"], None)
        async with adk_agent(root, Path(untouched), {}, SUITE, sys.executable) as runner:
            (trace,) = await run_all(runner, [case("say hello")])
        assert "No module named 'google.adk'" in (trace.error or "")
        assert os.listdir(untouched) == []  # noqa: PTH208 - a moment's look in an async test


async def test_a_google_adk_that_is_too_old_is_told_before_anything_is_run(
    root: Path, place: Path, environments: Path
) -> None:
    """By its version, with the oldest that would do."""
    index = small_index(place / "index", {"google-adk": "0.4.0"})
    write(root, {"requirements.txt": f"--index-url {index}\ngoogle-adk==0.4.0\n"})
    with Sandbox.for_side(root, [environments]) as sandbox:
        async with AdkAgent(SUITE, root, sandbox, cache=environments, environ=os.environ) as agent:
            told = await agent.prepare()
            outcome = await agent.run(case("say hello"), 1)
    assert told is not None
    assert told.text == (
        "google-adk 0.4.0 in the environment of `agents/doer` is too old for gradegate, which "
        "needs 0.5.0 or newer: raise it in the agent's requirements"
    )
    assert isinstance(outcome, NotRun)


@pytest.mark.parametrize(
    ("suite", "reason"),
    [
        (Suite(name="x", agent="gone"), "there is no agent at gone"),
        (Suite(name="x", agent="agents/doer", python="no/python"), "there is no no/python"),
        (Suite(name="x", agent="agents/doer", requirements="gone.txt"), "there is no gone.txt"),
        (Suite(name="x", agent="agents/doer", requirements="../x"), "outside the repository"),
        (Suite(name="x", agent="agents/doer", requirements="bad.txt"), "no-such-package-anywhere"),
    ],
)
async def test_what_cannot_be_made_ready_says_why(
    root: Path, environments: Path, suite: Suite, reason: str
) -> None:
    """A value with the end of what uv said, not an exception."""
    write(root, {"bad.txt": "--no-index\nno-such-package-anywhere==1.0\n"})
    with Sandbox.for_side(root, [environments]) as sandbox:
        agent = AdkAgent(suite, root, sandbox, cache=environments, environ=os.environ)
        async with agent as runner:
            why = await runner.prepare()
            assert why is not None
            assert reason in why.text
            assert isinstance(await runner.run(case("say hello"), 1), NotRun)
