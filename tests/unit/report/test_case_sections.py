"""Where a case stands, and why: two suites apart, and thresholds that are met."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence

import pytest

from gradegate.locales import NOTHING, Piece, Sentence, locale_of
from gradegate.model.notice import notice
from gradegate.model.report import (
    CaseComparison,
    CaseCriterion,
    Decision,
    Evidence,
    JudgedItem,
    Reason,
    ReasonKind,
    Report,
    State,
    TurnEvidence,
    Verdict,
)
from gradegate.report.case_sections import Section
from gradegate.report.render import render
from gradegate.report.sections import CaseView
from gradegate.report.view import build
from gradegate.report.why import sentences

SET, ID = "evals/basic.evalset.json", "paris"
SCORE = "response_match_score"
RUBRICS = "rubric_based_final_response_quality_v1"
WORSE = CaseCriterion(
    base=1.0, head=0.0, threshold=0.8, verdict=Verdict.REGRESSED, below_threshold=True
)
FINE = CaseCriterion(
    base=1.0, head=1.0, threshold=0.8, verdict=Verdict.UNCHANGED, below_threshold=False
)


def a_case(suite: str, one: CaseCriterion, name: str = SCORE) -> CaseComparison:
    """A case with one criterion."""
    return CaseComparison(suite=suite, eval_set=SET, eval_id=ID, criteria={name: one})


def report_of(cases: Sequence[CaseComparison], *reasons: Reason) -> Report:
    """A report with these reasons."""
    state = State.FAIL if reasons else State.PASS
    return Report(decision=Decision(state=state, reasons=reasons), cases=tuple(cases))


def shown(report: Report) -> dict[str, CaseView]:
    """The cases as they are shown, by suite."""
    view = build(report, locale_of("en"), include_unchanged=True)
    return {case.suite: case for section in view.sections for case in section.cases}


def outcomes(report: Report) -> dict[str, bool]:
    """By class name, whether a dashboard of tests shows a failure."""
    tests = ET.fromstring(render(report, "junit"))  # noqa: S314 - our own text
    return {
        case.get("classname", ""): case.find("failure") is not None
        for case in tests.iter("testcase")
    }


def test_of_two_suites_on_one_eval_set_only_the_one_that_got_worse_blocks() -> None:
    """A case is known by suite, eval set and id, in every view."""
    told = Reason(kind=ReasonKind.REGRESSION, text="worse", suite="desk", eval_set=SET, eval_id=ID)
    report = report_of([a_case("desk", WORSE), a_case("shop", FINE)], told)
    cases = shown(report)
    assert (cases["desk"].blocking, cases["shop"].blocking) == (True, False)
    assert outcomes(report) == {f"desk: {SET}": True, f"shop: {SET}": False}


def test_a_reason_that_names_no_suite_speaks_of_the_only_one() -> None:
    """As reports of a single suite have it."""
    told = Reason(kind=ReasonKind.REGRESSION, text="worse", eval_set=SET, eval_id=ID)
    assert shown(report_of([a_case("desk", WORSE)], told))["desk"].blocking


@pytest.mark.parametrize(
    ("head", "below", "section"), [(12.0, False, Section.REST), (60.0, True, Section.THRESHOLD)]
)
def test_a_metric_that_is_better_low_passes_below_its_threshold(
    head: float, section: Section, *, below: bool
) -> None:
    """As `answer_length`, the example that `gradegate criteria custom_metrics` prints."""
    one = CaseCriterion(
        base=10.0, head=head, threshold=40.0, verdict=Verdict.UNCHANGED, below_threshold=below
    )
    told = Reason(
        kind=ReasonKind.THRESHOLD, text="too long", suite="desk", eval_set=SET, eval_id=ID
    )
    report = report_of([a_case("desk", one, "answer_length")], *([told] if below else []))
    case = shown(report)["desk"]
    assert case.group is section
    assert (case.scores[0].icon == "❌") is below
    assert outcomes(report) == {f"desk: {SET}": below}


def why(criterion: CaseCriterion, *judged: JudgedItem, language: str = "en") -> list[Sentence]:
    """What is said of a case with one criterion and one turn."""
    case = CaseComparison(
        eval_set=SET,
        eval_id=ID,
        criteria={RUBRICS: criterion},
        evidence=Evidence(turns=(TurnEvidence(asked="Hi", judged=judged),)),
    )
    return list(sentences(case, locale_of(language)))


@pytest.mark.parametrize(
    ("subject", "base", "head", "said"),
    [
        ("Is polite.", "yes", "no", 'rubric failed: "Is polite." (passed on base). Judge: Rude.'),
        ("Is polite.", None, "no", 'rubric failed: "Is polite.". Judge: Rude.'),
        ("Is polite.", NOTHING, "no", 'rubric failed: "Is polite.". Judge: Rude.'),
        ("Is polite.", "no", "yes", 'rubric passed: "Is polite." (failed on base). Judge: Rude.'),
        (
            "It rains.",
            "supported",
            "disputed",
            'disputed: "It rains." (supported on base). Judge: Rude.',
        ),
        (
            "",
            "valid",
            "invalid",
            "the judge finds the answer valid on base and invalid here. Judge: Rude.",
        ),
    ],
)
def test_a_judges_word_is_told_as_what_it_means(
    subject: str, base: str | None, head: str, said: str
) -> None:
    """A rubric that failed, a sentence with its label, or the answer as a whole."""
    item = JudgedItem(criterion=RUBRICS, subject=subject, base=base, head=head, reason="Rude.")
    assert list(map(str, why(WORSE, item))) == [said]


def test_what_a_judge_quotes_is_no_code() -> None:
    """Prose is shown as prose; names and values are."""
    item = JudgedItem(
        criterion=RUBRICS, subject="Is polite.", base="yes", head="no", reason="Rude."
    )
    (said,) = why(WORSE, item)
    assert [piece.text for piece in said.pieces if piece.code] == []


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_reason_of_ours_is_in_the_readers_words_and_others_are_quoted(language: str) -> None:
    """A code span is for what somebody else said."""
    told = notice("run.out_of_time")
    ours, theirs = (
        why(CaseCriterion(verdict=Verdict.UNCERTAIN, **reason), language=language)[0].pieces[-1]
        for reason in ({"notice": told}, {"reason": "HTTP 429"})
    )
    assert ours == Piece(told.in_words(locale_of(language)))
    assert theirs == Piece("HTTP 429", code=True)


def test_a_score_that_is_better_low_is_not_called_too_low() -> None:
    """It misses its threshold from above."""
    over = CaseCriterion(
        base=1.0, head=9.0, threshold=5.0, verdict=Verdict.REGRESSED, below_threshold=True
    )
    assert list(map(str, why(over))) == [f"{RUBRICS} is too high: 9.00 > 5.00"]
