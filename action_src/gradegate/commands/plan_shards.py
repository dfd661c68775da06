"""`gradegate plan`: into how many shards to cut the cases, and how long each takes."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping

from gradegate.commands.options import add_sides
from gradegate.model.overrides import Overrides
from gradegate.pipeline.prepare import EvaluationRequest
from gradegate.pipeline.shard_plan import MOST_SHARDS, plan_shards, told
from gradegate.sides.checkout import Revisions
from gradegate.sides.git import Repo
from gradegate.wiring import open_store, store_path


def add_arguments(parser: ArgumentParser) -> None:
    """What `plan` takes."""
    add_sides(parser)
    parser.add_argument(
        "--base", metavar="REV", help="compare with this (default: where head left its branch)"
    )
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--shards", type=_shards, metavar="N", help="into so many shards")
    asked.add_argument(
        "--max-minutes",
        type=_minutes,
        metavar="M",
        help="into as many as it takes for the slowest to be done in this time",
    )


def plan(options: Namespace, environ: Mapping[str, str]) -> int:
    """Print the shards."""
    request = EvaluationRequest(
        repo=Repo.open(options.repo, environ),
        revisions=Revisions(head=options.head, base=options.base),
        overrides=Overrides(suite=options.suite, config=options.config),
    )
    with open_store(store_path(environ, options.store)) as store:
        found = plan_shards(request, store, options.shards, options.max_minutes)
    for line in told(found):
        print(line)  # noqa: T201 - the command's answer
    return 0


def _shards(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= MOST_SHARDS:
        return int(text)
    raise ArgumentTypeError(f"{text!r} is no number of shards: write 1 to {MOST_SHARDS}")


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if 0 < minutes < float("inf"):
        return minutes
    raise ArgumentTypeError(f"{text!r} is no number of minutes: write one above 0, such as 10")
