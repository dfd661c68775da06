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
FEWER_REMARKS = (20, 5, 1, 0)
"""Lines of findings, notes and warnings, each, and rows of tables in tens: as many as fit."""
ROWS_FOR_A_REMARK = 10
FIRST = 3
"""Cases whose evidence is worth more than the names of the last ones."""

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
    """The view rendered within the limit: everything, else less evidence, else fewer cases.

    The first cases keep their evidence before the last ones keep their line; what stands above
    the cases is cut only where it alone is too long.
    """
    cases = sum(len(section.cases) for section in view.sections)
    detailed = sum(not case.folded for section in view.sections for case in section.cases)
    for remarks in FEWER_REMARKS:
        short = _with_few_remarks(view, words, remarks)

        def attempt(rows: int, evidence: int, short: ReportView = short) -> str | None:
            text = render(shortened(short, words, rows=rows, evidence=evidence))
            return text if measure(text) <= limit else None

        if attempt(0, 0) is not None:
            return _largest(cache(attempt), cases, detailed)
    message = "a report without a single case is already larger than the limit"
    raise AssertionError(message)


def _largest(attempt: Callable[[int, int], str | None], cases: int, detailed: int) -> str:
    """Everything with as much evidence as fits, else as many cases; the first with theirs."""
    few = min(FIRST, detailed)
    first = few if attempt(few, few) is not None else 0
    if attempt(cases, first) is not None:
        return _most(first, detailed, lambda evidence: attempt(cases, evidence))
    return _most(first, cases, lambda rows: attempt(rows, first))


def _most(lowest: int, highest: int, attempt: Callable[[int], str | None]) -> str:
    """The outcome of the largest number that succeeds, by doubling and then halving.

    Doubling keeps every attempt small: none is more than twice what fits. The lowest succeeds.
    """
    best, low, step = attempt(lowest), lowest, 1
    while low < highest and (text := attempt(min(low + step, highest))) is not None:
        best, low, step = text, min(low + step, highest), step * 2
    high = min(low + step, highest + 1)
    while high - low > 1:
        middle = (low + high) // 2
        text = attempt(middle)
        if text is None:
            high = middle
        else:
            best, low = text, middle
    assert best is not None  # noqa: S101 - the lowest succeeds
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


def _with_few_remarks(view: ReportView, words: Locale, most: int) -> ReportView:
    lists = (view.findings, view.notes, view.warnings, view.isolation)
    tables = (view.criteria, view.efficiency, view.touched)
    rows = most * ROWS_FOR_A_REMARK
    dropped = sum(max(0, len(lines) - most) for lines in lists)
    dropped += sum(max(0, len(table) - rows) for table in tables)
    findings, notes, warnings, isolation = (lines[:most] for lines in lists)
    return replace(
        view,
        findings=findings,
        notes=notes,
        warnings=warnings,
        isolation=isolation,
        criteria=view.criteria[:rows],
        efficiency=view.efficiency[:rows],
        touched=view.touched[:rows],
        left_out=words.some("left_out.lines", dropped) if dropped else "",
    )


def _left_out(words: Locale, counts: dict[str, int], *, before: str) -> str:
    parts = [words.some(f"left_out.{what}", n) for what, n in counts.items() if n]
    if before:
        parts.append(before)
    return words("left_out", what=words.list(parts)) if parts else ""
