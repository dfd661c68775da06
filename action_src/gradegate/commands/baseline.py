"""`gradegate baseline`: one side, evaluated and kept."""

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gradegate.commands.record import counted
from gradegate.github_action.inputs import Inputs
from gradegate.model.result import Results
from gradegate.pipeline.evaluate import EvaluationRequest, baseline
from gradegate.progress import ProgressLine, interruptible
from gradegate.sides.checkout import Wanted
from gradegate.sides.git import NO_BASE, Repo
from gradegate.store.sqlite import SqliteStore
from gradegate.wiring import Machine, cache_folder, store_path


def measure(options: Namespace, environ: Mapping[str, str]) -> int:
    """The same at a terminal."""
    repo = Repo.open(options.repo, environ)
    task = EvaluationRequest(
        repo=repo,
        wanted=Wanted(head=options.head, rev=NO_BASE),
        inputs=Inputs(suite=options.suite, config=options.config),
    )
    outside = Machine(environ, repo.top, cache_folder(environ), agent_python=options.agent_python)
    print(measure_baseline(task, outside, store_path(environ, options.store)))  # noqa: T201 - the command's answer
    return 0


def measure_baseline(task: EvaluationRequest, outside: Machine, store: Path) -> str:
    """Evaluate into the store; what was kept, in a sentence."""
    narrator = ProgressLine()
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
