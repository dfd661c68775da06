"""What lies below a folder that is closed to others, as root's home is on most systems."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from gradegate.agents.environment import AgentEnvironment, Interpreter
from gradegate.agents.sandbox import Sandbox
from gradegate.agents.uv import EnvironmentBuilder, NotBuilt
from gradegate.agents.uv_calls import uv_for_others
from gradegate.model.notice import Notice
from gradegate.model.settings import Suite
from tests.integration.test_adk_environments import requirements
from tests.integration.test_sandbox import SYSTEM_PYTHON, as_root

OURS = Path(sys.executable).with_name("uv")


@pytest.fixture
def closed(place: Path) -> Path:
    """A folder that only we may enter."""
    (place / "closed").mkdir(mode=0o700)
    return place / "closed"


def program(path: Path, text: str) -> Path:
    """A shell script to run."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@as_root
async def test_a_uv_that_the_agents_user_cannot_reach_builds_all_the_same(
    place: Path, closed: Path
) -> None:
    """A copy of it does, as that user: uv itself says what it cannot find."""
    shutil.copy(OURS, closed / "uv")
    environ = {**os.environ, "PATH": f"{closed}:{os.environ['PATH']}"}
    builder = EnvironmentBuilder(place / "cache", environ, {}, apart=True)
    failed = await builder.build(requirements(place, "./not-there\n"))
    assert isinstance(failed, NotBuilt)
    assert failed.why.text.startswith("requirements.txt cannot be installed:\n")
    assert "not-there" in failed.why.text


@as_root
async def test_a_uv_that_does_not_run_elsewhere_is_passed_over_for_one_that_does(
    place: Path, closed: Path
) -> None:
    """As the scripts that lead to the version in use are; where none runs, it is said why."""
    shim = program(closed / "uv", f"exec {closed}/there/uv")
    other = program(place / "uv", "exit 0")
    tried: list[Path] = []

    async def runs(path: str) -> bool:
        tried.append(Path(path))
        return False

    async with uv_for_others([str(shim), str(other)], runs) as found:
        assert found == (str(other), str(other))
    async with uv_for_others([str(shim)], runs) as none:
        assert isinstance(none, Notice)
        assert f"nobody else gets through {closed}," in none.text
        assert "install uv where everybody may run it" in none.text
    async with uv_for_others([], runs) as missing:
        assert "uv is not installed" in str(missing)
    assert len(tried) == 2
    assert not any(path.exists() for path in tried), "copies are removed"


@as_root
async def test_an_interpreter_the_agent_cannot_reach_is_told(place: Path, closed: Path) -> None:
    """By the folder that is closed; one in the checkout is the agent's own to run."""
    (closed / "python").symlink_to(SYSTEM_PYTHON)
    checkout = place / "sides" / "head"
    (checkout / "bin").mkdir(parents=True)
    (checkout / "bin" / "python").symlink_to(SYSTEM_PYTHON)
    (checkout / "bin" / "away").symlink_to(program(closed / "other", "exit 0"))
    with Sandbox.for_side(checkout) as sandbox:
        assert sandbox.user

        async def chosen(python: str) -> Interpreter | Notice:
            suite = Suite(name="desk", agent=".", python=python)
            environment = AgentEnvironment(suite, checkout, sandbox, place / "cache", os.environ)
            return await environment.interpreter(checkout, place)

        for python in (str(closed / "python"), "bin/away"):
            told = await chosen(python)
            assert f"cannot run {python}: nobody else gets through {closed};" in str(told)
        assert await chosen("bin/python") == Interpreter(checkout / "bin" / "python", (checkout,))
        assert isinstance(await chosen(str(SYSTEM_PYTHON)), Interpreter)
