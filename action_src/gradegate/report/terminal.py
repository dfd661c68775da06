"""The report in a terminal, in colour where the terminal has any."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from gradegate import locales
from gradegate.locales import Locale, locale_of
from gradegate.model.evalset import CaseKey
from gradegate.model.report import Report, State
from gradegate.report.calls import CallView, CellView
from gradegate.report.case_sections import ATTENTION
from gradegate.report.escape import ELLIPSIS, terminal
from gradegate.report.scores import ScoreView
from gradegate.report.sections import CaseView, SectionView
from gradegate.report.tables import EfficiencyView
from gradegate.report.turns import TurnView
from gradegate.report.view import ReportView, build

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

STYLES = {State.PASS: "bold green", State.FAIL: "bold red", State.INCONCLUSIVE: "bold yellow"}
DIFF_STYLES = {"-": "red", "+": "green", " ": "dim"}
MAX_CHARS = 700
INDENT = "    "
NARROWEST = 20


def print_report(report: Report, console: "Console", *, language: str = "en") -> None:
    """Print the verdict, then what needs attention, then one line for all the rest."""
    words = locale_of(language)
    view = build(report, words, max_chars=MAX_CHARS)
    _print_line(f"{view.icon} {view.title}", console, STYLES[view.state])
    for line in (view.lead, *(f"• {finding}" for finding in view.findings)):
        if line:
            _print_line(line, console)
    _print_scores(view, console, words)
    _print_sections(view, console, words)
    console.print()
    for note in view.notes:
        _print_line(f"• {note}", console)
    for warning in view.warnings:
        _print_line(f"⚠ {warning}", console, "yellow")
    for line in (view.quiet, view.sides, view.usage):
        if line:
            _print_line(line, console, "dim")


def _print_scores(view: ReportView, console: "Console", words: Locale) -> None:
    """The tables, and what they cannot tell."""
    if view.criteria:
        console.print(_criteria(view.criteria, words))
    for line, style in (
        (view.unsettled, "dim"),
        (view.would_find, "dim"),
        (view.untouched, "yellow"),
    ):
        if line:
            _print_line(line, console, style)
    if view.efficiency:
        console.print(_efficiency(view.efficiency, words))


def print_cases(
    report: Report, chosen: Collection[CaseKey], console: "Console", *, language: str = "en"
) -> None:
    """Print these cases in full: every turn, and nothing cut."""
    words = locale_of(language)
    view = build(report, words, include_unchanged=True)
    for section in view.sections:
        for case in section.cases:
            if case.source.key in chosen:
                _print_line(f"{section.icon} {case.label}".strip(), console, "bold")
                _print_case(case, console, words, in_full=True)


def _print_sections(view: ReportView, console: "Console", words: Locale) -> None:
    for section in view.sections:
        console.print()
        console.print(_text(f"{section.icon} {section.title}".strip(), "bold"))
        _print_groups(section, console, words, in_full=section.group in ATTENTION)


def _print_groups(
    section: SectionView, console: "Console", words: Locale, *, in_full: bool
) -> None:
    for group in section.groups:
        if group.cause:
            cause = words("colon").join((group.cause.count, str(group.cause.title)))
            _print_line(cause, console, "bold", "  ")
        for case in group.shown:
            _print_case(case, console, words, in_full=in_full)
        if group.others:
            _print_line(words.some("others", len(group.others)), console, "dim", "  ")


def _print_case(case: CaseView, console: "Console", words: Locale, *, in_full: bool) -> None:
    """A case: why it is listed, and in full what each side did."""
    line = _text(f"  {case.name}", "bold cyan")
    line.append_text(_text(f"  {case.place}", "dim"))
    console.print(line)
    for said in (case.remark, *map(str, case.why), case.sure):
        if said:
            _print_line(said, console, indent=INDENT)
    if not in_full or case.folded:
        return
    for row in case.scores:
        if row.p_value != locales.NOTHING:
            _print_line(_evidence(row, words), console, "dim", INDENT)
    if case.log:
        _print_line(words("turn.log"), console, "bold", INDENT)
        for logged in case.log.splitlines():
            _print_line(logged, console, "dim", INDENT)
    for turn in case.turns:
        _print_turn(turn, console, words)


def _print_turn(turn: TurnView, console: "Console", words: Locale) -> None:
    if turn.title:
        _print_line(turn.title, console, "bold", INDENT)
    _print_line(words("colon").join((words("turn.asked"), turn.asked)), console, "", INDENT)
    for row in turn.calls:
        for side, style, cell in _cells(row):
            if cell:
                _print_line(
                    f"{row.number} {words(side)}{words('colon')}{cell}", console, style, INDENT
                )
        if row.folded:
            _print_line(f"{ELLIPSIS} {row.folded}", console, "dim", INDENT)
    if turn.answer:
        sides = f"--- {turn.answer.before}  +++ {turn.answer.after}"
        _print_line(sides, console, "dim", INDENT)
        for changed in turn.answer.lines:
            _print_line(str(changed), console, DIFF_STYLES[changed.sign], INDENT)
    for judged in turn.judged:
        said = " ".join((words("turn.judged"), judged.criterion, judged.subject, judged.verdicts))
        _print_line(said, console, "", INDENT)
        _print_line(judged.reason, console, "dim", INDENT)
    if turn.remark:
        _print_line(turn.remark, console, "dim", INDENT)


def _cells(row: CallView) -> tuple[tuple[str, str, str], ...]:
    """A call on each side, head's alone in colour."""
    style = {"added": "green", "missing": "red", "changed": "yellow", "moved": "yellow"}
    return (
        ("column.expected", "dim", _cell(row.expected)),
        ("column.base", "dim", _cell(row.base)),
        ("column.head", style.get(row.head.mark, "dim"), _cell(row.head)),
    )


def _cell(cell: CellView) -> str:
    changes = (
        f"{change.path} {change.before or locales.NOTHING} → {change.after or locales.NOTHING}"
        for change in cell.changes
    )
    return " ".join(filter(None, (cell.sign, cell.moved, cell.call, *changes)))


def _evidence(row: ScoreView, words: Locale) -> str:
    """What a verdict rests on: scores, runs, chance."""
    said = words(
        "evidence",
        criterion=row.name,
        base=row.base,
        head=row.head,
        needed=row.needed,
        runs=row.runs,
    )
    return words("list.comma").join((said, row.p_value))


def _criteria(rows: tuple[ScoreView, ...], words: Locale) -> "Table":
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column(words("column.criterion"), overflow="fold")
    for column in ("base", "head", "delta"):
        table.add_column(words(f"column.{column}"), justify="right")
    table.add_column(words("column.verdict"))
    for row in rows:
        verdict = f"{row.verdict} {row.scored}".rstrip()
        style = "red" if row.attention else ""
        cells = (row.name, row.base, row.head, f"{row.arrow} {row.delta}".strip(), verdict)
        table.add_row(*(_text(cell, style) for cell in cells))
    return table


def _efficiency(rows: tuple[EfficiencyView, ...], words: Locale) -> "Table":
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column(words("column.per_turn"), overflow="fold")
    for column in ("base", "head", "delta", "allowed"):
        table.add_column(words(f"column.{column}"), justify="right")
    for row in rows:
        name = f"  {row.name}" if row.is_part else row.name
        style = "red" if row.attention else "dim" if row.is_part else ""
        cells = (name, row.base, row.head, row.change, row.allowed)
        table.add_row(*(_text(cell, style) for cell in cells))
    return table


def _print_line(line: str, console: "Console", style: str = "", indent: str = "") -> None:
    """A line; what does not fit stands below it, as far in, with no blanks at its end."""
    room = max(NARROWEST, console.width - len(indent))
    for part in _text(line, style).wrap(console, room):
        part.rstrip()
        console.print(_text(indent).append_text(part), soft_wrap=True)


def _text(line: str, style: str = "") -> "Text":
    from rich.text import Text

    return Text(terminal(line), style=style)
