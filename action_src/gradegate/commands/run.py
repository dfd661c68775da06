"""`gradegate run`: the whole evaluation at a terminal. `gradegate baseline`: one side, kept."""

import asyncio
import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from gradegate.commands.options import add_answers, add_sides, count, reading, say, write
from gradegate.files.json_document import refuse_outside
from gradegate.files.tool_recordings import read_recording, recording_path
from gradegate.locales import languages
from gradegate.model.errors import InputError
from gradegate.model.overrides import READERS, Overrides, read_shard
from gradegate.model.report import Accepted
from gradegate.model.settings import ToolsMode
from gradegate.pipeline.case_filter import CaseFilter
from gradegate.pipeline.evaluate import Evaluation, baseline, evaluate, kept, run_shard
from gradegate.pipeline.prepare import EvaluationRequest
from gradegate.pipeline.shards import shard_done, write_shard
from gradegate.ports import Machine
from gradegate.progress import run_until_signal
from gradegate.report.escape import terminal
from gradegate.report.render import EXIT_CODES, ViewOptions, render_views, writable
from gradegate.sides.checkout import Revisions
from gradegate.sides.git import NO_BASE, WORKTREE, Repo
from gradegate.wiring import cache_folder, memory_store, services, store_path

HOW_TO_RUN_ALL_THE_SAME = (
    "To see how this side scores all the same: `gradegate run --base none`; to compare it with "
    "another commit: `--base REV`."
)


def add_arguments(parser: ArgumentParser) -> None:
    """What `run` takes."""
    add_sides(parser)
    parser.add_argument(
        "--base",
        metavar="REV",
        help="compare with this (default: where head left the default branch); "
        "`none` leaves it to thresholds",
    )
    parser.add_argument(
        "--case",
        action="append",
        default=[],
        metavar="GLOB",
        help="only cases whose eval id matches; may be given several times",
    )
    parser.add_argument(
        "--tools",
        choices=get_args(ToolsMode),
        help="how calls of an ADK agent's tools are answered (default: as the suite says); "
        "`record` writes *.tools.json beside the eval sets",
    )
    parser.add_argument("--runs", type=count, metavar="N", help="first runs of each case and side")
    parser.add_argument(
        "--fail-on",
        type=reading("fail-on", READERS["fail_on"]),
        metavar="KINDS",
        help="what blocks, as in `regression,new_failure`",
    )
    _add_output(parser)
    _add_shards(parser)
    parser.add_argument(
        "--working-directory",
        default=".",
        metavar="DIR",
        help="the project's folder in the repository",
    )
    add_answers(parser)
    parser.add_argument(
        "--accept", action="store_true", help="waive regressions, removed cases and loosened rules"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what it would run and ask, and do neither"
    )
    parser.add_argument("--json", action="store_true", help="with --dry-run: say it as JSON")


def _add_output(parser: ArgumentParser) -> None:
    """Where the report goes, and in which language."""
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="also write comment, check, page, JUnit and JSON here",
    )
    parser.add_argument(
        "--language", choices=languages(), help="of the report (default: as set, or en)"
    )


def _add_shards(parser: ArgumentParser) -> None:
    """Parts of the cases: one to run, or all of them to decide by."""
    parser.add_argument(
        "--shard",
        type=reading("shard", read_shard),
        metavar="N/M",
        help="run only this part of the cases, as in 2/8, and decide nothing",
    )
    parser.add_argument(
        "--shards",
        type=Path,
        metavar="DIR",
        help="decide by what the shards have run whose files are here",
    )


def add_baseline_arguments(parser: ArgumentParser) -> None:
    """What `baseline` takes."""
    add_sides(parser)
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="run and judge all of it anew, whatever is stored, and add it to base's history",
    )


def run(options: Namespace, environ: Mapping[str, str]) -> int:
    """Evaluate, print the report, write its files where asked."""
    repo = Repo.open(options.repo, environ)
    overrides = Overrides(
        suite=options.suite,
        config=options.config,
        fail_on=options.fail_on,
        runs=options.runs,
        language=options.language,
        tools=options.tools,
    )
    request = EvaluationRequest(
        repo=repo,
        revisions=Revisions(head=options.head, base=options.base),
        overrides=overrides,
        cases=CaseFilter(tuple(options.case)),
        shards=options.shards,
        folder=options.working_directory,
        accepted=Accepted("") if options.accept else None,
    )
    machine = Machine(
        environ=environ,
        repository=repo.top,
        cache=cache_folder(environ),
        agent_python=options.agent_python,
        answers=options.answers,
    )
    store = store_path(environ, options.store)
    if options.json and not options.dry_run:
        raise InputError("`--json` goes with `--dry-run`; a run's own JSON is written with `--out`")
    if options.dry_run:
        return _dry_run(request, machine, store, as_json=options.json)
    if options.shard is not None:
        return _run_shard(request, machine, store, options)
    if options.out is not None:
        writable(options.out)
    with services(machine, store) as outside:
        evaluation = run_until_signal(evaluate(request, outside))
    _write_recordings(evaluation, repo.top / options.working_directory, options.head)
    return _show(evaluation, options.out, options.language)


def _run_shard(
    request: EvaluationRequest, machine: Machine, store: Path, options: Namespace
) -> int:
    """Run one part of the cases into files; the exit code says nothing of how they came out."""
    if options.out is None or options.shards is not None:
        raise InputError(
            "`--shard` writes what it ran into the folder of `--out`; `--shards` decides by such "
            "files later: name `--out DIR` with the one, and the folder with the other"
        )
    writable(options.out)
    with services(machine, store) as outside:
        outcome = run_until_signal(run_shard(request, outside, options.shard))
    say(f"wrote {write_shard(options.out, outcome)}")
    say(shard_done(outcome))
    return 0


def _write_recordings(evaluation: Evaluation, root: Path, head: str) -> None:
    """Put what tools answered beside the eval sets, with what was recorded of other cases."""
    if evaluation.recordings and head != WORKTREE:
        say(f"the recordings of {head} are not written: record from the files as they are")
        return
    for eval_set, recording in evaluation.recordings.items():
        path = recording_path(eval_set)
        refuse_outside(root, path)
        write(root / path, read_recording(root, eval_set).and_then(recording).as_text())
        say(f"wrote {path}")


def _dry_run(request: EvaluationRequest, machine: Machine, store: Path, *, as_json: bool) -> int:
    from gradegate.pipeline.dry_run import dry_run

    with services(machine, store) as outside:
        done = asyncio.run(dry_run(request, outside, memory_store()))
    if as_json:
        print(json.dumps(done.as_json(), ensure_ascii=False, indent=1))  # noqa: T201 - the command's answer
        return 0
    for line in done.lines():
        print(terminal(line))  # noqa: T201 - the command's answer
    return 0


def _show(evaluation: Evaluation, out: Path | None, language: str | None) -> int:
    """Print the report, and write its files where asked; the exit code."""
    from rich.console import Console

    from gradegate.report.headline import nothing_ran
    from gradegate.report.terminal import print_report

    report = evaluation.report
    spoken = language or evaluation.settings.language
    console = Console(highlight=False)
    print_report(report, console, language=spoken)
    if nothing_ran(report):
        sys.stderr.write(f"{HOW_TO_RUN_ALL_THE_SAME}\n")
    if out is not None:
        written = render_views(report, ViewOptions(spoken)).write(out, evaluation.results)
        console.print()
        for path in written:
            console.print(f"wrote {path}", style="dim", markup=False, soft_wrap=True)
    return EXIT_CODES[report.decision.state]


def run_baseline(options: Namespace, environ: Mapping[str, str]) -> int:
    """Evaluate one side into the store."""
    repo = Repo.open(options.repo, environ)
    request = EvaluationRequest(
        repo=repo,
        revisions=Revisions(head=options.head, base=NO_BASE),
        overrides=Overrides(suite=options.suite, config=options.config),
    )
    machine = Machine(environ, repo.top, cache_folder(environ), agent_python=options.agent_python)
    store = store_path(environ, options.store)
    with services(machine, store, fresh=options.fresh) as outside:
        results = run_until_signal(baseline(request, outside))
    print(kept(results, store))  # noqa: T201 - the command's answer
    return 0
