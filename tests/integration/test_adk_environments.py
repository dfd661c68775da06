"""Environments made with the real uv from the real index."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradegate.agents.environments import Builder, NotBuilt
from gradegate.agents.recipes import Kind, Recipe
from tests.integration.adk import write

NEEDS = "idna==3.10\n"
PROJECT = """
[project]
name = "x"
version = "1"
requires-python = ">=3.10"
dependencies = ["idna==3.10"]
[dependency-groups]
dev = ["toolz"]
"""


def requirements(place: Path, text: str = NEEDS) -> Recipe:
    """A requirements file to install."""
    write(place, {"side/requirements.txt": text})
    return Recipe(Kind.REQUIREMENTS, place / "side", place / "side" / "requirements.txt")


def installed(python: Path) -> dict[str, str]:
    """What is there, by name."""
    code = "import importlib.metadata as m\nfor d in m.distributions(): print(d.name, d.version)"
    out = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout
    return dict(line.split() for line in out.splitlines())


async def test_an_environment_is_made_once_and_kept(place: Path) -> None:
    """What is asked for is there, google-adk in any case; asking again takes no time."""
    builder = Builder(place / "cache", os.environ)
    first = await builder.build(requirements(place))
    assert isinstance(first, Path)
    assert installed(first)["idna"] == "3.10"
    assert installed(first)["google-adk"] == "2.13.0"
    began = time.monotonic()
    assert await Builder(place / "cache", os.environ).build(requirements(place)) == first
    assert time.monotonic() - began < 1


async def test_two_who_ask_at_once_have_it_made_once(place: Path) -> None:
    """In two processes and two tasks: one environment, nobody sees it half made."""
    recipe = requirements(place)
    code = (
        "import asyncio, os, sys\nfrom pathlib import Path\n"
        "from gradegate.agents.environments import Builder\n"
        "from gradegate.agents.recipes import Kind, Recipe\n"
        "side = Path(sys.argv[1])\n"
        "recipe = Recipe(Kind.REQUIREMENTS, side, side / 'requirements.txt')\n"
        "print(asyncio.run(Builder(side.parent / 'cache', os.environ).build(recipe)))"
    )
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, str(recipe.folder), stdout=subprocess.PIPE
    )
    builder = Builder(place / "cache", os.environ)
    mine, too = await asyncio.gather(builder.build(recipe), builder.build(recipe))
    theirs, _ = await other.communicate()
    assert mine == too
    assert theirs.decode().strip() == str(mine)
    assert len(list((place / "cache").glob("*/.ready"))) == 1


async def test_one_that_was_left_half_made_is_made_again(place: Path) -> None:
    """Killed in the middle, the next run does not take it for finished."""
    builder = Builder(place / "cache", os.environ)
    python = await builder.build(requirements(place))
    assert isinstance(python, Path)
    home = python.parents[2]
    (home / ".ready").unlink()
    python.unlink()
    assert await builder.build(requirements(place)) == python
    assert installed(python)["idna"] == "3.10"


async def test_what_cannot_be_installed_is_said_in_uvs_words(place: Path) -> None:
    """And nothing is left of it."""
    failed = await Builder(place / "cache", os.environ).build(requirements(place, "idna==99\n"))
    assert isinstance(failed, NotBuilt)
    assert failed.reason.startswith("requirements.txt cannot be installed:\n")
    assert "idna==99" in failed.reason
    assert [p.suffix for p in (place / "cache").iterdir()] == [".lock"]


async def test_too_slow_an_installation_is_ended(place: Path) -> None:
    """With a reason instead of a hung job."""
    builder = Builder(place / "cache", os.environ, time_limit=0.01)
    failed = await builder.build(requirements(place))
    assert isinstance(failed, NotBuilt)
    assert "it took longer than" in failed.reason


@pytest.mark.parametrize("kind", [Kind.PROJECT, Kind.LOCKED])
async def test_a_projects_dependencies_are_installed_without_it(place: Path, kind: Kind) -> None:
    """Neither the project itself nor what only its developers need; the side stays as it was."""
    side = write(place / "side", {"pyproject.toml": PROJECT})
    if kind == Kind.LOCKED:
        uv = Path(sys.executable).parent / "uv"
        subprocess.run([uv, "lock", "--quiet"], cwd=side, check=True)  # noqa: ASYNC221 - a moment
    before = sorted(side.rglob("*"))
    python = await Builder(place / "cache", os.environ).build(Recipe(kind, side))
    assert isinstance(python, Path), python
    there = installed(python)
    assert there["idna"] == "3.10"
    assert not {"x", "toolz"} & set(there)
    assert sorted(side.rglob("*")) == before


async def test_installing_sees_nothing_but_what_uv_needs(place: Path) -> None:
    """Code that runs while it is installed finds no key and no token."""
    seen = place / "seen"
    seen.mkdir(mode=0o777)
    seen.chmod(0o777)
    setup = (
        "import os, setuptools\n"
        f"open({str(seen / 'names')!r}, 'w').write(' '.join(os.environ))\n"
        "setuptools.setup(name='spy', version='1')\n"
    )
    write(place, {"side/spy/setup.py": setup})
    secrets = {"GOOGLE_API_KEY": "k", "GITHUB_TOKEN": "t", "UV_INDEX_A_PASSWORD": "p"}
    user = (10777, 10777) if os.getuid() == 0 else None
    if user:
        os.chown(place / "side" / "spy", *user)
    builder = Builder(
        place / "cache", {**os.environ, **secrets}, ["GOOGLE_API_KEY", "UV_INDEX_A_PASSWORD"], user
    )
    python = await builder.build(requirements(place, "./spy\n"))
    assert isinstance(python, Path), python
    names = (seen / "names").read_text().split()
    assert "UV_INDEX_A_PASSWORD" in names
    assert not {"GOOGLE_API_KEY", "GITHUB_TOKEN"} & set(names)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can install as somebody else")
async def test_what_another_user_installed_is_ours(place: Path) -> None:
    """Neither that user's code nor its agent can change it for the next one."""
    builder = Builder(place / "cache", os.environ, (), (10777, 10777))
    python = await builder.build(requirements(place))
    assert isinstance(python, Path), python
    for path in (python.parents[2], *python.parents[2].rglob("*")):
        status = path.lstat()
        assert status.st_uid == 0, path
        assert path.is_symlink() or not status.st_mode & 0o022, path


@pytest.mark.skipif(os.getuid() != 0, reason="only root can install as somebody else")
async def test_a_cache_that_the_user_cannot_enter_is_not_used(place: Path) -> None:
    """The environment is made where the agent can get to it, and not kept."""
    cache, spare = place / "cache", place / "spare"
    cache.mkdir(mode=0o700)
    spare.mkdir()
    builder = Builder(cache, os.environ, (), (10777, 10777), spare)
    python = await builder.build(requirements(place))
    assert isinstance(python, Path), python
    assert python.is_relative_to(spare)
