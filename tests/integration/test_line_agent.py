"""The line protocol, spoken with real programs that behave and misbehave."""

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from gradegate.agents.launch import Launch
from gradegate.agents.line_agent import CommandAgent
from gradegate.agents.sandbox import Sandbox, agent_environment
from gradegate.model.errors import InputError
from gradegate.model.evalset import Case, EvalCase, EvalConfig
from gradegate.model.runs import NotRun, Trace

T = TypeVar("T")
PROGRAMS = Path(__file__).parents[1] / "standins" / "agents"


def case(*turns: str, eval_id: str = "case") -> Case:
    """A case whose user says these things."""
    conversation = [{"user_content": {"parts": [{"text": text}]}} for text in turns]
    return Case(
        suite="suite",
        eval_set="a.evalset.json",
        eval_set_id="a",
        eval_id=eval_id,
        line=1,
        definition=EvalCase.model_validate({"eval_id": eval_id, "conversation": conversation}),
        config=EvalConfig(),
        digest=eval_id,
    )


def agent(
    cwd: Path,
    program: str = "scripted.py",
    *,
    turn_timeout: float = 20.0,
    case_timeout: float = 60.0,
    max_sessions: int = 8,
) -> CommandAgent:
    """An agent behind one of the programs beside these tests."""
    command = [sys.executable, str(PROGRAMS / program)]
    return CommandAgent(
        Launch(command, cwd, agent_environment(os.environ, {}, cwd)),
        turn_timeout=turn_timeout,
        case_timeout=case_timeout,
        max_sessions=max_sessions,
    )


async def run_all(runner: CommandAgent, *cases: Case) -> list[Trace]:
    """The traces of all cases, started together."""
    async with runner:
        outcomes = await asyncio.gather(*(runner.run(each, 1) for each in cases))
    return [outcome for outcome in outcomes if isinstance(outcome, Trace)]


def texts(trace: Trace) -> list[str]:
    """What the agent answered, turn by turn."""
    return [invocation.response_text for invocation in trace.invocations]


def wait_for(what: Callable[[], T]) -> T:
    """The first true answer; an assertion where there is none for longer than anything takes."""
    deadline = time.monotonic() + 600
    while not (answer := what()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return answer


def is_alive(pid: int) -> bool:
    """Whether a process still does anything."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@contextmanager
def watched(folder: Path) -> Iterator[Callable[[], bool]]:
    """Whether any process lives that a bomb in this folder has led to.

    They hold a pipe open, and the kernel tells when nobody does any more: a look at all
    processes would miss who was not there when it began and had ended when it came to them.
    """
    os.mkfifo(folder / "alive")
    (folder / "alive").chmod(0o666)
    pipe = os.open(folder / "alive", os.O_RDONLY | os.O_NONBLOCK)

    def lives() -> bool:
        try:
            return os.read(pipe, 1) != b""
        except BlockingIOError:
            return True

    try:
        yield lives
    finally:
        (folder / "stop").touch()
        os.close(pipe)


async def test_a_conversation_is_had_turn_by_turn(tmp_path: Path) -> None:
    """Each turn's answer is kept with what the case's user said."""
    (trace,) = await run_all(agent(tmp_path), case("say one", "say two"))
    assert texts(trace) == ["one", "two"]
    assert [i.user_content.text for i in trace.invocations] == ["say one", "say two"]
    assert trace.error is None
    assert trace.key == ("suite", "a.evalset.json", "case")


async def test_sessions_overlap_and_answers_come_in_any_order(tmp_path: Path) -> None:
    """Five turns wait for each other in one process, and are answered backwards."""
    cases = [case("meet 5", f"say {n}", eval_id=str(n)) for n in range(5)]
    traces = await run_all(agent(tmp_path), *cases)
    assert [texts(trace) for trace in traces] == [["5 at once", str(n)] for n in range(5)]


async def test_no_more_sessions_are_open_than_allowed(tmp_path: Path) -> None:
    """Three turns never meet where two sessions may be open."""
    cases = [case("meet 3", eval_id=str(n)) for n in range(3)]
    traces = await run_all(agent(tmp_path, turn_timeout=0.6, max_sessions=2), *cases)
    assert all("did not answer within 0.6 s" in (trace.error or "") for trace in traces)


async def test_a_crash_in_the_second_turn_keeps_the_first(tmp_path: Path) -> None:
    """What was had before the crash is in the trace, with the log's end in the reason."""
    (trace,) = await run_all(agent(tmp_path), case("log about to go", "crash"))
    assert texts(trace) == ["logged"]
    assert trace.error is not None
    assert "exit code 3" in trace.error
    assert "about to go" in trace.error


async def test_only_the_end_of_the_log_is_kept(tmp_path: Path) -> None:
    """A chatty program's reason stays short."""
    chatter = "\n".join(f"line {n}" for n in range(5000))
    (trace,) = await run_all(agent(tmp_path), case(f"log {chatter}", "crash"))
    assert trace.error is not None
    assert trace.error.endswith("line 4999")
    assert "line 4980" in trace.error
    assert "line 4979" not in trace.error


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("crash", "exit code 3"),
        ("garbage", "not an answer in JSON: Loading model…"),
        ("stranger", "'somebody-else', which asked nothing"),
        ("huge", "longer than 16 MiB"),
    ],
)
async def test_a_bystander_is_not_blamed(tmp_path: Path, deed: str, reason: str) -> None:
    """All sessions of a broken process are run again alone; only the guilty one fails."""
    guilty = case("say before", deed, eval_id="guilty")
    others = [case("say a", "say b", "say c", eval_id=str(n)) for n in range(3)]
    waiting = [case("meet 1", "say late", eval_id=f"w{n}") for n in range(2)]
    first, *rest = await run_all(agent(tmp_path), guilty, *others, *waiting)
    assert reason in (first.error or "")
    assert texts(first) == ["before"]
    assert [trace.error for trace in rest] == [None] * 5
    assert [texts(trace) for trace in rest[:3]] == [["a", "b", "c"]] * 3


async def test_a_program_that_will_never_answer_again_is_not_waited_for(tmp_path: Path) -> None:
    """It closes its output and lives on: nobody else holds the pipe open."""
    began = time.monotonic()
    patient = agent(tmp_path, turn_timeout=600, case_timeout=600)
    (trace,) = await run_all(patient, case("say a", "mute"))
    assert "closed its standard output" in (trace.error or "")
    assert time.monotonic() - began < 300


async def test_a_session_that_waits_when_the_program_dies_is_run_again(tmp_path: Path) -> None:
    """The bystander hangs on in the shared process and has it to itself the second time."""
    waiter = case("say first", "meet 1", eval_id="waiter")
    partner = case("meet 2", eval_id="partner")
    guilty = case("say x", "say y", "crash", eval_id="guilty")
    waited, alone, crashed = await run_all(agent(tmp_path, turn_timeout=8), waiter, partner, guilty)
    assert waited.error is None
    assert "did not answer" in (alone.error or "")
    assert "exit code 3" in (crashed.error or "")


async def test_cases_after_a_crash_go_on_in_a_fresh_process(tmp_path: Path) -> None:
    """One at a time, the crash of the first leaves the second alone."""
    crashed, fine = await run_all(
        agent(tmp_path, max_sessions=1), case("crash"), case("say hello", eval_id="next")
    )
    assert crashed.error
    assert texts(fine) == ["hello"]


async def test_a_silent_session_runs_out_of_time_and_the_others_do_not(tmp_path: Path) -> None:
    """While others are answered, silence is the session's own: it is not run a second time."""
    silent, fine = await run_all(
        agent(tmp_path, turn_timeout=5.0),
        case("hang"),
        case(*["say still here"] * 50, eval_id="fine"),
    )
    assert "did not answer within 5 s" in (silent.error or "")
    assert len(fine.invocations) == 50
    assert (tmp_path / "hung").read_text() == "once\n"


async def test_queueing_in_a_program_that_takes_one_at_a_time_is_no_failure(tmp_path: Path) -> None:
    """Turns that waited too long behind others are run again alone."""
    cases = [case("wait 2", eval_id=str(n)) for n in range(4)]
    traces = await run_all(agent(tmp_path, "one_at_a_time.py", turn_timeout=5.0), *cases)
    assert [trace.error for trace in traces] == [None] * 4


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("fail no such city", "no such city"),
        ("invalid", "final_response"),
        ("nothing", "neither `invocation` nor `error`"),
    ],
)
async def test_a_bad_answer_fails_its_own_session_only(
    tmp_path: Path, deed: str, reason: str
) -> None:
    """The process lives on: the other session meets nobody's crash."""
    bad, good = await run_all(agent(tmp_path), case("say a", deed), case("say b", eval_id="good"))
    assert reason in (bad.error or "")
    assert texts(bad) == ["a"]
    assert good.error is None


async def test_a_crash_at_closing_is_the_cases_own(tmp_path: Path) -> None:
    """The turns are kept, and so is the failure."""
    (trace,) = await run_all(agent(tmp_path), case("close badly"))
    assert texts(trace) == ["soon"]
    assert "exit code 3" in (trace.error or "")


async def test_a_program_that_dies_at_start_is_soon_given_up(tmp_path: Path) -> None:
    """Every case has the reason with the log; the program is not started for each of them."""
    cases = [case("say x", eval_id=str(n)) for n in range(40)]
    traces = await run_all(agent(tmp_path, "dies_at_start.py", max_sessions=4), *cases)
    assert all("No module named 'weather'" in (trace.error or "") for trace in traces)
    assert len(traces) == 40
    assert len((tmp_path / "starts").read_text()) < 12


async def test_a_program_that_is_not_there_fails_every_case_at_once(tmp_path: Path) -> None:
    """The reason names the program."""
    runner = CommandAgent(Launch(["no-such-agent"], tmp_path, {"PATH": "/usr/bin"}))
    traces = await run_all(runner, *(case("say x", eval_id=str(n)) for n in range(20)))
    assert {trace.error for trace in traces} == {
        "the agent's program 'no-such-agent' cannot be started: No such file or directory"
    }


async def test_a_program_that_may_not_be_executed_says_so(tmp_path: Path) -> None:
    """A script without its x bit, and a folder that is not there."""
    script = tmp_path / "agent"
    script.write_text("#!/bin/sh\n")
    (trace,) = await run_all(CommandAgent(Launch(["./agent"], tmp_path, {})), case("say x"))
    assert "Permission denied" in (trace.error or "")
    (trace,) = await run_all(CommandAgent(Launch(["true"], tmp_path / "gone", {})), case("say x"))
    assert "does not exist" in (trace.error or "")


async def test_trouble_with_the_models_service_is_not_the_agents_failure(tmp_path: Path) -> None:
    """Where the program says so, in a word we know; the case was not run then."""
    async with agent(tmp_path) as runner:
        lacking = await runner.run(case("say x", "lack quota"), 1)
        odd = await runner.run(case("lack patience", eval_id="odd"), 1)
    assert isinstance(lacking, NotRun)
    assert lacking.reason.endswith("could not be used (quota): 429 Too many")
    assert isinstance(odd, Trace)
    assert odd.error == "429 Too many\nline 3"


async def test_no_process_survives_the_agent(tmp_path: Path) -> None:
    """A child that the program started is ended with it, also after a crash."""
    quiet, crashed = await run_all(
        agent(tmp_path, max_sessions=1), case("spawn"), case("spawn", "crash", eval_id="crash")
    )
    pids = [int(text) for trace in (quiet, crashed) for text in texts(trace)]
    assert len(pids) == 2
    await asyncio.to_thread(wait_for, lambda: not any(map(is_alive, pids)))


async def test_a_chain_of_children_does_not_outlive_the_agent(tmp_path: Path) -> None:
    """Each leaves the group, has a child and ends; also where they share our uid."""
    with watched(tmp_path) as lives:
        async with agent(tmp_path) as runner:
            trace = await runner.run(case("bomb"), 1)
            assert lives()
        assert not lives()
    assert isinstance(trace, Trace)
    assert texts(trace) == ["lit"]


async def test_a_cancelled_run_leaves_the_other_sessions_alone(tmp_path: Path) -> None:
    """The answer that nobody waits for any more is ignored."""
    async with agent(tmp_path) as runner:
        left = asyncio.create_task(runner.run(case("meet 2"), 1))
        await asyncio.to_thread(wait_for, (tmp_path / "met").exists)
        left.cancel()
        trace = await runner.run(case("meet 2", "say on", eval_id="on"), 1)
    assert isinstance(trace, Trace)
    assert texts(trace) == ["2 at once", "on"]


async def test_a_simulated_case_is_not_run(tmp_path: Path) -> None:
    """It says so instead of failing the agent."""
    scenario = {"starting_prompt": "hi", "conversation_plan": "chat"}
    simulated = case("say x").model_copy(
        update={
            "definition": EvalCase.model_validate(
                {"eval_id": "case", "conversation_scenario": scenario}
            )
        }
    )
    async with agent(tmp_path) as runner:
        outcome = await runner.run(simulated, 1)
    assert isinstance(outcome, NotRun)
    assert "no model here to play it" in outcome.reason


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
async def test_the_program_can_run_as_somebody_else() -> None:
    """Its processes belong to the uid that was asked for."""
    program = "import os,sys\nsys.exit(f'uid {os.getuid()} gid {os.getgid()} {os.getgroups()}')"
    environ = {"PATH": "/usr/bin:/bin"}
    launch = Launch(["python3", "-c", program], Path("/"), environ, user=(4321, 4322))
    runner = CommandAgent(launch)
    (trace,) = await run_all(runner, case("say x"))
    assert "uid 4321 gid 4322 []" in (trace.error or "")


async def test_the_program_sees_only_what_it_is_given(tmp_path: Path) -> None:
    """Neither GitHub's variables nor ours reach it."""
    environ = {**os.environ, "GITHUB_TOKEN": "t", "KEY": "k", "OTHER": "o", "MORE": "m"}
    launch = Launch(
        [sys.executable, str(PROGRAMS / "scripted.py")],
        tmp_path,
        agent_environment(environ, {"KEY": "KEY", "MINE": "OTHER", "NONE": "UNSET"}, tmp_path),
    )
    runner = CommandAgent(launch)
    (trace,) = await run_all(runner, case("environment"))
    seen = set(texts(trace)[0].split())
    assert seen - {"LANG", "LC_ALL", "LC_CTYPE"} == {"HOME", "KEY", "MINE", "PATH", "TMPDIR"}


@pytest.mark.parametrize("name", ["INPUT_GITHUB-TOKEN", "GITHUB_TOKEN"])
def test_the_jobs_token_is_handed_on_under_no_name(name: str, tmp_path: Path) -> None:
    """The message names the variable that holds it; another one's token is nobody's business."""
    environ = {name: "ghs_0123456789", "BOT": "bearer ghs_0123456789", "OTHER": "ghs_9876543210"}
    with pytest.raises(InputError, match="must not name BOT"):
        agent_environment(environ, {"KEY": "BOT"}, tmp_path)
    assert agent_environment(environ, {"KEY": "OTHER"}, tmp_path)["KEY"] == "ghs_9876543210"


def test_a_plain_python_is_found_where_path_has_none(tmp_path: Path) -> None:
    """Our own interpreter's folder is appended, and only then."""
    bare = {"PATH": str(tmp_path)}
    ours = str(Path(sys.executable).parent)
    found = agent_environment(bare, {}, tmp_path, ["python", "serve.py"])["PATH"]
    assert found == f"{tmp_path}:{ours}"
    assert agent_environment(bare, {}, tmp_path, ["node"])["PATH"] == str(tmp_path)
    assert agent_environment({"PATH": ours}, {}, tmp_path, ["python"])["PATH"] == ours


@pytest.mark.trust
@pytest.mark.parametrize("words", ["log", "fail", "say"])
async def test_no_cut_leaves_half_a_key(tmp_path: Path, words: str) -> None:
    """A key that an agent puts where its words are clipped leaves no part of itself."""
    key = "k9" * 40
    program = (
        "import os, json, sys\nkey = os.environ['A_KEY']\n"
        + {
            "log": "sys.stderr.write('a' * 8_172 + key + 'b' * 8_152)",
            "fail": "print(json.dumps({'session': 's1', 'error': 'a' * 3_960 + key}))",
            "say": "print('a' * 160 + key)",
        }[words]
    )
    environ = {**agent_environment(os.environ, {}, tmp_path), "A_KEY": key}
    launch = Launch([sys.executable, "-c", program], tmp_path, environ)
    (trace,) = await run_all(CommandAgent(launch), case("hello"))
    assert trace.error
    assert len(trace.error) > 150
    assert "k9k9" not in trace.error


async def test_no_run_of_a_case_hears_what_an_earlier_one_left(tmp_path: Path) -> None:
    """A program that keeps its answers has none to repeat; cases share a process all the same."""
    homes = iter(range(100))

    def renew(launch: Launch) -> Launch:
        home = tmp_path / f"home-{next(homes)}"
        home.mkdir()
        return replace(launch, env={**launch.env, "HOME": str(home), "TMPDIR": str(home)})

    command = [sys.executable, str(PROGRAMS / "keeper.py")]
    launch = Launch(command, tmp_path, agent_environment(os.environ, {}, tmp_path))
    both = [case("one", eval_id="one"), case("two", eval_id="two")]
    async with CommandAgent(launch, renew=renew) as runner:
        rounds = [
            await asyncio.gather(*(runner.run(each, number) for each in both))
            for number in (1, 2, 3)
        ]
    answers = [[texts(trace)[0] for trace in made if isinstance(trace, Trace)] for made in rounds]
    assert len({text for made in answers for text in made}) == 6
    assert [len({text.split()[0] for text in made}) for made in answers] == [1, 1, 1]


@pytest.mark.slow
async def test_a_case_that_hung_alone_is_waited_for_once_in_each_later_run(tmp_path: Path) -> None:
    """Two that hang together are tried again alone, to see whose doing it is: then it is known."""
    both = [case("hang", eval_id="one"), case("hang", eval_id="two")]
    async with agent(tmp_path, turn_timeout=6.0) as runner:
        for number, hung in ((1, 4), (2, 6)):
            await asyncio.gather(*(runner.run(each, number) for each in both))
            assert len((tmp_path / "hung").read_text().splitlines()) == hung


async def test_a_variable_can_be_new_in_every_process(place: Path) -> None:
    """What keeps answers elsewhere can be given another key for each run."""
    root = place / "sides" / "export"
    root.mkdir(parents=True)
    program = shutil.copy(PROGRAMS / "scripted.py", root)
    with Sandbox.for_side(root) as sandbox:
        launch = sandbox.launch(["python3", str(program)], os.environ)
        renew = partial(sandbox.renewed, fresh="SALT")
        async with CommandAgent(launch, renew=renew) as runner:
            runs = [await runner.run(case("read /proc/self/environ"), run) for run in (1, 2, 3)]
    seen = [texts(trace)[0].split("\0") for trace in runs if isinstance(trace, Trace)]
    salts = {line for variables in seen for line in variables if line.startswith("SALT=")}
    assert len(salts) == 3
