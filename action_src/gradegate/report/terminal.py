"""The report in a terminal, in colour where the terminal has any."""

from typing import TYPE_CHECKING

from gradegate import locales
from gradegate.locales import Locale, locale_of
from gradegate.model.report import Report, State
from gradegate.report.case_sections import ATTENTION
from gradegate.report.escape import terminal
from gradegate.report.tables import EfficiencyView
from gradegate.report.view import CaseView, ReportView, ScoreView, build

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
    if view.criteria:
        console.print(_criteria(view.criteria, words))
    if view.efficiency:
        console.print(_efficiency(view.efficiency, words))
    _print_sections(view, console, words)
    console.print()
    for note in view.notes:
        _print_line(f"• {note}", console)
    for warning in view.warnings:
        _print_line(f"⚠ {warning}", console, "yellow")
    for line in (view.quiet, view.sides, view.usage):
        if line:
            _print_line(line, console, "dim")


def _print_sections(view: ReportView, console: "Console", words: Locale) -> None:
    for section in view.sections:
        console.print()
        console.print(_text(f"{section.icon} {section.title}", "bold"))
        for case in section.cases:
            _print_case(case, console, words, in_full=section.group in ATTENTION)


def _print_case(case: CaseView, console: "Console", words: Locale, *, in_full: bool) -> None:
    line = _text(f"  {case.name}", "bold cyan")
    line.append_text(_text(f"  {case.place}", "dim"))
    console.print(line)
    for said in (case.remark, *map(str, case.why)):
        if said:
            _print_line(said, console, indent=INDENT)
    if not in_full:
        return
    for row in case.scores:
        if row.p_value != locales.NOTHING:
            _print_line(_evidence(row, words), console, "dim", INDENT)
    for turn in case.turns:
        for difference in turn.differences:
            sides = f"--- {difference.before}  +++ {difference.after}"
            _print_line(sides, console, "dim", INDENT)
            for changed in difference.lines:
                _print_line(str(changed), console, DIFF_STYLES[changed.sign], INDENT)


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
        cells = (row.name, row.base, row.head, row.delta, verdict)
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
