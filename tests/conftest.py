"""What tests of every kind stand on."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.integration.adk import adk_python
from tests.places import open_place
from tests.standins.warm_adk import warm_python

settings.register_profile(
    "anywhere", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("anywhere")  # a slow machine fails nothing, and no example comes by chance

_CACHE = pytest.StashKey[Path]()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell each of pytest-xdist's workers of the one cache."""
    node.workerinput["cache"] = str(_cache(node.config))


@pytest.fixture(scope="session")
def cache(request: pytest.FixtureRequest) -> Path:
    """A cache of gradegate's for all tests, on all workers, where agents' users get to.

    An environment is dear. Whoever needs one first has it built in here, while others wait for
    it as two jobs on one machine would. A test that is about building has a cache of its own,
    and one that is about a run has a store of its own.
    """
    return _cache(request.config)


@pytest.fixture(scope="session")
def environments(cache: Path) -> Path:
    """The part of the cache where agents' environments are.

    It is there from the start: a sandbox leads to what exists.
    """
    folder = cache / "gradegate" / "environments"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def warm_adk(environments: Path) -> Iterator[Path]:
    """An interpreter that has read google-adk, for agents and metrics that are many and small."""
    with warm_python(asyncio.run(adk_python(environments))) as launcher:
        yield launcher


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that other users can get to, as pytest's own are not."""
    with open_place() as folder:
        yield folder


def _cache(config: pytest.Config) -> Path:
    told: dict[str, str] = getattr(config, "workerinput", {})
    if "cache" in told:
        return Path(told["cache"])
    if _CACHE not in config.stash:
        folder = Path(tempfile.mkdtemp(prefix="gradegate-tests-"))
        folder.chmod(0o755)
        config.stash[_CACHE] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder))
    return config.stash[_CACHE]
