"""`gradegate history`: how steady base's cases were in its earlier runs, the least steady first."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence

from gradegate import locales
from gradegate.commands.options import add_store, count, say
from gradegate.compare.flakiness import steadiness_of
from gradegate.model.history import Steadiness
from gradegate.report.escape import terminal
from gradegate.wiring import open_history, store_path

HEAD = ("case", "criterion", "passed", "rate", "90 % sure", "every time", "trend")


def add_arguments(parser: ArgumentParser) -> None:
    """What `history` takes."""
    add_store(parser)
    parser.add_argument(
        "--worst", type=count, metavar="N", help="only so many, the least steady (default: all)"
    )
    parser.add_argument(
        "--times",
        type=count,
        default=3,
        metavar="K",
        help="how likely a case passes so many times in a row (default: 3)",
    )
    parser.add_argument("--json", action="store_true", help="for programs")


def history(options: Namespace, environ: Mapping[str, str]) -> int:
    """Print a line for each case and criterion."""
    with open_history(store_path(environ, options.store)) as kept:
        records = kept.all().records.values()
    found = steadiness_of(records, every=options.times)[: options.worst]
    if options.json:
        told = [one.model_dump(mode="json") for one in found]
        sys.stdout.write(json.dumps(told, ensure_ascii=False, indent=2) + "\n")
        return 0
    if not found:
        say("there is no history yet: `gradegate baseline` adds to it, `--fresh` each time it runs")
        return 0
    sys.stdout.writelines(terminal(f"{line}\n") for line in _table([HEAD, *map(_row, found)]))
    return 0


def _row(one: Steadiness) -> tuple[str, ...]:
    low, high = map(_share, one.interval)
    return (
        one.eval_id,
        one.criterion,
        locales.ratio(one.passed, one.runs),
        locales.percent(one.passed, one.runs),
        f"{low} to {high}",
        f"{_share(one.passes_every_time)} of {one.every}",
        f"{one.trend}{' changed' if one.changed else ''}",
    )


def _share(share: float) -> str:
    return locales.percent(round(1_000 * share), 1_000)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
