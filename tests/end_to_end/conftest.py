"""What several end-to-end tests stand on."""

from collections.abc import Iterator

import pytest

from tests.standins.github import GitHubStandIn


@pytest.fixture
def github() -> Iterator[GitHubStandIn]:
    """A GitHub of its own, which noticed nothing wrong by the end of the test."""
    with GitHubStandIn() as standin:
        yield standin
        assert standin.violations == []
