"""What a pull request's build backend can do to us while its environment is made: nothing."""

import asyncio
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradegate.agents.requirements import Kind, Recipe
from gradegate.agents.uv import EnvironmentBuilder, NotBuilt
from gradegate.model.variables import own_names
from tests.integration.adk import write
from tests.integration.small_index import add_wheel, small_index
from tests.integration.test_adk_environments import SMALL, installed
from tests.integration.test_sandbox import as_root
from tests.places import open_place

pytestmark = [pytest.mark.trust, as_root]

BACKEND = Path(__file__).parents[1] / "standins" / "hostile_backend.py"
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
PLAIN_BACKEND = """
import glob, os, shutil

def build_wheel(folder, config_settings=None, metadata_directory=None):
    (wheel,) = glob.glob("*.whl")
    return os.path.basename(shutil.copy(wheel, folder))
"""
HEADS_WORKSPACE = """
[project]
name = "heads"
version = "1"
requires-python = ">=3.9"
[tool.uv]
no-binary = true
[tool.uv.workspace]
members = [".gradegate/environments/*", ".gradegate/environments/*/source", "side"]
"""
OURS = "nobody else's"
OPEN_PLACES = ["/tmp", "/var/tmp", "/dev/shm"]  # noqa: S108 - where anybody may write


@pytest.fixture(scope="module")
def index() -> Iterator[dict[str, str]]:
    """An environment in which uv's index has google-adk, without content."""
    with open_place() as folder:
        yield {**os.environ, "UV_DEFAULT_INDEX": small_index(folder, SMALL)}


@pytest.fixture
def target(place: Path) -> Path:
    """A file that is root's alone."""
    (place / "ours").mkdir(mode=0o755)
    file = place / "ours" / "secret"
    file.write_text(OURS)
    file.chmod(0o600)
    return file


async def build(
    place: Path, index: dict[str, str], deeds: list[str], target: Path, **more: Any
) -> Path | NotBuilt:
    """Have the environment made of a side whose own package does this."""
    cache = place / "cache" / "environments"
    told = {
        "deeds": deeds,
        "target": str(target),
        "cache": str(cache),
        "places": OPEN_PLACES,
        "names": [".ready", ".lock", "pyvenv.cfg", "ready", "uv.toml", "pyproject.toml"],
        **more,
    }
    side = place / "side"
    files = {
        "requirements.txt": "./evil\n",
        "evil/pyproject.toml": PROJECT,
        "evil/backend.py": BACKEND.read_text(encoding="utf-8"),
        "evil/deeds.json": json.dumps(told),
    }
    write(side, files)
    add_wheel(side / "evil" / "evil-1-py3-none-any.whl", "evil", "1")
    recipe = Recipe(Kind.REQUIREMENTS, side, side / "requirements.txt")
    builder = EnvironmentBuilder(
        cache, index, own_names("UV_DEFAULT_INDEX"), apart=True, time_limit=120
    )
    return await builder.build(recipe)


def unchanged(target: Path) -> bool:
    """Whether the file that is root's alone is as it was."""
    status = target.stat()
    return (target.read_text(), stat.S_IMODE(status.st_mode), status.st_uid) == (OURS, 0o600, 0)


def processes_of(uid: int) -> list[str]:
    """What runs under a uid."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if folder.stat().st_uid == uid:
                found.append((folder / "cmdline").read_text())
        except OSError:
            continue
    return found


def strange(cache: Path) -> list[str]:
    """What is in the cache that another user could change, run as another, or hang on."""
    found = []
    for path in cache.rglob("*"):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            continue
        if (
            status.st_uid != 0
            or status.st_mode & 0o6022
            or not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode))
            or (stat.S_ISREG(status.st_mode) and status.st_nlink > 1)
        ):
            found.append(str(path))
    return found


async def test_a_package_that_does_nothing_is_installed(
    place: Path, index: dict[str, str], target: Path
) -> None:
    """The control: the same backend without a deed builds."""
    python = await build(place, index, [], target)
    assert isinstance(python, Path), python
    assert installed(python) == {"evil": "1", "google-adk": "2.13.0"}


async def test_links_where_gradegate_writes(
    place: Path, index: dict[str, str], target: Path
) -> None:
    """A build backend leaves links, second names, pipes, set-uid files where root writes next."""
    await build(place, index, ["links"], target)
    assert unchanged(target)
    cache = place / "cache" / "environments"
    assert strange(cache) == []
    python = await build(place, index, [], target)
    assert isinstance(python, Path), "the cache is as good as before"


async def test_limits_hold_while_it_is_built(
    place: Path, index: dict[str, str], target: Path
) -> None:
    """A build backend raises its limits and looks for rights to gain."""
    failed = await build(place, index, ["limits"], target)
    assert isinstance(failed, NotBuilt)
    told = json.JSONDecoder().raw_decode(failed.why.text.partition("limits: ")[2])[0]
    assert told.pop("rights") == "1"
    assert all(value > 0 for value in told.values()), told


@pytest.mark.parametrize("deed", ["outlives", "chain"])
async def test_nothing_outlives_the_build(
    place: Path, index: dict[str, str], target: Path, deed: str
) -> None:
    """A build backend leaves processes behind that leave their group, session and parent."""
    python = await build(place, index, [deed], target)
    assert isinstance(python, Path), python
    uid = int((python.parents[1] / "uid").read_text())
    assert uid != 0
    assert processes_of(uid) == []
    (python.parents[1] / "late").unlink(missing_ok=True)
    await asyncio.sleep(0.3)
    assert not (python.parents[1] / "late").exists()
    assert strange(place / "cache" / "environments") == []


async def test_folders_without_end(place: Path, index: dict[str, str], target: Path) -> None:
    """A build backend makes folders in folders until whoever walks through them gives up."""
    failed = await build(place, index, ["deep"], target)
    assert isinstance(failed, NotBuilt)
    assert not list((place / "cache" / "environments").glob("*/venv"))
    assert isinstance(await build(place, index, [], target), Path)


def own_adk(side: Path, version: str) -> Recipe:
    """A side that brings its google-adk along, named by a plain path."""
    write(side, {"requirements.txt": "vendor/adk\n", "vendor/adk/pyproject.toml": PROJECT})
    write(side / "vendor" / "adk", {"backend.py": PLAIN_BACKEND})
    wheel = f"google_adk-{version}-py3-none-any.whl"
    add_wheel(side / "vendor" / "adk" / wheel, "google-adk", version)
    return Recipe(Kind.REQUIREMENTS, side, side / "requirements.txt")


async def test_a_package_of_heads_in_bases_environment(place: Path, index: dict[str, str]) -> None:
    """Both sides write `vendor/adk` and head's is another package: base must not import it."""
    builder = EnvironmentBuilder(place / "cache", index, own_names("UV_DEFAULT_INDEX"), apart=True)
    head = await builder.build(own_adk(place / "head", "666"))
    base = await builder.build(own_adk(place / "base", "2.1"))
    assert isinstance(head, Path), head
    assert isinstance(base, Path), base
    assert installed(head) == {"google-adk": "666"}
    assert installed(base) == {"google-adk": "2.1"}


@pytest.mark.parametrize("where", ["above the side", "above the cache"])
async def test_settings_above_what_uv_is_shown(
    place: Path, index: dict[str, str], where: str
) -> None:
    """Head puts uv settings and a workspace above base's files, in /tmp or in the checkout."""
    wheels = small_index(place / "heads", {"google-adk": "666"})
    workspace = place / "workspace"
    hostile = {
        "pyproject.toml": HEADS_WORKSPACE,
        "uv.toml": f'[[index]]\nurl = "{wheels}"\ndefault = true\n',
        ".python-version": "3.99\n",
    }
    write(place if where == "above the side" else workspace, hostile)
    side = write(place / "side", {"requirements.txt": "google-adk\n"})
    cache = workspace / ".gradegate" / "environments"
    builder = EnvironmentBuilder(cache, index, own_names("UV_DEFAULT_INDEX"), apart=True)
    recipe = Recipe(Kind.REQUIREMENTS, side, side / "requirements.txt")
    python = await builder.build(recipe)
    assert isinstance(python, Path), python
    assert installed(python) == {"google-adk": "2.13.0"}
    # Its own settings count: that index is nowhere else.
    write(side, {"uv.toml": f'[[index]]\nurl = "{wheels}"\ndefault = true\n'})
    python = await EnvironmentBuilder(cache, os.environ, apart=True).build(recipe)
    assert isinstance(python, Path), python
    assert installed(python) == {"google-adk": "666"}
