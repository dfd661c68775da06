"""`gradegate action` and `gradegate publish`: hand the environment to the GitHub action."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path

from gradegate.github_action.main import main, publish_file


def add_publish_arguments(parser: ArgumentParser) -> None:
    """What `publish` takes."""
    parser.add_argument(
        "report",
        nargs="?",
        type=Path,
        metavar="report.json",
        help="default: the one in the report folder",
    )


def action(options: Namespace, environ: Mapping[str, str]) -> int:
    """Do what the event asks for."""
    del options
    return main(environ)


def publish(options: Namespace, environ: Mapping[str, str]) -> int:
    """The trusted half of a fork's pull request."""
    return publish_file(environ, options.report)
