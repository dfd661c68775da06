"""What a run would ask, counted without asking: the dry run's `ask`.

`gradegate run --dry-run`: what a run would do and ask, without doing or asking it.
"""

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import BaseModel

from gradegate import locales
from gradegate.judge import votes
from gradegate.judge.cache import stored_reply
from gradegate.model.evalset import Case
from gradegate.model.question import Question, Votes
from gradegate.model.runs import NotRun, Trace
from gradegate.pipeline.evaluate import AgentFactory, EvaluationRequest, set_up
from gradegate.pipeline.prepare import Prepared, PreparedSide
from gradegate.pipeline.score import score_run
from gradegate.ports import AgentRunner, Store
from gradegate.store.sqlite import SqliteStore
from gradegate.wiring import Machine

T = TypeVar("T", bound=BaseModel)

NOT_ASKED = "nothing is asked in a dry run"


class Calls(NamedTuple):
    """How many calls there will be."""

    least: int
    most: int


class Estimate(NamedTuple):
    """How many calls a run would make, retries aside."""

    total: Calls
    by_criterion: dict[str, Calls]


class EstimatingJudge:
    """Takes the place of `ask` and keeps count of the samples that are not in the store.

    The least is what is asked even if every vote is unanimous, the most is every sample of
    every question. A question that only arises from the answer to another (a validator's,
    from a segmenter's) is reached by the other's `stand_in`; it counts for the most alone,
    because the answer may be unusable, or leave nothing to ask.
    """

    def __init__(self, store: Store, default_model: str = "") -> None:
        self._store = store
        self._default_model = default_model
        self._certain: defaultdict[str, set[str]] = defaultdict(set)
        self._possible: defaultdict[str, set[str]] = defaultdict(set)
        self._leading: dict[str, str] = {}
        """By criterion, the kind of question whose stand-in may have led to others."""

    async def __call__(self, question: Question[T], samples: int) -> Votes[T]:
        """Count the question; its outcome where the store has it, else a stand-in's."""
        question = question.by_default(self._default_model)
        outcomes: list[T | str] = []
        while more := votes.needed(question, outcomes, samples):
            ahead = range(len(outcomes) + 1, len(outcomes) + more + 1)
            replies = [stored_reply(self._store, question.key(number)) for number in ahead]
            known = [votes.read(question, reply) for reply in replies if reply is not None]
            if len(known) < more:
                return self._not_asked(question, samples, ahead)
            outcomes += known
        return votes.count(question, outcomes, samples)

    def estimate(self) -> Estimate:
        """What all questions so far come to."""
        by_criterion = {
            name: Calls(len(self._certain[name]), len(self._possible[name]))
            for name in sorted(self._possible)
        }
        least = sum(calls.least for calls in by_criterion.values())
        most = sum(calls.most for calls in by_criterion.values())
        return Estimate(Calls(least, most), by_criterion)

    def _not_asked(self, question: Question[T], samples: int, ahead: range) -> Votes[T]:
        name = question.criterion
        if self._leading.get(name, question.kind) == question.kind:
            self._certain[name] |= self._missing(question, ahead)
        self._possible[name] |= self._missing(question, range(ahead.start, samples + 1))
        if question.stand_in is None:
            return Votes(failure=NOT_ASKED)
        self._leading.setdefault(name, question.kind)
        return votes.count(question, [question.stand_in()] * samples, samples)

    def _missing(self, question: Question[T], numbers: range) -> set[str]:
        keys = (question.key(number) for number in numbers)
        return {key for key in keys if stored_reply(self._store, key) is None}


def dry_run(task: EvaluationRequest, outside: Machine, store: Path) -> int:
    """Print the runs and judge calls that a run would come to."""
    with tempfile.TemporaryDirectory(prefix="gradegate-") as temporary, SqliteStore(store) as kept:
        setup = set_up(task, Path(temporary))
        estimator = EstimatingJudge(kept, setup.policy.judge.model)
        workshop = outside.world(kept).workshop()
        runs = asyncio.run(_count(setup, workshop, estimator))
    for line in _told(setup, runs, estimator.estimate()):
        print(line)  # noqa: T201 - the command's answer
    return 0


async def _count(setup: Prepared, workshop: AgentFactory, estimator: EstimatingJudge) -> int:
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


def _planned(setup: Prepared) -> Iterator[tuple[PreparedSide, Case]]:
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


def _told(setup: Prepared, runs: int, estimate: Estimate) -> Iterator[str]:
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
    return f"{locales.count(number)} {what}{'s'[: number != 1]}"


def _range(calls: Calls) -> str:
    if calls.least == calls.most:
        return locales.count(calls.least)
    return f"{locales.count(calls.least)} to {locales.count(calls.most)}"
