"""google-adk, started once for all tests that ask it."""

from collections.abc import Iterator

import pytest

from tests.parity.against import GoogleAdk, started_google_adk


@pytest.fixture(scope="session")
def google_adk() -> Iterator[GoogleAdk]:
    """The reference implementation, in its own process."""
    with started_google_adk() as started:
        yield started
