"""`gradegate baseline`: one side, evaluated and kept."""

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gradegate.app import Task, baseline
from gradegate.commands.files import counted
from gradegate.inputs import Inputs
from gradegate.model.result import Results
from gradegate.narrator import Narrator, interruptible
from gradegate.sides.checkout import Wanted
from gradegate.sides.git import NO_BASE, Repo
from gradegate.store.sqlite import SqliteStore
from gradegate.wiring import Outside, cache_folder, store_path


def measure(options: Namespace, environ: Mapping[str, str]) -> int:
    """The same at a terminal."""
    repo = Repo.open(options.repo, environ)
    task = Task(
        repo=repo,
        wanted=Wanted(head=options.head, rev=NO_BASE),
        inputs=Inputs(suite=options.suite, config=options.config),
    )
    outside = Outside(environ, repo.top, cache_folder(environ), agent_python=options.agent_python)
    print(measure_baseline(task, outside, store_path(environ, options.store)))  # noqa: T201 - the command's answer
    return 0


def measure_baseline(task: Task, outside: Outside, store: Path) -> str:
    """Evaluate into the store; what was kept, in a sentence."""
    narrator = Narrator()
    told = replace(outside, on_runs=narrator.runs, on_asked=narrator.asked)
    try:
        with SqliteStore(store) as opened:
            results = interruptible(baseline(task, told.world(opened)))
    finally:
        narrator.close()
    return _sentence(results, store)


def _sentence(results: Results, store: Path) -> str:
    what = results.commit[:7] or "the work tree"
    lines = [f"kept the baseline of {what} in {store}: {counted(results) or 'no cases'}"]
    return "\n".join([*lines, *(f"warning: {text}" for text in results.warnings)])
