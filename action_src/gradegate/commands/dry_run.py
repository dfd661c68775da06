"""`gradegate run --dry-run`: what a run would do and ask, without doing or asking it."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gradegate import numbers
from gradegate.app import Task, Workshop, set_up
from gradegate.model.case import Case
from gradegate.model.trace import NotRun, Trace
from gradegate.ports import AgentRunner
from gradegate.prepare import Prepared, Setup
from gradegate.scoring.estimate import Calls, Estimate, Estimator
from gradegate.scoring.score import score_run
from gradegate.store.sqlite import SqliteStore
from gradegate.wiring import Outside


def dry_run(task: Task, outside: Outside, store: Path) -> int:
    """Print the runs and judge calls that a run would come to."""
    with tempfile.TemporaryDirectory(prefix="gradegate-") as temporary, SqliteStore(store) as kept:
        setup = set_up(task, Path(temporary))
        estimator = Estimator(kept, setup.policy.judge.model)
        workshop = outside.world(kept).workshop()
        runs = asyncio.run(_count(setup, workshop, estimator))
    for line in _told(setup, runs, estimator.estimate()):
        print(line)  # noqa: T201 - the command's answer
    return 0


async def _count(setup: Setup, workshop: Workshop, estimator: Estimator) -> int:
    """Put every run that can be foreseen to the estimator; how many runs agents would make."""
    live = 0
    recordings: dict[tuple[str, str], AgentRunner] = {}
    for side, case in _planned(setup):
        suite = next(one for one in side.suites if one.name == case.suite)
        if suite.traces is None:
            live += suite.runs
            await score_run(case, _as_expected(case), 1, estimator)
            continue
        place = (side.fingerprint, suite.name)
        if place not in recordings:
            recordings[place] = workshop.runner_for(suite, side.side, estimator, None)
        runner = recordings[place]
        for number in range(1, runner.runs_of(case, suite.runs) + 1):
            await score_run(case, await runner.run(case, number), number, estimator)
    return live


def _planned(setup: Setup) -> Iterator[tuple[Prepared, Case]]:
    for pair in setup.pairs:
        if pair.head is None:
            continue
        yield setup.head, pair.head
        in_base = setup.base and pair.base and pair.head.suite in setup.base.identities
        if setup.base and in_base:
            yield setup.base, pair.head


def _as_expected(case: Case) -> Trace | NotRun:
    """What an agent would do that does as it should: as many questions as any other."""
    expected = case.definition.conversation
    if expected is None:
        return NotRun("how long a simulated conversation gets shows when it is had")
    return Trace(
        suite=case.suite, eval_set=case.eval_set, eval_id=case.eval_id, invocations=expected
    )


def _told(setup: Setup, runs: int, estimate: Estimate) -> Iterator[str]:
    if setup.nothing_changed:
        yield "nothing changed between base and head: nothing would be run or asked"
        return
    cases = sum(pair.head is not None for pair in setup.pairs)
    yield _some(cases, "case")
    if runs:
        most = setup.policy.gate.confirm_runs
        yield (
            f"{_some(runs, 'run')} of the agents, less what the store has; up to {most} more "
            "a side for a case that looks worse, with their judge calls"
        )
    yield f"judge calls: {_range(estimate.total)}"
    for name, calls in estimate.by_criterion.items():
        yield f"  {name}: {_range(calls)}"


def _some(number: int, what: str) -> str:
    return f"{numbers.count(number)} {what}{'s'[: number != 1]}"


def _range(calls: Calls) -> str:
    if calls.least == calls.most:
        return numbers.count(calls.least)
    return f"{numbers.count(calls.least)} to {numbers.count(calls.most)}"
