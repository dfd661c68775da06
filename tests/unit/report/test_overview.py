"""Shared causes, and what a change touches."""

from typing import Any

from gradegate.locales import locale_of
from gradegate.model.report import CaseComparison, Decision, Report, State, Touched
from gradegate.report.overview import causes_of, touched_of

ENGLISH, JAPANESE = locale_of("en"), locale_of("ja")


def report_of(**fields: Any) -> Report:
    """A report that holds these."""
    return Report(decision=Decision(state=State.FAIL), **fields)


def case(name: str, tool: str | None) -> CaseComparison:
    """A case that no longer calls a tool, or a quiet one."""
    cause = {"text": "gone", "code": "cause.call_gone", "values": {"tool": tool}} if tool else None
    return CaseComparison.model_validate({"eval_set": "f", "eval_id": name, "cause": cause})


def test_the_cause_that_most_cases_share_comes_first() -> None:
    """In the reader's language, with a link to those cases; a quiet case has none."""
    cases = (case("a", "x"), case("b", "get_order"), case("c", "get_order"), case("d", None))
    report = report_of(cases=cases)
    first, second = causes_of(report, JAPANESE)
    assert first.cases == JAPANESE.some("cases", 2)
    assert "get_order" in first.text
    assert causes_of(report, ENGLISH)[0].link.startswith("#cause=")
    assert second.cases == JAPANESE.some("cases", 1)


def test_what_no_case_came_by_comes_first() -> None:
    """It is what a reader should know; a place is told where it is known."""
    used = Touched(kind="agent", name="billing", cases=3, total=50)
    unused = Touched(kind="tool", name="refund", path="shop/tools.py", line=40, total=50)
    first, second = touched_of(report_of(touched=(used, unused)), ENGLISH)
    assert (first.name, first.place, first.unused) == ("refund", "shop/tools.py:40", True)
    assert (second.place, second.cases, second.unused) == ("", "3/50", False)
