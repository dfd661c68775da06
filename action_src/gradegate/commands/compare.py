"""`gradegate compare`, `merge` and `render`: files in, a file out."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path

from gradegate.commands.options import add_out, say, write
from gradegate.files.results_json import read_results
from gradegate.locales import languages


def add_compare_arguments(parser: ArgumentParser) -> None:
    """What `compare` takes."""
    of = "results.json, or ADK's *.evalset_result.json, of"
    parser.add_argument("base", type=Path, metavar="BASE", help=f"{of} the old side")
    parser.add_argument("head", type=Path, metavar="HEAD", help=f"{of} the new side")
    add_out(parser, "the report")


def add_merge_arguments(parser: ArgumentParser) -> None:
    """What `merge` takes."""
    parser.add_argument(
        "shards", nargs="+", type=Path, metavar="SHARD", help="results.json of one shard"
    )
    add_out(parser, "the results")


def add_render_arguments(parser: ArgumentParser) -> None:
    """What `render` takes."""
    formats = ("comment", "check", "summary", "html", "junit", "text", "json")
    parser.add_argument(
        "report", type=Path, metavar="report.json", help="what `run --out` or `compare` wrote"
    )
    parser.add_argument(
        "--format", choices=formats, default="text", help="which view (default: text)"
    )
    parser.add_argument(
        "--language", choices=languages(), default="en", help="of the view (default: en)"
    )
    parser.add_argument(
        "--template", type=Path, metavar="DIR", help="templates to use before our own"
    )


def compare(options: Namespace, environ: Mapping[str, str]) -> int:
    """Compare two results files, and decide."""
    del environ
    from gradegate.locales import locale_of
    from gradegate.pipeline.results_files import compare_results, lean
    from gradegate.report.render import EXIT_CODES, render
    from gradegate.report.view import build

    report = compare_results(lean(read_results(options.base)), lean(read_results(options.head)))
    write(options.out, render(report, "json"))
    view = build(report, locale_of("en"))
    say(f"{view.icon} {view.title}")
    return EXIT_CODES[report.decision.state]


def merge(options: Namespace, environ: Mapping[str, str]) -> int:
    """Put shards together."""
    del environ
    from gradegate.pipeline.results_files import merge_results

    shards = [(str(path), read_results(path)) for path in options.shards]
    write(options.out, merge_results(shards).model_dump_json(indent=2) + "\n")
    return 0


def render(options: Namespace, environ: Mapping[str, str]) -> int:
    """Render one view of a report."""
    del environ
    from gradegate.files.report_json import read_report
    from gradegate.report import render as views

    report = read_report(options.report)
    text = views.render(
        report, options.format, language=options.language, template_dir=options.template
    )
    sys.stdout.write(text)
    return 0
