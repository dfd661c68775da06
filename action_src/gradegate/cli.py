"""The command line: words in, one call, an exit code out. Nothing heavy is imported here."""

import gc
import os
import sys
from argparse import (
    SUPPRESS,
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    RawDescriptionHelpFormatter,
)
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from gradegate import __version__

Command = Callable[[Namespace, Mapping[str, str]], int]

DESCRIPTION = """\
Grade the agent, gate the merge: ADK's evaluation criteria on both sides of a
pull request, and a verdict that tells a regression from noise."""

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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. No traceback reaches a user, unless `--debug` asks for it."""
    from gradegate.model.errors import GradegateError

    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    module, _, function = options.command.partition(":")
    try:
        command: Command = getattr(_imported(f"gradegate.{module}"), function)
        return command(options, os.environ)
    except GradegateError as error:
        if options.debug:
            raise
        sys.stderr.write(f"gradegate: {error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if options.debug:
            raise
        sys.stderr.write(
            f"gradegate: a fault of ours: {type(error).__name__}: {error} "
            "(run it with --debug to see where)\n"
        )
        return 70


def _imported(name: str) -> ModuleType:
    """The module, without a search for garbage meanwhile: there is none, and it takes a tenth."""
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.freeze()
        gc.enable()


def _parser() -> ArgumentParser:
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

    def add(name: str, target: str, text: str) -> ArgumentParser:
        made = commands.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.")
        made.add_argument("--debug", action="store_true", default=SUPPRESS, help="show tracebacks")
        made.set_defaults(command=target)
        return made

    _demo(add("demo", "commands.demo:demo", "the whole job on a small example, offline"))
    _run(add("run", "commands.run:run", "evaluate both sides, compare, decide, show"))
    _check(add("check", "commands.check:check", "validate eval sets, configs and settings"))
    _init(add("init", "commands.init:init", "write the workflow files and a gradegate.toml"))
    _criteria(add("criteria", "commands.check:criteria", "what each criterion means and needs"))
    _score(add("score", "commands.record:score", "score recorded runs, one side"))
    _record(add("record", "commands.record:record", "run an agent, one side, and keep what it did"))
    _compare(add("compare", "commands.record:compare", "compare two results files, and decide"))
    _merge(add("merge", "commands.record:merge", "put the shards of one side together"))
    _render(add("render", "commands.record:show", "one view of a report, to standard output"))
    _baseline(add("baseline", "commands.baseline:measure", "evaluate one side and keep it"))
    _publish(add("publish", "github_action.main:publish", "post a report made elsewhere"))
    _schema(add("schema", "commands.check:schema", "the JSON Schema of a file"))
    add("action", "github_action.main:action", "what the container runs in a workflow")
    return parser


def _demo(parser: ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to put repo and report")


def _sources(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--repo", type=Path, default=Path(), metavar="DIR", help="the repository (default: here)"
    )
    parser.add_argument(
        "--head",
        default="worktree",
        metavar="REV",
        help="commit to evaluate (default: the files as they are)",
    )
    parser.add_argument("--suite", metavar="NAME", help="only this suite")
    parser.add_argument("--config", metavar="FILE", help="settings (default: gradegate.toml)")
    _machine(parser)


def _machine(parser: ArgumentParser) -> None:
    _store(parser)
    parser.add_argument(
        "--agent-python",
        metavar="PATH",
        help="run ADK agents with this interpreter, which has all they need",
    )


def _store(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--store", metavar="FILE", help="runs and verdicts to reuse (default: in your cache)"
    )


def _evals(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--evals",
        nargs="+",
        type=Path,
        required=True,
        metavar="PATH",
        help="eval sets, or folders of them",
    )


def _out(parser: ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help=f"write {what} here (default: standard output)"
    )


def _run(parser: ArgumentParser) -> None:
    _sources(parser)
    parser.add_argument(
        "--base",
        metavar="REV",
        help="compare with this (default: where head left the default branch); "
        "`none` leaves it to thresholds",
    )
    parser.add_argument("--case", metavar="GLOB", help="only cases whose eval id matches")
    parser.add_argument("--runs", type=_count, metavar="N", help="first runs of each case and side")
    parser.add_argument(
        "--fail-on",
        type=_kinds,
        metavar="KINDS",
        help="what blocks, as in `regression,new_failure`",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="also write comment, check, page, JUnit and JSON here",
    )
    parser.add_argument(
        "--language", choices=("en", "ja"), help="of the report (default: as set, or en)"
    )
    parser.add_argument(
        "--shard", type=_shard, metavar="N/M", help="only this part of the cases, as in 2/8"
    )
    parser.add_argument(
        "--working-directory",
        default=".",
        metavar="DIR",
        help="the project's folder in the repository",
    )
    parser.add_argument("--answers", type=Path, metavar="FILE", help="judge by recorded answers")
    parser.add_argument(
        "--accept", action="store_true", help="waive regressions, removed cases and loosened rules"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what it would run and ask, and do neither"
    )


def _check(parser: ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or folders (default: all)")


def _init(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--repo", type=Path, default=Path(), metavar="DIR", help="the repository (default: here)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite what is there")
    parser.add_argument(
        "--diff", action="store_true", help="show what would be written, and write nothing"
    )


def _criteria(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="explain this one, with a config to copy"
    )


def _score(parser: ArgumentParser) -> None:
    _evals(parser)
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="one config for all sets (default: the test_config.json beside each)",
    )
    parser.add_argument(
        "--traces", type=Path, required=True, metavar="FILE", help="what `gradegate record` wrote"
    )
    _out(parser, "the results")
    _store(parser)
    parser.add_argument("--answers", type=Path, metavar="FILE", help="judge by recorded answers")


def _record(parser: ArgumentParser) -> None:
    parser.add_argument("--agent", required=True, metavar="DIR", help="folder of the ADK agent")
    _evals(parser)
    _out(parser, "the traces")
    parser.add_argument(
        "--runs", type=_count, default=1, metavar="N", help="runs of each case (default: 1)"
    )
    _machine(parser)


def _compare(parser: ArgumentParser) -> None:
    of = "results.json, or ADK's *.evalset_result.json, of"
    parser.add_argument("base", type=Path, metavar="BASE", help=f"{of} the old side")
    parser.add_argument("head", type=Path, metavar="HEAD", help=f"{of} the new side")
    _out(parser, "the report")


def _merge(parser: ArgumentParser) -> None:
    parser.add_argument(
        "shards", nargs="+", type=Path, metavar="SHARD", help="results.json of one shard"
    )
    _out(parser, "the results")


def _render(parser: ArgumentParser) -> None:
    formats = ("comment", "check", "summary", "html", "junit", "text", "json")
    parser.add_argument(
        "report", type=Path, metavar="report.json", help="what `run --out` or `compare` wrote"
    )
    parser.add_argument(
        "--format", choices=formats, default="text", help="which view (default: text)"
    )
    parser.add_argument(
        "--language", choices=("en", "ja"), default="en", help="of the view (default: en)"
    )
    parser.add_argument(
        "--template", type=Path, metavar="DIR", help="templates to use before our own"
    )


def _baseline(parser: ArgumentParser) -> None:
    _sources(parser)


def _publish(parser: ArgumentParser) -> None:
    parser.add_argument(
        "report",
        nargs="?",
        type=Path,
        metavar="report.json",
        help="default: the one in the report folder",
    )


def _schema(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="results, report, traces or settings")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is no number of runs: write 1 or more")
    return int(text)


def _kinds(text: str) -> tuple[str, ...]:
    from gradegate.github_action.inputs import Inputs
    from gradegate.model.errors import InputError

    try:
        return Inputs.from_environ({"INPUT_FAIL-ON": text}).fail_on or ()
    except InputError as error:
        raise ArgumentTypeError(str(error)) from error


def _shard(text: str) -> object:
    from gradegate.github_action.inputs import Inputs
    from gradegate.model.errors import InputError

    try:
        return Inputs.from_environ({"INPUT_SHARD": text}).shard
    except InputError as error:
        raise ArgumentTypeError(str(error)) from error
