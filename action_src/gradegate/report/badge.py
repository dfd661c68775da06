"""The verdict as a badge: what shields.io's endpoint takes."""

import json

from gradegate.locales import Locale
from gradegate.model.report import Report, State
from gradegate.report.escape import clip, one_line
from gradegate.report.headline import nothing_ran
from gradegate.report.tally import Tally, tally_of

COLORS = {State.PASS: "brightgreen", State.FAIL: "red", State.INCONCLUSIVE: "yellow"}
LONGEST_LABEL = 60


def badge(report: Report, words: Locale, label: str) -> str:
    """The badge.json file."""
    shown = {
        "schemaVersion": 1,
        "label": clip(one_line(label), LONGEST_LABEL),
        "message": _message(report, tally_of(report), words),
        "color": COLORS[report.decision.state],
    }
    return json.dumps(shown, ensure_ascii=False, indent=2) + "\n"


def _message(report: Report, tally: Tally, words: Locale) -> str:
    match report.decision.state:
        case State.INCONCLUSIVE:
            return words("badge.inconclusive")
        case State.FAIL if "regression" in tally.blocking_parts():
            return words.some("badge.fail", tally.regressions)
        case State.FAIL:
            return words("badge.no")
    if nothing_ran(report):
        return words("badge.unchanged")
    plain = not tally.allowed_parts() and report.base.source != "none"
    return words.some("badge.pass", tally.total) if plain else words("badge.allowed")
