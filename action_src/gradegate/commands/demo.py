"""`gradegate demo`: the whole job on a small repository of its own, offline."""

import shutil
import tempfile
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from gradegate.app import Evaluated, Task
from gradegate.commands.run import evaluate_here
from gradegate.deliver import EXIT_CODES, Style, write_files
from gradegate.demo.repository import ANSWERS, DOCS_ONLY, MAIN, PULL_REQUEST, make_repository
from gradegate.sides.checkout import Wanted
from gradegate.sides.git import Repo
from gradegate.wiring import STORE_FILE, Outside

if TYPE_CHECKING:
    from rich.console import Console

FILES = {
    "comment.md": "the pull request's comment",
    "check.md": "the check's page",
    "summary.md": "the job's summary",
    "report.html": "the page with everything in it",
    "report.json": "the same for programs",
    "junit.xml": "the same for test dashboards",
    "head.results.json": "every score of the pull request",
    "base.results.json": f"every score of {MAIN}",
}


def demo(options: Namespace, environ: Mapping[str, str]) -> int:
    """Make the repository, evaluate its pull request, show all of it.

    The gate's "no" is what there is to see, so it is not the demo's own exit code.
    """
    from rich.console import Console

    from gradegate.report.terminal import print_report

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    folder = options.out or Path(tempfile.mkdtemp(prefix="gradegate-demo-"))
    make_repository(folder / "repo", environ)
    shutil.copyfile(ANSWERS, folder / ANSWERS.name)
    _introduce(console)
    done = _evaluated(folder, environ)
    print_report(done.report, console)
    written = write_files(done.report, folder / "report", Style(), head=done.head, base=done.base)
    _tell_files(console, written)
    _tell_next(console, folder, EXIT_CODES[done.report.decision.state])
    return 0


def _evaluated(folder: Path, environ: Mapping[str, str]) -> Evaluated:
    """The same job as `gradegate run` does, with nothing kept from earlier ones."""
    repo = Repo.open(folder / "repo", environ)
    with tempfile.TemporaryDirectory(prefix="gradegate-demo-store-") as store:
        outside = Outside(
            environ,
            repository=repo.top,
            cache=Path(store),
            answers=folder / ANSWERS.name,
            trusted=True,
        )
        task = Task(repo, Wanted(head=PULL_REQUEST.name))
        return evaluate_here(task, outside, Path(store) / STORE_FILE)


def _introduce(console: "Console") -> None:
    console.print("A travel desk, and a pull request to it", style="bold")
    console.print(f"“{PULL_REQUEST.message}” ({PULL_REQUEST.name} → {MAIN})")
    console.print(
        "Both agents really run here, without a key or a network. "
        "Judge verdicts in this demo are recorded ones.",
        style="dim",
    )


def _tell_files(console: "Console", written: list[Path]) -> None:
    console.print()
    console.print("Written", style="bold")
    width = max(len(str(path)) for path in written)
    for path in sorted(written, key=lambda path: list(FILES).index(path.name)):
        console.print(f"  {str(path).ljust(width)}  ", end="")
        console.print(FILES[path.name], style="dim")


def _tell_next(console: "Console", folder: Path, code: int) -> None:
    repo, answers = quote(str(folder / "repo")), quote(str(folder / ANSWERS.name))
    console.print()
    console.print("Try next", style="bold")
    for command, what in (
        (f"gradegate run --repo {repo} --answers {answers}", f"the same by hand: exit code {code}"),
        (f"git -C {repo} switch {DOCS_ONLY.name}", "then once more: exit code 0"),
        (f"gradegate init --repo {repo}", "the workflow that does it on every pull request"),
    ):
        console.print(f"  {command}", style="cyan")
        console.print(f"    {what}", style="dim")
    console.print()
    console.print(
        f"In a pull request the gate would have ended with exit code {code}. "
        "The demo itself has done its work: exit code 0."
    )
