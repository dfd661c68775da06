"""Environments made with the real uv, from an index of small packages and from the real one."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradegate.agents.requirements import Kind, Recipe, find_recipe
from gradegate.agents.uv import EnvironmentBuilder, NotBuilt
from gradegate.model.variables import own_names
from tests.integration.adk import write
from tests.integration.small_index import add_wheel, small_index
from tests.places import open_place

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
SMALL = {"idna": "3.10", "toolz": "1.0", "google-adk": "2.13.0"}


@pytest.fixture(scope="module")
def index() -> Iterator[dict[str, str]]:
    """An environment in which uv's index has the packages wanted here, each without content.

    google-adk with all it needs is the dearest part of an environment, and the same in all.
    """
    with open_place() as folder:
        yield {**os.environ, "UV_DEFAULT_INDEX": small_index(folder, SMALL)}


def builder(cache: Path, environ: dict[str, str], **more: Any) -> EnvironmentBuilder:
    """One that goes to the index in this environment."""
    return EnvironmentBuilder(cache, environ, own_names("UV_DEFAULT_INDEX"), **more)


def requirements(place: Path, text: str = NEEDS) -> Recipe:
    """A requirements file to install."""
    write(place, {"side/requirements.txt": text})
    return Recipe(Kind.REQUIREMENTS, place / "side", place / "side" / "requirements.txt")


def installed(python: Path) -> dict[str, str]:
    """What is there, by name."""
    code = "import importlib.metadata as m\nfor d in m.distributions(): print(d.name, d.version)"
    out = subprocess.run(
        [python, "-I", "-c", code], capture_output=True, text=True, check=True
    ).stdout
    return dict(line.split() for line in out.splitlines())


async def test_an_environment_is_made_once_and_kept(place: Path, index: dict[str, str]) -> None:
    """What is asked for is there, google-adk in any case; asking again makes nothing."""
    first = await builder(place / "cache", index).build(requirements(place))
    assert isinstance(first, Path)
    assert installed(first)["idna"] == "3.10"
    assert installed(first)["google-adk"] == "2.13.0"
    in_no_time = builder(place / "cache", index, time_limit=0.0)
    assert await in_no_time.build(requirements(place)) == first


async def test_who_asks_for_nothing_gets_google_adk(place: Path, index: dict[str, str]) -> None:
    """There is no agent without it."""
    (place / "side").mkdir()
    python = await builder(place / "cache", index).build(Recipe(Kind.NOTHING, place / "side"))
    assert isinstance(python, Path), python
    assert installed(python) == {"google-adk": "2.13.0"}


@pytest.mark.slow
async def test_the_real_index_has_what_is_wanted(place: Path) -> None:
    """google-adk with all it needs, beside what is asked for."""
    python = await EnvironmentBuilder(place / "cache", os.environ).build(requirements(place))
    assert isinstance(python, Path), python
    assert installed(python)["idna"] == "3.10"
    assert installed(python)["google-adk"] == "2.13.0"
    assert "google-genai" in installed(python)


async def test_two_who_ask_at_once_have_it_made_once(place: Path, index: dict[str, str]) -> None:
    """In two processes and two tasks: one environment, nobody sees it half made."""
    recipe = requirements(place)
    code = (
        "import asyncio, os, sys\nfrom pathlib import Path\n"
        "from gradegate.agents.uv import EnvironmentBuilder\n"
        "from gradegate.agents.requirements import Kind, Recipe\n"
        "side = Path(sys.argv[1])\n"
        "recipe = Recipe(Kind.REQUIREMENTS, side, side / 'requirements.txt')\n"
        "named = {'UV_DEFAULT_INDEX': 'UV_DEFAULT_INDEX'}\n"
        "builder = EnvironmentBuilder(side.parent / 'cache', os.environ, named)\n"
        "print(asyncio.run(builder.build(recipe)))"
    )
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, str(recipe.folder), stdout=subprocess.PIPE, env=index
    )
    ours = builder(place / "cache", index)
    mine, too = await asyncio.gather(ours.build(recipe), ours.build(recipe))
    theirs, _ = await other.communicate()
    assert mine == too
    assert theirs.decode().strip() == str(mine)
    assert len(list((place / "cache").glob("*.ready"))) == 1


async def test_one_that_was_left_half_made_is_made_again(
    place: Path, index: dict[str, str]
) -> None:
    """Killed in the middle, the next run does not take it for finished."""
    ours = builder(place / "cache", index)
    python = await ours.build(requirements(place))
    assert isinstance(python, Path)
    python.parents[2].with_suffix(".ready").unlink()
    (python.parents[2] / ".ready").touch()  # as older versions had it, where its user could write
    python.unlink()
    assert await ours.build(requirements(place)) == python
    assert installed(python)["idna"] == "3.10"


async def test_what_cannot_be_installed_is_said_in_uvs_words(
    place: Path, index: dict[str, str]
) -> None:
    """And nothing is left of it."""
    failed = await builder(place / "cache", index).build(requirements(place, "idna==99\n"))
    assert isinstance(failed, NotBuilt)
    assert failed.why.text.startswith("requirements.txt cannot be installed:\n")
    assert failed.why.text.splitlines()[1].startswith("Because there is no version of idna==99")
    assert [p.suffix for p in (place / "cache").iterdir()] == [".lock"]


async def test_too_slow_an_installation_is_ended(place: Path, index: dict[str, str]) -> None:
    """With a reason instead of a hung job."""
    failed = await builder(place / "cache", index, time_limit=0.01).build(requirements(place))
    assert isinstance(failed, NotBuilt)
    assert "it took longer than" in failed.why.text


@pytest.mark.parametrize("kind", [Kind.PROJECT, Kind.LOCKED])
async def test_a_projects_dependencies_are_installed_without_it(
    place: Path, index: dict[str, str], kind: Kind
) -> None:
    """Neither the project itself nor what only its developers need; the side stays as it was."""
    side = write(place / "side", {"pyproject.toml": PROJECT})
    if kind == Kind.LOCKED:
        uv = Path(sys.executable).parent / "uv"
        subprocess.run([uv, "lock", "--quiet"], cwd=side, env=index, check=True)  # noqa: ASYNC221 - a moment
    before = sorted(side.rglob("*"))
    python = await builder(place / "cache", index).build(Recipe(kind, side))
    assert isinstance(python, Path), python
    there = installed(python)
    assert there["idna"] == "3.10"
    assert not {"x", "toolz"} & set(there)
    assert sorted(side.rglob("*")) == before


POETRY = """
[tool.poetry]
package-mode = false
[tool.poetry.dependencies]
python = ">=3.10"
idna = "^3.4"
[tool.poetry.group.dev.dependencies]
toolz = "*"
[build-system]
requires = ["poetry-core"]
build-backend = "poetry.core.masonry.api"
"""
POETRY_LOCK = '[[package]]\nname = "idna"\nversion = "3.10"\n'
SETUPTOOLS = """
[project]
name = "x"
version = "1"
readme = "GONE.md"
dynamic = ["dependencies"]
[tool.setuptools.dynamic]
dependencies = { file = ["needs.txt"] }
"""


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": POETRY, "poetry.lock": POETRY_LOCK},
        {"pyproject.toml": POETRY.replace("^3.4", "~3.10")},
        {"pyproject.toml": SETUPTOOLS, "needs.txt": NEEDS},
    ],
)
async def test_a_project_that_cannot_be_built_has_its_needs_installed(
    place: Path, index: dict[str, str], files: dict[str, str]
) -> None:
    """At the versions of its lock; the index has no backend that it could be built with."""
    side = write(place / "side", {**files, "bot/agent.py": ""})
    recipe = find_recipe(side, side / "bot")
    assert isinstance(recipe, Recipe)
    assert recipe.files() == set(files)
    assert "without building the project" in recipe.described().text
    python = await builder(place / "cache", index).build(recipe)
    assert isinstance(python, Path), python
    assert installed(python) == {"idna": "3.10", "google-adk": "2.13.0"}


RAISES = """
def build_wheel(folder, config_settings=None, metadata_directory=None):
    raise RuntimeError("no README.md to build it with")
"""


async def test_the_cause_of_a_failed_build_comes_first(place: Path, index: dict[str, str]) -> None:
    """Before uv's words on the call, and without what it said while all went well."""
    write(place / "side" / "spy", {"pyproject.toml": SPY, "backend.py": RAISES})
    failed = await builder(place / "cache", index).build(requirements(place, "./spy\n"))
    assert isinstance(failed, NotBuilt)
    told = failed.why.text.splitlines()
    assert told[1].strip() == "RuntimeError: no README.md to build it with"
    assert "Using Python" not in failed.why.text


# Notes the names of its environment in what is being made; gives out the wheel beside it.
BACKEND = """
import glob, os, shutil

def build_wheel(folder, config_settings=None, metadata_directory=None):
    open(glob.glob({venvs!r})[0] + "/names", "w").write(" ".join(os.environ))
    return os.path.basename(shutil.copy("spy-1-py3-none-any.whl", folder))
"""
SPY = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""


async def test_installing_sees_nothing_but_what_uv_needs(
    place: Path, index: dict[str, str]
) -> None:
    """Code that runs while it is installed finds no key and no token."""
    backend = BACKEND.format(venvs=str(place / "cache" / "*" / "venv"))
    spy = write(place / "side" / "spy", {"pyproject.toml": SPY, "backend.py": backend})
    add_wheel(spy / "spy-1-py3-none-any.whl", "spy", "1")
    secrets = {"GOOGLE_API_KEY": "k", "GITHUB_TOKEN": "t", "UV_INDEX_A_PASSWORD": "p"}
    apart = os.getuid() == 0
    named = own_names("UV_DEFAULT_INDEX", "GOOGLE_API_KEY", "UV_INDEX_A_PASSWORD")
    builder = EnvironmentBuilder(place / "cache", {**index, **secrets}, named, apart)
    python = await builder.build(requirements(place, "./spy\n"))
    assert isinstance(python, Path), python
    names = (python.parents[1] / "names").read_text().split()
    assert "UV_INDEX_A_PASSWORD" in names
    assert not {"GOOGLE_API_KEY", "GITHUB_TOKEN"} & set(names)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can install as somebody else")
async def test_what_another_user_installed_is_ours(place: Path, index: dict[str, str]) -> None:
    """Neither that user's code nor its agent can change it for the next one."""
    python = await builder(place / "cache", index, apart=True).build(requirements(place))
    assert isinstance(python, Path), python
    for path in (python.parents[2], *python.parents[2].rglob("*")):
        status = path.lstat()
        assert status.st_uid == 0, path
        assert path.is_symlink() or not status.st_mode & 0o022, path


@pytest.mark.skipif(os.getuid() != 0, reason="only root can install as somebody else")
async def test_a_cache_that_the_user_cannot_enter_is_not_used(
    place: Path, index: dict[str, str]
) -> None:
    """The environment is made where the agent can get to it, and not kept."""
    cache, spare = place / "cache", place / "spare"
    cache.mkdir(mode=0o700)
    spare.mkdir()
    ours = builder(cache, index, apart=True, spare=spare)
    python = await ours.build(requirements(place))
    assert isinstance(python, Path), python
    assert python.is_relative_to(spare)
