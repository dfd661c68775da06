"""What several commands share: arguments, and where their output goes."""

import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gradegate.model.errors import FileError, InputError
from gradegate.report.escape import terminal

if TYPE_CHECKING:
    from gradegate.model.result import Results

T = TypeVar("T")


def add_sides(parser: ArgumentParser) -> None:
    """Which repository, which commit, which suite."""
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
    add_machine(parser)


def add_machine(parser: ArgumentParser) -> None:
    """What is kept, and what agents run with."""
    add_store(parser)
    parser.add_argument(
        "--agent-python",
        metavar="PATH",
        help="run ADK agents with this interpreter, which has all they need",
    )


def add_store(parser: ArgumentParser) -> None:
    """Where runs and verdicts are kept."""
    parser.add_argument(
        "--store", metavar="FILE", help="runs and verdicts to reuse (default: in your cache)"
    )


def add_evals(parser: ArgumentParser) -> None:
    """Which eval sets."""
    parser.add_argument(
        "--evals",
        nargs="+",
        type=Path,
        required=True,
        metavar="PATH",
        help="eval sets, or folders of them",
    )


def add_out(parser: ArgumentParser, what: str) -> None:
    """Where the output goes."""
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help=f"write {what} here (default: standard output)"
    )


def add_answers(parser: ArgumentParser) -> None:
    """Recorded answers in place of a judge."""
    parser.add_argument("--answers", type=Path, metavar="FILE", help="judge by recorded answers")


def count(text: str) -> int:
    """A number of runs."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is no number of runs: write 1 or more")
    return int(text)


def reading(name: str, read: Callable[[str, str], T]) -> Callable[[str], T]:
    """An argument that is read as the input of the same name is."""

    def argument(text: str) -> T:
        try:
            return read(name, text)
        except InputError as error:
            raise ArgumentTypeError(str(error)) from error

    return argument


def say(line: str) -> None:
    """A line for people, on standard error."""
    sys.stderr.write(terminal(f"{line}\n"))


def write(path: Path | None, text: str) -> None:
    """Write a file, or to standard output where none is named."""
    if path is None:
        sys.stdout.write(text)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        message = f"cannot be written: {error.strerror}; name another file with `--out`"
        raise FileError(path, message) from error


def counted(results: "Results") -> str:
    """How many runs came to what, in a line."""
    statuses = Counter(case.status.value for case in results.cases)
    return ", ".join(f"{number} {status}" for status, number in sorted(statuses.items()))
