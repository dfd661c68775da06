"""The command line: words in, one call, an exit code out. Nothing heavy is imported here."""

import gc
import os
import sys
import traceback
from argparse import SUPPRESS, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from gradegate import __version__
from gradegate.files.credentials import known_secrets
from gradegate.model.masking import MaskedStream
from gradegate.report.escape import terminal

Command = Callable[[Namespace, Mapping[str, str]], int]

DESCRIPTION = """\
Grade the agent, gate the merge: ADK's evaluation criteria on both sides of a
pull request, and a verdict that tells a regression from noise."""

ISSUES = "https://github.com/gradegate/gradegate/issues"
EPILOG = """\
first steps:
  gradegate demo            see it at work; no key, no network
  gradegate run             your work tree against the merge base
  gradegate init            put it on the repository's pull requests

exit codes:
  0  passed
  1  the gate says no
  2  the input is wrong; the message says where and what to write instead
  3  inconclusive: too much could not be evaluated to say yes or no
"""


class _Command(NamedTuple):
    """Where a command lives, and what it does in a line."""

    module: str
    function: str
    arguments: str | None
    summary: str


COMMANDS = {
    "demo": _Command(
        "demo", "demo", "add_arguments", "try the whole job on a small example, offline"
    ),
    "run": _Command("run", "run", "add_arguments", "evaluate both sides, compare, decide, show"),
    "check": _Command(
        "check", "check", "add_arguments", "validate eval sets, configs and settings"
    ),
    "audit": _Command(
        "audit",
        "audit_sets",
        "add_arguments",
        "find cases and criteria that cannot fail; runs no agent",
    ),
    "init": _Command(
        "init", "init", "add_arguments", "write the workflow files and a gradegate.toml"
    ),
    "convert": _Command(
        "convert", "convert", "add_arguments", "turn an eval set into an EvaluationDataset, or back"
    ),
    "plan": _Command(
        "plan_shards",
        "plan",
        "add_arguments",
        "say how many shards a set needs, and how long each takes",
    ),
    "criteria": _Command(
        "criteria",
        "criteria",
        "add_criteria_arguments",
        "list criteria; explain what one means and needs",
    ),
    "score": _Command("record", "score", "add_score_arguments", "score recorded runs, one side"),
    "record": _Command(
        "record", "record", "add_record_arguments", "run an agent, one side, and keep what it did"
    ),
    "compare": _Command(
        "compare", "compare", "add_compare_arguments", "compare two results files, and decide"
    ),
    "merge": _Command(
        "compare", "merge", "add_merge_arguments", "put results files of one side together"
    ),
    "render": _Command("compare", "render", "add_render_arguments", "print one view of a report"),
    "show": _Command("show", "show", "add_show_arguments", "look closer at a report or at a case"),
    "open": _Command(
        "show", "open_page", "add_open_arguments", "open a report's page in the browser"
    ),
    "history": _Command(
        "steadiness",
        "history",
        "add_arguments",
        "show how steady base's cases were in its earlier runs",
    ),
    "baseline": _Command(
        "run", "run_baseline", "add_baseline_arguments", "evaluate one side and keep it"
    ),
    "publish": _Command(
        "action", "publish", "add_publish_arguments", "post a report made elsewhere"
    ),
    "schema": _Command(
        "criteria", "schema", "add_schema_arguments", "print the JSON Schema of a file"
    ),
    "action": _Command(
        "action", "action", None, "do what the event asks for; the container runs this"
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. No traceback reaches a user, unless `--debug` asks for it."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    parser = _parser(words)
    options = parser.parse_args(words)
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    secrets = known_secrets(os.environ)
    out, err = (MaskedStream(stream, secrets) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        return _run(options)


def _run(options: Namespace) -> int:
    from gradegate.model.errors import GradegateError

    try:
        chosen = COMMANDS[options.command]
        command: Command = getattr(_module(chosen), chosen.function)
        return command(options, os.environ)
    except GradegateError as error:
        if options.debug:
            sys.stderr.write(terminal(traceback.format_exc()))
        sys.stderr.write(terminal(f"gradegate: {error}\n"))
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - told as the bug that it is
        if options.debug:
            sys.stderr.write(terminal(traceback.format_exc()))
        sys.stderr.write(
            terminal(f"gradegate: internal error: {type(error).__name__}: {error}\n")
            + f"This is a bug: please report it at {ISSUES} with what `--debug` shows.\n"
        )
        return 70


def _parser(words: Sequence[str]) -> ArgumentParser:
    """All commands by name; the arguments of the one that is named here, which brings them."""
    parser = ArgumentParser(
        prog="gradegate",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"gradegate {__version__}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    named = next((word for word in words if word in COMMANDS), None)
    for name, command in COMMANDS.items():
        text = command.summary
        made = commands.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.")
        made.add_argument("--debug", action="store_true", default=SUPPRESS, help="show tracebacks")
        made.set_defaults(command=name)
        if name == named and command.arguments:
            getattr(_module(command), command.arguments)(made)
    return parser


def _module(command: _Command) -> ModuleType:
    """The module, without a search for garbage meanwhile: there is none, and it takes a tenth."""
    gc.disable()
    try:
        return import_module(f"gradegate.commands.{command.module}")
    finally:
        gc.freeze()
        gc.enable()
