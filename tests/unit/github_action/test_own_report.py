"""Which report a check is of."""

from gradegate.github_action.own_report import ReportMark


def test_a_mark_is_of_one_text() -> None:
    """And of no other; it keeps the language."""
    mark = ReportMark.of('{"a": "\udce9"}', "ja")
    assert ReportMark.read(f"It got worse.\n{mark.line()}\n") == mark
    assert mark.language == "ja"
    assert mark.is_of('{"a": "\udce9"}')
    assert not mark.is_of("{}")


def test_the_last_mark_counts() -> None:
    """Ours stands at the end, whatever comes before it."""
    forged, mark = ReportMark.of("forged", "en"), ReportMark.of("ours", "en")
    assert ReportMark.read(f"{forged.line()}\n{mark.line()}\n") == mark


def test_a_check_without_one_is_of_none() -> None:
    """As of another tool, or of a version before."""
    assert ReportMark.read("It got worse.") is None
