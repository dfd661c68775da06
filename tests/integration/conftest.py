"""What several integration tests stand on."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from gradegate.publish.github import GitHubForge
from tests.standins.github import JOB_TOKEN, GitHubStandIn

OpenForge = Callable[..., GitHubForge]


@pytest.fixture
def github() -> Iterator[GitHubStandIn]:
    """A GitHub of this test's own, which must never be asked what the real one would not take."""
    with GitHubStandIn() as standin:
        yield standin
    assert standin.violations == []


@pytest.fixture
def open_forge(github: GitHubStandIn) -> Iterator[OpenForge]:
    """Connects to it as a job does; connections are closed at the end."""
    with ExitStack() as opened:

        def open_one(**options: Any) -> GitHubForge:
            arguments: dict[str, Any] = {
                "token": JOB_TOKEN,
                "api_url": github.url,
                "repository": "octo/agents",
                "check_name": "gradegate",
                "seconds_between_writes": 0,
                **options,
            }
            return opened.enter_context(GitHubForge(**arguments))

        yield open_one


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that other users can get to, as pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="gradegate-tests-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
