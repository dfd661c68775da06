"""Views within GitHub's limits: the least important is folded first, and said to be."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from gradegate.locales import Locale
from gradegate.report.view import ReportView

COMMENT_LIMIT = 65_000
"""GitHub takes 65,536 characters; the rest is for whoever adds a line around ours."""
CHECK_LIMIT = 65_000
"""GitHub takes 65,535, and has been seen to count bytes."""
SUMMARY_LIMIT = 1_000_000
"""GitHub takes 1 MiB."""
REMARKS = 20
"""Lines of findings, notes and warnings, each, where the room is limited."""

Measure = Callable[[str], int]


def characters(text: str) -> int:
    """The length as GitHub's database and its pages count it, whichever is more."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def size(text: str) -> int:
    """The length in bytes."""
    return len(text.encode())


def fit(
    view: ReportView,
    render: Callable[[ReportView], str],
    words: Locale,
    *,
    limit: int,
    measure: Measure,
) -> str:
    """The view rendered within the limit: everything, else less evidence, else fewer cases."""
    short = _with_few_remarks(view, words)
    cases = sum(len(section.cases) for section in view.sections)
    detailed = sum(not case.folded for section in view.sections for case in section.cases)

    @cache
    def attempt(rows: int, evidence: int) -> str | None:
        text = render(shortened(short, words, rows=rows, evidence=evidence))
        return text if measure(text) <= limit else None

    if attempt(cases, 0) is not None:
        return _most(detailed, lambda evidence: attempt(cases, evidence))
    return _most(cases, lambda rows: attempt(rows, 0))


def _most(highest: int, attempt: Callable[[int], str | None]) -> str:
    """The outcome of the largest number that succeeds, by doubling and then halving.

    Doubling keeps every attempt small: none is more than twice what fits.
    """
    best, low, high = attempt(0), 0, 1
    if best is None:
        message = "a report without a single case is already larger than the limit"
        raise AssertionError(message)
    while low < highest and (text := attempt(min(high, highest))) is not None:
        best, low, high = text, min(high, highest), high * 2
    high = min(high, highest + 1)
    while high - low > 1:
        middle = (low + high) // 2
        text = attempt(middle)
        if text is None:
            high = middle
        else:
            best, low = text, middle
    return best


def shortened(view: ReportView, words: Locale, *, rows: int, evidence: int) -> ReportView:
    """The view with its first `rows` cases, the first `evidence` detailed ones unfolded."""
    sections = []
    rows_left, evidence_left, folded = rows, evidence, 0
    for section in view.sections:
        kept = []
        for case in section.cases[:rows_left]:
            if case.folded or evidence_left > 0:
                kept.append(case)
                evidence_left -= not case.folded
            else:
                kept.append(replace(case, folded=True))
                folded += 1
        rows_left -= len(kept)
        if kept:
            sections.append(replace(section, cases=tuple(kept)))
    dropped = sum(len(section.cases) for section in view.sections) - (rows - rows_left)
    said = _left_out(words, {"evidence": folded, "rows": dropped}, before=view.left_out)
    return replace(view, sections=tuple(sections), left_out=said)


def _with_few_remarks(view: ReportView, words: Locale) -> ReportView:
    lists = (view.findings, view.notes, view.warnings, view.isolation)
    dropped = sum(max(0, len(lines) - REMARKS) for lines in lists)
    findings, notes, warnings, isolation = (lines[:REMARKS] for lines in lists)
    return replace(
        view,
        findings=findings,
        notes=notes,
        warnings=warnings,
        isolation=isolation,
        left_out=words.some("left_out.lines", dropped) if dropped else "",
    )


def _left_out(words: Locale, counts: dict[str, int], *, before: str) -> str:
    parts = [words.some(f"left_out.{what}", n) for what, n in counts.items() if n]
    if before:
        parts.append(before)
    return words("left_out", what=words.list(parts)) if parts else ""
