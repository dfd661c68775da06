"""Where agents and builds may write and connect to, as the kernel has it: no call is made up."""

import json
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from gradegate.agents.landlock import Confinement, abi, confinement
from gradegate.agents.launch import Launch, run_to_end
from gradegate.agents.sandbox import Sandbox
from gradegate.model.settings import Network
from tests.integration.test_sandbox import make_sandbox, python_for

STANDINS = Path(__file__).parents[1] / "standins"
DONE, REFUSED = "done", "PermissionError"

needs_files = pytest.mark.skipif(abi() < 1, reason="needs a kernel with Landlock")
needs_ports = pytest.mark.skipif(abi() < 4, reason="needs a kernel whose Landlock knows ports")
needs_scopes = pytest.mark.skipif(abi() < 6, reason="needs a kernel whose Landlock knows signals")


async def tried(launch: Launch, attempts: list[tuple[str, str]]) -> dict[str, str]:
    """What became of the attempts."""
    place = launch.cwd
    shutil.copy(STANDINS / "agents" / "reaching.py", place)
    (place / "reach.json").write_text(json.dumps(attempts))
    command = [launch.command[0], str(place / "reaching.py"), "once"]
    ended = await run_to_end(replace(launch, command=command), 60)
    assert ended.code == 0, ended.output
    outcomes = json.loads(ended.output)
    return {key.partition(" ")[0] + " " + Path(key).name: said for key, said in outcomes.items()}


@contextmanager
def sandboxed(place: Path, network: Network = "open") -> Iterator[tuple[Sandbox, Launch]]:
    """A sandbox, and how a program is started in it."""
    with make_sandbox(place / "sides" / "head") as sandbox:
        python = [python_for(sandbox)]
        yield sandbox, sandbox.launch(python, os.environ, network=network)


@pytest.fixture
def open_to_all(place: Path) -> Path:
    """A folder outside every checkout, where file permissions let anybody write."""
    folder = place / "open"
    folder.mkdir()
    folder.chmod(0o777)
    (folder / "file").write_text("not the agent's")
    (folder / "file").chmod(0o666)
    return folder


def writes(place: Path) -> list[tuple[str, str]]:
    """Every way to change what is in a folder."""
    return [
        ("write", f"{place}/new"),
        ("mkdir", f"{place}/folder"),
        ("link", f"{place}/link"),
        ("write", f"{place}/file"),
        ("truncate", f"{place}/file"),
        ("remove", f"{place}/file"),
    ]


@pytest.mark.trust
@needs_files
async def test_an_agent_writes_to_its_own_folders_alone(place: Path, open_to_all: Path) -> None:
    """An agent writes, links and deletes in folders that are open to all, as /tmp is."""
    with sandboxed(place) as (sandbox, launch):
        own = [*writes(sandbox.home), ("semaphore", ""), ("write", "/dev/null")]
        (sandbox.home / "file").write_text("")
        (sandbox.home / "file").chmod(0o666)
        assert set((await tried(launch, own)).values()) == {DONE}
        allowed = {"truncate file"} if abi() < 3 else set()
        outcomes = await tried(launch, writes(open_to_all))
        assert {what for what, said in outcomes.items() if said == DONE} <= allowed, outcomes
        unconfined = await tried(replace(launch, confinement=None), writes(open_to_all))
    assert set(unconfined.values()) == {DONE}, "the control: permissions alone allow all of it"


@pytest.mark.trust
@needs_ports
@pytest.mark.parametrize("how", ["connect", "listen"])
async def test_an_agent_uses_the_ports_it_was_given(place: Path, how: str) -> None:
    """An agent connects to, or listens on, a TCP port that base's suite does not allow."""
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("127.0.0.1", 0)) as two,
    ):
        ports = [server.getsockname()[1] for server in (one, two)]
        if how == "listen":
            one.close()
            two.close()
        attempts = [(how, str(port)) for port in ports]
        said: dict[str, list[str]] = {}
        allowed: dict[str, Network] = {"open": "open", "none": "none", "one": (ports[0],)}
        for name, network in allowed.items():
            with sandboxed(place / name, network) as (_, launch):
                said[name] = list((await tried(launch, attempts)).values())
    assert said == {
        "open": [DONE, DONE],
        "none": [REFUSED, REFUSED],
        "one": [DONE, REFUSED],
    }


@pytest.mark.trust
@needs_scopes
async def test_an_agent_reaches_no_process_of_ours(place: Path) -> None:
    """An agent of our own uid sends signals to us, or calls on a socket without a file."""
    with socket.socket(socket.AF_UNIX) as server, sandboxed(place) as (_, launch):
        name = f"gradegate-test-{os.getpid()}"
        server.bind(f"\0{name}")
        server.listen()
        ours = replace(launch, user=None)
        attempts = [("signal", str(os.getpid())), ("abstract", name)]
        assert set((await tried(ours, attempts)).values()) == {REFUSED}
        unconfined = await tried(replace(ours, confinement=None), attempts)
        assert set(unconfined.values()) == {DONE}


@needs_files
@pytest.mark.parametrize("version", [v for v in (1, 2, 3, 4, 6) if v <= abi()])
async def test_what_older_kernels_know_is_enough_to_start(
    place: Path, open_to_all: Path, version: int
) -> None:
    """Each version's rules are taken by this kernel, and keep new files out."""
    with sandboxed(place) as (sandbox, launch):
        older = confinement((sandbox.checkout, sandbox.home), "none", version)
        assert isinstance(older, Confinement)
        attempts = [("write", f"{open_to_all}/new"), ("write", f"{sandbox.home}/own")]
        outcomes = await tried(replace(launch, confinement=older), attempts)
    assert outcomes == {"write new": REFUSED, "write own": DONE}
