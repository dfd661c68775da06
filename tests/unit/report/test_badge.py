"""The verdict as a badge."""

import json

import pytest

from gradegate.locales import locale_of
from gradegate.report.badge import badge
from tests.situations import SITUATIONS


@pytest.mark.parametrize(
    ("name", "message", "color"),
    [
        ("all_well", "50 cases, no regression", "brightgreen"),
        ("accepted", "passing", "brightgreen"),
        ("many_broken_by_one_cause", "700 regressed cases", "red"),
        ("no_base", "failing", "red"),
        ("not_evaluated", "inconclusive", "yellow"),
    ],
)
def test_a_badge_says_what_the_headline_says(name: str, message: str, color: str) -> None:
    """In a few words, as shields.io takes them."""
    shown = json.loads(badge(SITUATIONS[name](), locale_of("en"), "agents\n" + "x" * 99))
    assert shown.pop("label").startswith("agents x")
    assert shown == {"schemaVersion": 1, "message": message, "color": color}
