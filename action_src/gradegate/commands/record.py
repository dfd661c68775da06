"""`gradegate record` and `gradegate score`: one side, given files."""

import os
import shutil
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from gradegate.commands.options import (
    add_answers,
    add_evals,
    add_machine,
    add_out,
    add_store,
    count,
    counted,
    say,
    write,
)
from gradegate.compare.next_runs import first_pass
from gradegate.evalsets.load import LoadedSuite, load_cases_of_files
from gradegate.files.findings import refuse_errors
from gradegate.files.results_json import read_traces
from gradegate.files.temporary import temporary_folder
from gradegate.locales import some
from gradegate.model.errors import InputError
from gradegate.model.result import Results, Status
from gradegate.model.runs import NotRun, Side, Trace, Traces
from gradegate.pipeline.evaluate import terms_of
from gradegate.pipeline.prepare import Prepared, prepare_files
from gradegate.pipeline.services import Services, open_runner
from gradegate.ports import Machine
from gradegate.progress import run_until_signal
from gradegate.sides.git import Repo
from gradegate.wiring import cache_folder, recorded_agents, services, store_path


def add_score_arguments(parser: ArgumentParser) -> None:
    """What `score` takes."""
    add_evals(parser)
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="one config for all sets (default: the test_config.json beside each)",
    )
    parser.add_argument(
        "--traces", type=Path, required=True, metavar="FILE", help="what `gradegate record` wrote"
    )
    add_out(parser, "the results")
    add_store(parser)
    add_answers(parser)


def add_record_arguments(parser: ArgumentParser) -> None:
    """What `record` takes."""
    parser.add_argument("--agent", required=True, metavar="DIR", help="folder of the ADK agent")
    add_evals(parser)
    add_out(parser, "the traces")
    parser.add_argument(
        "--runs", type=count, default=1, metavar="N", help="runs of each case (default: 1)"
    )
    add_machine(parser)


def score(options: Namespace, environ: Mapping[str, str]) -> int:
    """Score recorded runs, one side."""
    loaded = load_cases_of_files(Path.cwd(), options.evals, options.config)
    _remark(loaded)
    traces = _as_loaded(read_traces(options.traces), loaded, options.evals)
    agents = recorded_agents(traces, str(options.traces))
    machine = Machine(environ, Path.cwd(), cache_folder(environ), answers=options.answers)
    prepared = prepare_files(loaded, Side("", Path.cwd(), Path.cwd()))
    with services(machine, store_path(environ, options.store)) as outside:
        recorded = replace(outside, agents=lambda: agents)
        results = run_until_signal(_scored(prepared, recorded))
    write(options.out, results.model_dump_json(indent=2) + "\n")
    say(counted(results))
    for line in missing_scores(results):
        say(line)
    return exit_code_of(results)


def missing_scores(results: Results) -> Iterator[str]:
    """Why there are no scores: each criterion and reason once, the most frequent first."""
    missing = Counter(
        (name, one.reason or "")
        for case in results.cases
        for name, one in case.criteria.items()
        if one.status is Status.NOT_EVALUATED
    )
    for (name, reason), number in missing.most_common():
        yield f"{name} has no score in {some(number, 'run')}: {reason}"


async def _scored(prepared: Prepared, outside: Services) -> Results:
    async with open_runner(prepared, outside) as runner:
        terms = terms_of(prepared, runner, outside.today)
        await runner.make_wanted(lambda _: first_pass(terms))
    return runner.secrets.hide_in(runner.results("head"))


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


def record(options: Namespace, environ: Mapping[str, str]) -> int:
    """Run an agent, one side, and keep what it did."""
    loaded = load_cases_of_files(Path.cwd(), options.evals)
    _remark(loaded)
    machine = Machine(environ, Path.cwd(), cache_folder(environ), agent_python=options.agent_python)
    with temporary_folder("record") as temporary:
        side, agent = _copied(Path(options.agent), temporary / "head", environ)
        suite = loaded.suite.model_copy(update={"agent": agent})
        prepared = prepare_files(replace(loaded, suite=suite), side, options.runs)
        with services(machine, store_path(environ, options.store)) as outside:
            traces = run_until_signal(_recorded(prepared, outside, options.agent))
    text = Traces.of(traces).model_dump_json(indent=1, exclude_defaults=True)
    write(options.out, f"{text}\n")
    failed = [trace for trace in traces if trace.error]
    say(f"recorded {len(traces)} runs, {len(failed)} of them failed")
    return 0


async def _recorded(prepared: Prepared, outside: Services, agent: str) -> list[Trace]:
    async with open_runner(prepared, outside) as runner:
        reason = runner.unavailable("head")
        if reason:
            raise InputError(f"the agent in {agent} cannot be run: {reason.text}")
        terms = terms_of(prepared, runner, outside.today)
        outcomes = await runner.outcomes(first_pass(terms))
    return [runner.secrets.hide_in(_trace(outcome)) for outcome in outcomes]


def _copied(agent: Path, into: Path, environ: Mapping[str, str]) -> tuple[Side, str]:
    """A copy of what the agent is part of, and the agent's folder in it.

    The agent may write to its files, and they may be given to another user.
    """
    if not agent.is_dir():
        raise InputError(f"{agent} is not a folder: name the one the ADK agent is in")
    place = agent.resolve()
    try:
        repo = Repo.open(place, environ)
    except InputError:
        return _copied_alone(place, into)
    if not place.is_relative_to(
        repo.top.resolve()
    ):  # git's own folder, with its work tree elsewhere
        return _copied_alone(place, into)
    repo.export_worktree(into)
    return Side("", into, into), place.relative_to(repo.top.resolve()).as_posix()


def _copied_alone(place: Path, into: Path) -> tuple[Side, str]:
    shutil.copytree(place, into / place.name, symlinks=True)
    return Side("", into, into), place.name


def _trace(outcome: Trace | NotRun) -> Trace:
    if isinstance(outcome, NotRun):
        raise InputError(f"a case could not be run: {outcome.reason}")
    return outcome


def _remark(loaded: LoadedSuite) -> None:
    refuse_errors(loaded.findings)
    for finding in loaded.findings:
        say(str(finding))
