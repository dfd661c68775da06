from gradegate.criteria.registry import INFORMATIONAL, built
from tests.parity.against import GoogleAdk


def test_every_criterion_of_google_adks_is_known(google_adk: GoogleAdk) -> None:
    """None is missing, none is invented, and the same ones only inform."""
    known, always_on = google_adk.names()

    assert known == built().keys() | INFORMATIONAL
    assert always_on == INFORMATIONAL
