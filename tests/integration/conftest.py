"""What several integration tests stand on."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from gradegate.forges.github.forge import GitHubForge
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
