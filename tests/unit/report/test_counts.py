"""Every view counts the same: headline, sections, table, check, JUnit and outputs."""

import random
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from gradegate.files.report_json import contradictions
from gradegate.github_action.step import outputs_of
from gradegate.locales import locale_of
from gradegate.model.report import ReasonKind, Report, State, Verdict
from gradegate.report.case_sections import Section
from gradegate.report.fit import COMMENT_LIMIT, characters
from gradegate.report.render import ViewOptions, render_views
from gradegate.report.view import build
from tests.situations import SITUATIONS, WORSE, case, random_report, regressed

EN = locale_of("en")
REPORTS = [*SITUATIONS, *range(120)]
NUMBER = re.compile(r"\d[\d,]*")
PARTS = {
    "regressed case": Section.REGRESSED,
    "new failure": Section.NEW_FAILURE,
    "removed case": Section.REMOVED,
    "below": Section.THRESHOLD,
}


def report_of(which: str | int) -> Report:
    """A situation, or a random report that our gate could have made."""
    if isinstance(which, str):
        return SITUATIONS[which]()
    report = random_report(random.Random(which))
    assert list(contradictions(report)) == []
    return report


def number(text: str) -> int:
    """The first number in a text."""
    found = NUMBER.search(text)
    return int(found.group().replace(",", "")) if found else 0


@pytest.mark.parametrize("which", REPORTS)
def test_all_views_agree_on_every_count(which: str | int) -> None:
    """Cases are counted, each once, and what is of no case apart."""
    report = report_of(which)
    view = build(report, EN, include_unchanged=True)
    views = render_views(report, ViewOptions())
    sizes = {section.group: len(section.cases) for section in view.sections}
    assert sum(sizes.values()) == len(report.cases)
    for section in view.sections:
        assert number(section.title) == sizes[section.group]

    outputs = outputs_of(report, Path())
    assert int(outputs["regressions"]) == sizes.get(Section.REGRESSED, 0)
    assert int(outputs["improvements"]) == sizes.get(Section.IMPROVED, 0)

    junit = ET.fromstring(views.junit)  # noqa: S314 - our own text
    blocking = [one for section in view.sections for one in section.cases if one.blocking]
    of_no_case = [one for one in report.decision.reasons if report.case_of(one) is None]
    says_no = report.decision.state is State.FAIL
    hard = [one for one in of_no_case if one.kind is not ReasonKind.INCONCLUSIVE]
    failures = len(blocking) + len(hard) if says_no else 0
    assert len(junit.findall(".//failure")) == int(junit.get("failures", "")) == failures
    assert int(junit.get("tests", "")) == len(report.cases) + len(of_no_case)
    assert (failures > 0) == says_no

    assert views.check.title == view.title
    assert view.title in views.text
    if says_no:
        for part in re.split(r", | and ", view.title.split(": ")[1].rpartition(" in ")[0]):
            for words, group in PARTS.items():
                if words in part:
                    assert number(part) == sizes[group]
            if "criteri" in part:
                rows = [row for row in view.criteria if row.attention]
                assert number(part) == len(rows)
        assert number(view.title.rpartition(" in ")[2]) == len(report.cases)


@pytest.mark.parametrize("which", REPORTS)
def test_a_comment_fits(which: str | int) -> None:
    """In both languages."""
    report = report_of(which)
    for language in ("en", "ja"):
        comment = render_views(report, ViewOptions(language)).comment
        assert characters(comment) <= COMMENT_LIMIT


def test_seven_hundred_cases_are_seven_hundred() -> None:
    """A criterion that fell is not one more of them."""
    view = build(SITUATIONS["many_broken_by_one_cause"](), EN)
    expected = "The agent got worse: 700 regressed cases and 1 worse criterion in 2,000 cases"
    assert view.title == expected


def test_a_pass_that_the_settings_allow_is_not_called_free_of_regressions() -> None:
    """Where `fail_on` leaves regressions out."""
    report = regressed(case("order", {"response_match_score": WORSE}))
    decision = report.decision.model_copy(
        update={"state": State.PASS, "reasons": (), "notes": report.decision.reasons}
    )
    view = build(report.model_copy(update={"decision": decision}), EN)
    assert view.title == ("Passes, and the settings let this through: 1 regressed case in 5 cases")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_most_important_evidence_is_kept(language: str) -> None:
    """However many others there are: the first cases come with theirs."""
    long = "x" * 150
    turn = {"asked": "?", "base": {"text": "Yes."}, "head": {"text": "No."}}
    cases = [case(f"{n}-{long}", {"response_match_score": WORSE}, turn) for n in range(900)]
    told = [{"text": f"cause {n}", "code": ""} for n in range(900)]
    report = regressed(*cases, beside=0)
    apart = [
        one.model_copy(update={"cause": one.cause and one.cause.model_validate(cause)})
        for one, cause in zip(report.cases, told, strict=True)
    ]
    report = report.model_copy(update={"cases": tuple(apart)})
    comment = render_views(report, ViewOptions(language)).comment
    assert characters(comment) <= COMMENT_LIMIT
    assert comment.count("```diff") >= 3
    assert locale_of(language)("left_out", what="")[:4] in comment


def test_a_head_that_alone_is_too_long_is_cut() -> None:
    """Hundreds of findings and criteria, each as long as can be."""
    report = SITUATIONS["hostile"]()
    long = {"name": "|" * 190, "verdict": Verdict.REGRESSED, "delta": -1.0}
    criteria = [report.model_validate({"decision": {"state": "pass"}, "criteria": [
        {**long, "name": f"{n}{long['name']}"}]}).criteria[0] for n in range(400)]  # fmt: skip
    warnings = ("<|>" * 500,) * 100
    full = report.model_copy(update={"criteria": tuple(criteria), "warnings": warnings})
    comment = render_views(full, ViewOptions()).comment
    assert characters(comment) <= COMMENT_LIMIT
    assert "Left out" in comment
