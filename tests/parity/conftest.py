"""google-adk, started once for all tests that ask it."""

from collections.abc import Iterator

import pytest

from tests.parity.against import GoogleAdk, started_google_adk


@pytest.fixture(scope="session")
def google_adk() -> Iterator[GoogleAdk]:
    """The reference implementation, behind one function."""
    with started_google_adk() as put:
        yield put
