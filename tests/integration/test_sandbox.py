"""What an agent can do to us, to the other side and to the machine: nothing beyond its case."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradegate.agents.launch import Launch, Limits
from gradegate.agents.line_agent import CommandAgent
from gradegate.agents.sandbox import Sandbox
from gradegate.model.runs import Trace
from tests.integration.test_line_agent import (
    PROGRAMS,
    case,
    is_alive,
    run_all,
    texts,
    wait_for,
    watched,
)

pytestmark = pytest.mark.trust

SYSTEM_PYTHON = Path("/usr/bin/python3")
NEEDED = Limits(memory_mb=512)

as_root = pytest.mark.skipif(
    os.getuid() != 0 or not SYSTEM_PYTHON.exists(),
    reason="needs root, to become somebody else, and a /usr/bin/python3 that everybody may run",
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users can get to, as pytest's own cannot be."""
    with tempfile.TemporaryDirectory(prefix="gradegate-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name).resolve()


@pytest.fixture
def sandbox(folder: Path) -> Iterator[Sandbox]:
    """The sandbox of a side with one file in its checkout."""
    with make_sandbox(folder / "sides" / "head") as made:
        yield made


def make_sandbox(checkout: Path) -> Sandbox:
    """A sandbox around a checkout with one file."""
    checkout.mkdir(parents=True)
    (checkout / "agent.txt").write_text("as committed")
    return Sandbox.for_side(checkout, [SYSTEM_PYTHON])


def agent(
    sandbox: Sandbox, limits: Limits = NEEDED, *, turn_timeout: float = 20.0, sessions: int = 8
) -> CommandAgent:
    """The agent that does as its user says, in the sandbox."""
    command = [python_for(sandbox), program_for(sandbox, "scripted.py")]
    launch = sandbox.launch(command, os.environ, {}, limits)
    return CommandAgent(launch, turn_timeout=turn_timeout, max_sessions=sessions)


def python_for(sandbox: Sandbox) -> str:
    """An interpreter that the agent can reach."""
    return str(SYSTEM_PYTHON) if sandbox.user else sys.executable


def program_for(sandbox: Sandbox, name: str) -> str:
    """A copy of a program where the agent can reach it: our own tree may be closed to it."""
    return str(shutil.copy(PROGRAMS / name, sandbox.home))


async def test_a_child_that_leaves_the_group_ends_with_the_program(sandbox: Sandbox) -> None:
    """Quietly, after a crash, and with the parent hanging: each time the daemon is gone."""
    quiet, crashed, hung = await run_all(
        agent(sandbox, turn_timeout=8.0, sessions=1),
        case("escape", eval_id="quiet"),
        case("escape", "crash", eval_id="crashed"),
        case("escape", "hang", eval_id="hung"),
    )
    pids = [int(texts(trace)[0]) for trace in (quiet, crashed, hung)]
    assert len(set(pids)) == 3
    wait_for(lambda: not any(map(is_alive, pids)))
    assert quiet.error is None
    assert "exit code 3" in (crashed.error or "")
    assert "did not answer within 8 s" in (hung.error or "")


@as_root
async def test_a_chain_of_children_without_end_is_ended(folder: Path) -> None:
    """Each generation leaves the group, has a child and is gone."""
    with make_sandbox(folder / "sides" / "head") as sandbox, watched(sandbox.checkout) as lives:
        async with agent(sandbox) as runner:
            trace = await runner.run(case("bomb"), 1)
            assert lives()
        sandbox.close()
        assert not lives()
    assert isinstance(trace, Trace)
    assert texts(trace) == ["lit"]
    assert sandbox.warning is None


CHAIN = """
import os
held = os.open("alive", os.O_WRONLY)
if os.fork() == 0:
    while not os.access("stop", os.F_OK):
        os.setsid()
        if os.fork():
            break
"""


def start_chain(cwd: Path, user: tuple[int, int]) -> None:
    """Leave a chain of children behind that nobody watches over."""
    python = [str(SYSTEM_PYTHON), "-I", "-S", "-c", CHAIN]
    subprocess.run(python, cwd=cwd, user=user[0], group=user[1], extra_groups=[], check=True)


@as_root
@pytest.mark.parametrize("attempt", range(8))
def test_a_chain_that_got_away_ends_with_the_sandbox(folder: Path, attempt: int) -> None:
    """Whoever looks for its processes is too late for each: several tries, to meet them all."""
    with make_sandbox(folder / str(attempt) / "head") as sandbox:
        assert sandbox.user
        with watched(sandbox.checkout) as lives:
            start_chain(sandbox.checkout, sandbox.user)
            assert lives()
            sandbox.close()
            assert not lives()
    assert sandbox.warning is None


@as_root
def test_a_uid_with_a_chain_of_somebody_else_is_not_taken(folder: Path) -> None:
    """One that a job which was killed has left behind, for instance."""
    (folder / "chain").mkdir()
    for attempt in range(20):
        with make_sandbox(folder / f"{attempt}a" / "head") as one:
            assert one.user
            freed = one.user
        (folder / "chain" / str(attempt)).mkdir()
        with watched(folder / "chain" / str(attempt)) as lives:
            start_chain(folder / "chain" / str(attempt), freed)
            with make_sandbox(folder / f"{attempt}b" / "head") as two:
                # Another worker may have had the uid before the chain began, and have ended it.
                assert two.user != freed or not lives()


@as_root
def test_what_got_away_all_the_same_ends_with_the_sandbox(folder: Path) -> None:
    """All processes of the agent's uid, whoever started them, and nobody else's."""
    with make_sandbox(folder / "a" / "head") as sandbox, make_sandbox(folder / "b" / "head") as two:
        assert sandbox.user
        assert two.user
        mine, theirs = (
            subprocess.Popen(["/bin/sleep", "60"], user=user[0], group=user[1])
            for user in (sandbox.user, two.user)
        )
        sandbox.close()
        assert mine.wait(60) == -signal.SIGKILL
        assert theirs.poll() is None
    assert theirs.wait(60) == -signal.SIGKILL


async def test_memory_without_end_fails_its_own_case(sandbox: Sandbox) -> None:
    """The glutton meets its limit and the case beside it is fine."""
    glutton, other = await run_all(
        agent(sandbox), case("eat", eval_id="eat"), case("say hello", eval_id="other")
    )
    assert "no more memory" in (glutton.error or "")
    assert "exit code 3" in (glutton.error or "")
    assert texts(other) == ["hello"]


async def test_no_file_grows_without_end_and_no_core_is_left(sandbox: Sandbox) -> None:
    """A file larger than allowed ends the one who writes it."""
    program = "open('big', 'wb').write(bytes(9 << 20))"
    python = python_for(sandbox)
    launch = sandbox.launch([python, "-c", program], os.environ, {}, Limits(file_mb=8))
    (trace,) = await run_all(CommandAgent(launch), case("say x"))
    assert "signal 25" in (trace.error or "") or "File too large" in (trace.error or "")
    assert (sandbox.checkout / "big").stat().st_size <= 8 << 20


async def test_processor_time_is_limited(sandbox: Sandbox) -> None:
    """A busy loop ends by itself."""
    python = python_for(sandbox)
    launch = sandbox.launch(
        [python, "-c", "while True: pass"], os.environ, {}, Limits(cpu_seconds=1)
    )
    (trace,) = await run_all(CommandAgent(launch), case("say x"))
    assert "Killed" in (trace.error or "") or "CPU time limit" in (trace.error or "")


@as_root
async def test_the_number_of_processes_is_limited(sandbox: Sandbox) -> None:
    """Forking without end fails in the agent, not in everybody else's."""
    program = "import os\nfor n in range(100):\n if not os.fork(): os.read(0, 1); os._exit(0)"
    launch = sandbox.launch(
        [str(SYSTEM_PYTHON), "-c", program], os.environ, {}, Limits(processes=20)
    )
    (trace,) = await run_all(CommandAgent(launch), case("say x"))
    assert "BlockingIOError" in (trace.error or "")


async def test_a_case_has_its_time_and_no_more(sandbox: Sandbox) -> None:
    """Turns that are each in time can still be too many together."""
    command = [python_for(sandbox), program_for(sandbox, "one_at_a_time.py")]
    launch = sandbox.launch(command, os.environ)
    runner = CommandAgent(launch, turn_timeout=60, case_timeout=7.5, max_sessions=1)
    (trace,) = await run_all(runner, case(*["wait 1"] * 8))
    assert "took more than 7.5 s over the case" in (trace.error or "")
    assert 1 <= len(trace.invocations) <= 7


async def test_garbage_and_an_exit_in_turn_two_harm_nobody_else(sandbox: Sandbox) -> None:
    """Each fails its own case with what it had until then."""
    noisy, gone, other = await run_all(
        agent(sandbox),
        case("say a", "garbage", eval_id="noisy"),
        case("say b", "crash", eval_id="gone"),
        case("say c", "say d", eval_id="other"),
    )
    assert "not an answer in JSON" in (noisy.error or "")
    assert "exit code 3" in (gone.error or "")
    assert [texts(t) for t in (noisy, gone, other)] == [["a"], ["b"], ["c", "d"]]
    assert other.error is None


@as_root
async def test_a_side_has_its_own_checkout_and_no_other(folder: Path) -> None:
    """The other side's files, its home and ours can be neither changed nor read."""
    sides = folder / "sides"
    with make_sandbox(sides / "base") as base, make_sandbox(sides / "head") as head:
        traces = await run_all(
            agent(head),
            case("write agent.txt", eval_id="own"),
            case(f"write {head.home}/note", eval_id="home"),
            case(f"write {base.checkout}/agent.txt", eval_id="other"),
            case(f"write {sides}/new", eval_id="above"),
            case(f"write {base.home}/note", eval_id="their home"),
            case(f"read {base.checkout}/agent.txt", eval_id="look"),
        )
        assert base.user
        assert head.user
        assert base.user != head.user
        assert (base.checkout / "agent.txt").read_text() == "as committed"
        assert (head.checkout / "agent.txt").read_text() == "changed"
    own, home, *forbidden = traces
    assert texts(own) == texts(home) == ["changed"]
    assert not any(map(texts, forbidden))
    assert sorted(p.name for p in sides.iterdir()) == ["base", "head"]


async def test_nothing_but_three_pipes_is_open(sandbox: Sandbox) -> None:
    """What we have open, a store for one, is not handed down; the fourth is its own listing."""
    with (sandbox.home / "ours").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)  # noqa: FBT003 - positional only
        (trace,) = await run_all(agent(sandbox), case("descriptors"))
    assert texts(trace) == ["0 1 2 3"]


async def test_the_agent_cannot_gain_rights(sandbox: Sandbox) -> None:
    """Set-user-ID programs do nothing for it."""
    python = python_for(sandbox)
    program = "import sys; sys.exit(open('/proc/self/status').read())"
    launch = sandbox.launch([python, "-c", program], os.environ)
    (trace,) = await run_all(CommandAgent(launch), case("say x"))
    assert "NoNewPrivs:\t1" in (trace.error or "")


def test_the_agent_ends_when_we_are_killed(folder: Path) -> None:
    """Even where nothing of ours is left to clean up."""
    us = subprocess.Popen([sys.executable, "-c", KILLED_JOB, str(PROGRAMS / "napper.py"), folder])
    pids = wait_for(lambda: written_pids(folder / "pids"))
    assert all(map(is_alive, pids))
    us.send_signal(signal.SIGKILL)
    us.wait()
    wait_for(lambda: not any(map(is_alive, pids)))


KILLED_JOB = """
import asyncio, sys
from pathlib import Path
from gradegate.agents.launch import Launch
from gradegate.agents.line_process import LineProcess

async def main():
    await LineProcess.start(Launch([sys.executable, sys.argv[1]], Path(sys.argv[2]), {}))
    await asyncio.sleep(60)

asyncio.run(main())
"""


def written_pids(path: Path) -> list[int]:
    """What the napper wrote, once it is all there."""
    said = path.read_text() if path.exists() else ""
    return [int(pid) for pid in said.split()] if said.endswith("\n") else []


@as_root
def test_an_interpreter_nobody_else_can_reach_keeps_our_uid_and_says_so(folder: Path) -> None:
    """The warning names the folder that is closed."""
    closed = folder / "closed"
    (closed / "bin").mkdir(parents=True)
    (closed / "bin" / "python").symlink_to(SYSTEM_PYTHON)
    closed.chmod(0o700)
    (folder / "sides" / "head").mkdir(parents=True)
    with Sandbox.for_side(folder / "sides" / "head", [closed / "bin" / "python"]) as sandbox:
        assert sandbox.user is None
        assert sandbox.warning is not None
        assert f"no other user can get through {closed} to" in sandbox.warning.text
        assert sandbox.blocked_at(closed / "bin" / "python") is None, "as us it gets there"
    with Sandbox.for_side(folder / "sides" / "head", [SYSTEM_PYTHON]) as sandbox:
        assert sandbox.blocked_at(closed / "bin" / "python") == closed
        assert sandbox.blocked_at(SYSTEM_PYTHON) is None


@as_root
def test_two_sandboxes_at_once_never_share_a_uid(folder: Path) -> None:
    """Not even between processes: the kernel holds the claim, and a leftover process keeps it."""
    with make_sandbox(folder / "a" / "head") as one, make_sandbox(folder / "b" / "head") as two:
        assert one.user
        assert two.user
        assert one.user != two.user
        freed = one.user
    left = subprocess.Popen(["/bin/sleep", "60"], user=freed[0], group=freed[1])
    try:
        with make_sandbox(folder / "c" / "head") as three:
            # Another worker may have had the uid before the sleeper, and have ended that.
            assert three.user != freed or left.poll() is not None
    finally:
        left.kill()
        left.wait()


async def test_a_launch_keeps_secrets_out_of_its_repr(tmp_path: Path) -> None:
    """Logs and assertions may show a launch."""
    assert "s3cret" not in repr(Launch(["x"], tmp_path, {"KEY": "s3cret"}))
