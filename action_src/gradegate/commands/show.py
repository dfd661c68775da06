"""`gradegate show`: a report or a case of it at the terminal. `gradegate open`: its page."""

import sys
import webbrowser
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from gradegate.commands.options import say
from gradegate.files.report_json import read_report
from gradegate.locales import languages
from gradegate.model.errors import FileError, InputError
from gradegate.model.report import Report

PAGE = "report.html"
REPORT = "report.json"


def add_show_arguments(parser: ArgumentParser) -> None:
    """What `show` takes."""
    parser.add_argument("report", type=Path, metavar="REPORT", help="a report.json, or its folder")
    parser.add_argument(
        "case", nargs="?", metavar="CASE", help="an eval id, or a glob: these cases, in full"
    )
    parser.add_argument(
        "--language", choices=languages(), default="en", help="of what is shown (default: en)"
    )


def add_open_arguments(parser: ArgumentParser) -> None:
    """What `open` takes."""
    parser.add_argument(
        "report", type=Path, metavar="REPORT", help="a report.json, a report.html or their folder"
    )
    parser.add_argument("case", nargs="?", metavar="CASE", help="the eval id of the case to show")
    parser.add_argument(
        "--language", choices=languages(), default="en", help="of the page (default: en)"
    )
    parser.add_argument(
        "--print", action="store_true", help="print the page's address and open nothing"
    )


def show(options: Namespace, environ: Mapping[str, str]) -> int:
    """Print the report, or what both sides did in some of its cases."""
    del environ
    from rich.console import Console

    from gradegate.report.terminal import print_cases, print_report

    report = read_report(_file(options.report, REPORT))
    console = Console(file=sys.stdout, highlight=False)
    if options.case is None:
        print_report(report, console, language=options.language)
    else:
        chosen = {case.key for case in report.cases if fnmatchcase(case.eval_id, options.case)}
        _refuse_none(report, options.case, found=bool(chosen))
        print_cases(report, chosen, console, language=options.language)
    return 0


def open_page(options: Namespace, environ: Mapping[str, str]) -> int:
    """Open the page beside the report in a browser; make it where there is none."""
    del environ
    page = _page(options.report, options.language)
    address = page.resolve().as_uri()
    if options.case is not None:
        address += _fragment(page.with_name(REPORT), options.case)
    if options.print or not webbrowser.open(address):
        sys.stdout.write(f"{address}\n")
    return 0


def _page(given: Path, language: str) -> Path:
    from gradegate.report.render import render

    page = given / PAGE if given.is_dir() else given.with_suffix(".html")
    if page.is_file():
        return page
    text = render(read_report(_file(given, REPORT)), "html", language=language)
    try:
        page.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(page, f"cannot be written: {error.strerror}") from error
    say(f"wrote {page}")
    return page


def _fragment(file: Path, case: str) -> str:
    from gradegate.report.links import case_fragment

    report = read_report(file)
    found = next((one for one in report.cases if one.eval_id == case), None)
    _refuse_none(report, case, found=found is not None)
    return case_fragment(found.key) if found else ""


def _file(given: Path, name: str) -> Path:
    return given / name if given.is_dir() else given


def _refuse_none(report: Report, case: str, *, found: bool) -> None:
    if not found:
        known = report.cases[0].eval_id if report.cases else ""
        hint = f": write an eval id such as `{known}`" if known else ": the report has none"
        raise InputError(f"the report has no case `{case}`{hint}")
