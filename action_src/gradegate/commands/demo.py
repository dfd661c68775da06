"""`gradegate demo`: the whole job on a small repository of its own, offline."""

import shutil
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from gradegate.demo.repository import ANSWERS, DOCS_ONLY, MAIN, PULL_REQUEST, make_repository
from gradegate.files.temporary import temporary_folder
from gradegate.pipeline.evaluate import Evaluation, evaluate
from gradegate.pipeline.prepare import EvaluationRequest
from gradegate.ports import Machine
from gradegate.progress import run_until_signal
from gradegate.report.render import EXIT_CODES, ViewOptions, render_views, writable
from gradegate.sides.checkout import Revisions
from gradegate.sides.git import Repo
from gradegate.wiring import STORE_FILE, services

if TYPE_CHECKING:
    from rich.console import Console

Say = Callable[..., None]

FILES = {
    "comment.md": "the pull request's comment",
    "check.md": "the check's page",
    "summary.md": "the job's summary",
    "report.html": "the page with everything in it",
    "report.json": "the same for programs",
    "junit.xml": "the same for test dashboards",
    "badge.json": "the verdict as a badge",
    "head.results.json": "every score of the pull request",
    "base.results.json": f"every score of {MAIN}",
}


def add_arguments(parser: ArgumentParser) -> None:
    """What `demo` takes."""
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to put repo and report")


def demo(options: Namespace, environ: Mapping[str, str]) -> int:
    """Make the repository, evaluate its pull request, show all of it.

    The gate's "no" is what there is to see, so it is not the demo's own exit code.
    """
    from rich.console import Console

    from gradegate.report.terminal import print_report

    console = Console(highlight=False)
    say = partial(_say, console)
    folder = writable(options.out or Path(tempfile.mkdtemp(prefix="gradegate-demo-")))
    make_repository(folder / "repo", environ)
    shutil.copyfile(ANSWERS, folder / ANSWERS.name)
    _introduce(say)
    done = _evaluated(folder, environ)
    say()
    print_report(done.report, console)
    views = render_views(done.report, ViewOptions())
    written = views.write(folder / "report", done.results)
    _tell_files(say, written)
    _tell_next(say, folder, EXIT_CODES[done.report.decision.state])
    return 0


def _evaluated(folder: Path, environ: Mapping[str, str]) -> Evaluation:
    """The same job as `gradegate run` does, with nothing kept from earlier ones."""
    repo = Repo.open(folder / "repo", environ)
    with temporary_folder("store") as store:
        machine = Machine(
            environ,
            repository=repo.top,
            cache=store,
            answers=folder / ANSWERS.name,
            trusted=True,
        )
        request = EvaluationRequest(repo, Revisions(head=PULL_REQUEST.name))
        with services(machine, store / STORE_FILE) as outside:
            return run_until_signal(evaluate(request, outside))


def _say(console: "Console", line: str = "", style: str = "") -> None:
    """One line, which a terminal may break and we do not: paths and commands are copied."""
    console.print(line, style=style, markup=False, emoji=False, soft_wrap=True)


def _introduce(say: Say) -> None:
    say("A travel desk, and a pull request to it", "bold")
    say(f"“{PULL_REQUEST.message}” ({PULL_REQUEST.name} → {MAIN})")
    say("Both agents really run here; no key, no network.", "dim")
    say("Judge verdicts in this demo are recorded ones.", "dim")


def _tell_files(say: Say, written: Sequence[Path]) -> None:
    say()
    say(f"Written to {written[0].parent}", "bold")
    width = max(map(len, FILES))
    for name in sorted((path.name for path in written), key=list(FILES).index):
        say(f"  {name:{width}}  {FILES[name]}")


def _tell_next(say: Say, folder: Path, code: int) -> None:
    repo, answers = quote(str(folder / "repo")), quote(str(folder / ANSWERS.name))
    program = _ourselves()
    say()
    say("Try next", "bold")
    for command, what in (
        (f"{program} run --repo {repo} --answers {answers}", f"the same by hand: exit code {code}"),
        (f"git -C {repo} switch {DOCS_ONLY.name}", "then the same again: exit code 0"),
        (f"{program} init --repo {repo}", "the workflow that does it on every pull request"),
    ):
        say(f"  {command}", "cyan")
        say(f"    {what}", "dim")
    say()
    say(f"The gate would have ended with exit code {code}. The demo is done: exit code 0.")


def _ourselves() -> str:
    """How to call us again: by name, or by the path we were called by."""
    return "gradegate" if shutil.which("gradegate") else quote(sys.argv[0])
