"""Commands that read files and write files: score, record, compare, merge, render."""

import asyncio
import os
import shutil
import sys
import tempfile
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from gradegate.evalsets.load import LoadedSuite, load_cases_of_files
from gradegate.files.findings import refuse_errors
from gradegate.files.results_json import read_results, read_traces
from gradegate.model.errors import FileError, InputError
from gradegate.model.evalset import Case
from gradegate.model.result import CaseResult, Results, Status
from gradegate.model.runs import NotRun, Trace, Traces
from gradegate.model.settings import JudgeSettings, Suite
from gradegate.ports import AgentRunner, Ask
from gradegate.progress import interruptible
from gradegate.wiring import Machine, cache_folder, store_path

if TYPE_CHECKING:
    from gradegate.sides.checkout import Side


def score(options: Namespace, environ: Mapping[str, str]) -> int:
    """Score recorded runs, one side."""
    loaded = load_cases_of_files(Path.cwd(), options.evals, options.config)
    _remark(loaded)
    traces = _as_loaded(read_traces(options.traces), loaded, options.evals)
    results = interruptible(_score(loaded, traces, options, environ))
    _write(options.out, results.model_dump_json(indent=2) + "\n")
    _say(counted(results))
    return exit_code_of(results)


def _as_loaded(traces: Traces, loaded: LoadedSuite, given: Sequence[Path]) -> Traces:
    """The traces under the names that the eval sets have here.

    Here all cases are one suite's, whatever suite a trace was recorded for; and where a folder
    was given, a trace may name its set from that folder or from where we are.
    """
    known = {name for case in loaded.cases for name in (case.eval_set, case.eval_set_id)}
    folders = [PurePath(os.path.relpath(path)) for path in given if path.is_dir()]

    def named(eval_set: str) -> str:
        path = PurePath(eval_set)
        inside = [path.relative_to(one).as_posix() for one in folders if path.is_relative_to(one)]
        return next((name for name in (eval_set, *inside) if name in known), eval_set)

    return Traces.of(
        trace.model_copy(update={"suite": loaded.suite.name, "eval_set": named(trace.eval_set)})
        for trace in traces.cases
    )


def exit_code_of(results: Results) -> int:
    """1 where a case fails a threshold, else 3 where anything could not be scored."""
    statuses = {case.status for case in results.cases}
    if statuses & {Status.FAILED, Status.ERRORED}:
        return 1
    return 3 if Status.NOT_EVALUATED in statuses else 0


async def _score(
    loaded: LoadedSuite, traces: Traces, options: Namespace, environ: Mapping[str, str]
) -> Results:
    from gradegate.agents.recorded import RecordedAgent
    from gradegate.store.sqlite import SqliteStore

    agent = RecordedAgent(traces, loaded.suite.name, str(options.traces))
    agent.refuse_strangers(loaded.cases)
    outside = Machine(
        environ, Path.cwd(), cache_folder(environ), answers=getattr(options, "answers", None)
    )
    with SqliteStore(store_path(environ, options.store)) as store:
        async with outside.court(JudgeSettings(), store) as court:
            scored = await asyncio.gather(
                *(
                    _score_one(agent, case, number, court)
                    for case in loaded.cases
                    for number in range(1, agent.runs_of(case) + 1)
                )
            )
            return Results(cases=tuple(scored), usage=court.usage())


async def _score_one(agent: AgentRunner, case: Case, number: int, ask: Ask) -> CaseResult:
    from gradegate.pipeline.score import score_run

    return await score_run(case, await agent.run(case, number), number, ask)


def compare(options: Namespace, environ: Mapping[str, str]) -> int:
    """Compare two results files, and decide."""
    del environ
    from gradegate.locales import locale_of
    from gradegate.pipeline.results_files import compare_results, lean
    from gradegate.report.render import EXIT_CODES, render
    from gradegate.report.view import build

    report = compare_results(lean(read_results(options.base)), lean(read_results(options.head)))
    _write(options.out, render(report, "json"))
    view = build(report, locale_of("en"))
    _say(f"{view.icon} {view.title}")
    return EXIT_CODES[report.decision.state]


def merge(options: Namespace, environ: Mapping[str, str]) -> int:
    """Put shards together."""
    del environ
    from gradegate.pipeline.results_files import merge_results

    shards = [(str(path), read_results(path)) for path in options.shards]
    _write(options.out, merge_results(shards).model_dump_json(indent=2) + "\n")
    return 0


def show(options: Namespace, environ: Mapping[str, str]) -> int:
    """Render one view of a report."""
    del environ
    from gradegate.files.report_json import read_report
    from gradegate.report.render import render

    report = read_report(options.report)
    text = render(report, options.format, language=options.language, template_dir=options.template)
    sys.stdout.write(text)
    return 0


def record(options: Namespace, environ: Mapping[str, str]) -> int:
    """Run an agent, one side, and keep what it did."""
    loaded = load_cases_of_files(Path.cwd(), options.evals)
    _remark(loaded)
    traces = interruptible(_record(loaded, options, environ))
    _write(options.out, Traces.of(traces).model_dump_json(indent=1, exclude_defaults=True) + "\n")
    failed = [trace for trace in traces if trace.error]
    _say(f"recorded {len(traces)} runs, {len(failed)} of them failed")
    return 0


async def _record(
    loaded: LoadedSuite, options: Namespace, environ: Mapping[str, str]
) -> list[Trace]:
    from gradegate.store.sqlite import SqliteStore
    from gradegate.wiring import SandboxedAgents

    outside = Machine(environ, Path.cwd(), cache_folder(environ), agent_python=options.agent_python)
    with tempfile.TemporaryDirectory(prefix="gradegate-") as temporary:
        side, agent = _copied(Path(options.agent), Path(temporary) / "head", environ)
        suite = Suite(agent=agent)
        with (
            SqliteStore(store_path(environ, options.store)) as store,
            SandboxedAgents(outside) as shop,
        ):
            async with (
                outside.court(JudgeSettings(), store) as court,
                shop.runner_for(suite, side, court, None) as runner,
            ):
                reason = await runner.prepare()
                if reason:
                    raise InputError(f"the agent in {options.agent} cannot be run: {reason}")
                outcomes = await asyncio.gather(
                    *(
                        runner.run(case, number)
                        for case in loaded.cases
                        for number in range(1, options.runs + 1)
                    )
                )
    return [_trace(outcome) for outcome in outcomes]


def _copied(agent: Path, into: Path, environ: Mapping[str, str]) -> tuple["Side", str]:
    """A copy of what the agent is part of, and the agent's folder in it.

    The agent may write to its files, and they may be given to another user.
    """
    from gradegate.sides.checkout import Side
    from gradegate.sides.git import Repo

    if not agent.is_dir():
        raise InputError(f"{agent} is not a folder: name the one the ADK agent is in")
    place = agent.resolve()
    try:
        repo = Repo.open(place, environ)
    except InputError:
        shutil.copytree(place, into / place.name, symlinks=True)
        return Side("", into, into), place.name
    repo.export_worktree(into)
    return Side("", into, into), place.relative_to(repo.top.resolve()).as_posix()


def _trace(outcome: Trace | NotRun) -> Trace:
    if isinstance(outcome, NotRun):
        raise InputError(f"a case could not be run: {outcome.reason}")
    return outcome


def _remark(loaded: LoadedSuite) -> None:
    refuse_errors(loaded.findings)
    for finding in loaded.findings:
        _say(str(finding))


def _write(path: Path | None, text: str) -> None:
    if path is None:
        sys.stdout.write(text)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        message = f"cannot be written: {error.strerror}; name another file with `--out`"
        raise FileError(path, message) from error


def counted(results: Results) -> str:
    """How many runs came to what, in a line."""
    statuses = Counter(case.status.value for case in results.cases)
    return ", ".join(f"{number} {status}" for status, number in sorted(statuses.items()))


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
