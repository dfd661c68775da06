"""`gradegate run`: the whole job at a terminal. Same engine as the Action."""

import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from gradegate.github_action.event import Local
from gradegate.github_action.inputs import Inputs
from gradegate.github_action.plan import BaseRule, Evaluate, plan_for
from gradegate.pipeline.evaluate import Evaluation, EvaluationRequest, evaluate
from gradegate.pipeline.prepare import CaseFilter
from gradegate.progress import ProgressLine, interruptible
from gradegate.report.render import EXIT_CODES, ViewOptions, writable, write_files
from gradegate.sides.checkout import Wanted
from gradegate.sides.git import Repo
from gradegate.store.sqlite import SqliteStore
from gradegate.wiring import Machine, cache_folder, store_path

HOW_TO_RUN_ALL_THE_SAME = (
    "To see how this side scores all the same: `gradegate run --base none`; to compare it with "
    "another commit: `--base REV`."
)


def run(options: Namespace, environ: Mapping[str, str]) -> int:
    """Evaluate, print the report, write its files where asked."""
    inputs = Inputs(
        suite=options.suite,
        config=options.config,
        base=options.base,
        fail_on=options.fail_on,
        runs=options.runs,
        language=options.language,
        working_directory=options.working_directory,
    )
    repo = Repo.open(options.repo, environ)
    plan = plan_for(Local(), inputs)
    assert isinstance(plan, Evaluate)  # noqa: S101 - a terminal asks for nothing else
    task = EvaluationRequest(
        repo=repo,
        wanted=wanted_of(plan.base, options.head),
        inputs=inputs,
        selection=CaseFilter(case=options.case, shard=options.shard),
        accepted_by="" if options.accept else None,
    )
    outside = Machine(
        environ=environ,
        repository=repo.top,
        cache=cache_folder(environ),
        agent_python=options.agent_python,
        answers=options.answers,
    )
    path = store_path(environ, options.store)
    if options.dry_run:
        from gradegate.pipeline.dry_run import dry_run

        return dry_run(task, outside, path)
    if options.out is not None:
        writable(options.out)
    done = evaluate_here(task, outside, path)
    return show(done, options.out, inputs.language)


def wanted_of(base: BaseRule, head: str) -> Wanted:
    """Which commits a plan means."""
    return Wanted(head=head, rev=base.rev, merge_of=base.merge_of, meets=base.meets)


def evaluate_here(task: EvaluationRequest, outside: Machine, store: Path) -> Evaluation:
    """Evaluate with progress on standard error; a signal ends it with what is finished kept."""
    from dataclasses import replace

    narrator = ProgressLine()
    told = replace(outside, on_runs=narrator.runs, on_asked=narrator.asked)
    try:
        with SqliteStore(store) as opened:
            return interruptible(evaluate(task, told.world(opened)))
    finally:
        narrator.close()


def show(done: Evaluation, out: Path | None, language: str | None) -> int:
    """Print the report, and write its files where asked; the exit code."""
    from rich.console import Console

    from gradegate.report.headline import nothing_ran
    from gradegate.report.terminal import print_report

    report = done.report
    spoken = language or done.setup.policy.report.language
    console = Console(highlight=False)
    print_report(report, console, language=spoken)
    if nothing_ran(report):
        sys.stderr.write(f"{HOW_TO_RUN_ALL_THE_SAME}\n")
    if out is not None:
        written = write_files(report, out, ViewOptions(spoken), head=done.head, base=done.base)
        console.print()
        for path in written:
            console.print(f"wrote {path}", style="dim", markup=False, soft_wrap=True)
    return EXIT_CODES[report.decision.state]
