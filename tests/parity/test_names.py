from gradegate.criteria.registry import ADK_NAMES, INFORMATIONAL
from tests.parity.against import GoogleAdk


def test_every_criterion_of_google_adks_is_known(google_adk: GoogleAdk) -> None:
    """None is missing, none is invented, and the same ones only inform."""
    known, always_on = google_adk.names()

    assert known == ADK_NAMES | INFORMATIONAL
    assert always_on == INFORMATIONAL
