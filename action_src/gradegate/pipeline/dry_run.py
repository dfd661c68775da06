"""`gradegate run --dry-run`: what a run would do and ask, without doing or asking it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, TypeVar

from pydantic import BaseModel

from gradegate import locales
from gradegate.compare.next_runs import first_pass
from gradegate.compare.terms import Terms
from gradegate.judge import votes
from gradegate.judge.cache import stored_reply
from gradegate.model.evalset import Case
from gradegate.model.notice import Notice, notice
from gradegate.model.question import Question, Votes
from gradegate.model.result import Usage
from gradegate.model.runs import NotRun, Side, SideName, Trace
from gradegate.model.settings import Suite
from gradegate.pipeline.audit import in_a_line
from gradegate.pipeline.evaluate import terms_of
from gradegate.pipeline.prepare import EvaluationRequest, Prepared, prepare
from gradegate.pipeline.services import AgentFactory, Services, open_runner
from gradegate.ports import AgentRunner, Ask, MetricCaller, Store

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
    """Takes the judge's place and keeps count of the samples that are not in the store.

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

    def usage(self, seconds: float = 0.0) -> Usage:
        """Nothing was asked."""
        return Usage(seconds=seconds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

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


class ExpectedAgent:
    """An agent that does as it should: it is asked as many questions about as any other."""

    rerunnable = True

    def runs_of(self, case: Case, asked: int) -> int:
        """As many as are asked for."""
        del case
        return asked

    async def prepare(self) -> Notice | None:
        """Nothing to make ready."""
        return None

    async def run(self, case: Case, run: int) -> Trace | NotRun:
        """What the eval set expects."""
        expected = case.definition.conversation
        if expected is None:
            return NotRun.because(notice("dry_run.simulated"))
        return Trace(
            suite=case.suite,
            eval_set=case.eval_set,
            eval_id=case.eval_id,
            run=run,
            invocations=expected,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


class ExpectedAgents:
    """Recordings are played back, as they cost nothing; every other agent is an expected one."""

    def __init__(self, agents: AgentFactory) -> None:
        self._agents = agents

    def runner_for(
        self, suite: Suite, side: Side, ask: Ask, cases: Sequence[Case] | None
    ) -> AgentRunner:
        """The recording, or an agent that does as it should."""
        if suite.traces is not None:
            return self._agents.runner_for(suite, side, ask, cases)
        return ExpectedAgent()

    def metrics_for(self, suite: Suite, side: Side) -> AbstractAsyncContextManager[MetricCaller]:
        """Nobody calls a user's metrics."""
        del suite, side
        return nullcontext(_not_called)

    def isolation(self) -> Sequence[Notice]:
        """Nothing is run."""
        return ()

    def warnings(self) -> Sequence[Notice]:
        """Nothing ran."""
        return ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


async def _not_called(request: dict[str, Any]) -> dict[str, Any] | str:
    del request
    return NOT_ASKED


@dataclass(frozen=True)
class DryRun:
    """What a run would come to."""

    prepared: Prepared
    live: int
    """Runs that agents would make, less what the store has."""
    estimate: Estimate
    audit: Notice
    """How many cases stay green whatever an agent does."""


async def dry_run(request: EvaluationRequest, services: Services, memory: Store) -> DryRun:
    """Put every run that can be foreseen to an estimating judge.

    `memory` takes the place of the store for runs: nothing that did not happen may be kept.
    """
    with prepare(request) as prepared:
        judge = EstimatingJudge(services.store, prepared.policy.judge.model)
        foreseen = replace(
            services,
            store=memory,
            judge=lambda _settings, _folders, _secrets: judge,
            agents=lambda: ExpectedAgents(services.agents()),
        )
        async with open_runner(prepared, foreseen) as runner:
            terms = terms_of(prepared, runner, services.today)
            await runner.make_wanted(lambda _: first_pass(terms))
    live = [total for (side, suite, total) in _totals(terms) if (side, suite) in terms.rerunnable]
    line = await in_a_line(prepared.head.cases)
    return DryRun(prepared, sum(live), judge.estimate(), line)


def _totals(terms: Terms) -> Iterator[tuple[SideName, str, int]]:
    return ((side, key.suite, total) for (side, key), total in terms.first_pass.items())


def told(done: DryRun) -> Iterator[str]:
    """The same in lines."""
    prepared = done.prepared
    if prepared.nothing_changed:
        yield "nothing changed between base and head: nothing would be run or asked"
        return
    cases = sum(pair.head is not None for pair in prepared.pairs)
    yield locales.some(cases, "case")
    if done.live:
        most = prepared.policy.gate.confirm_runs
        yield (
            f"{locales.some(done.live, 'run')} of the agents, less what the store has; up to "
            f"{most} more a side for a case that looks worse, with their judge calls"
        )
    yield f"judge calls: {_range(done.estimate.total)}"
    for name, calls in done.estimate.by_criterion.items():
        yield f"  {name}: {_range(calls)}"
    yield done.audit.text


def _range(calls: Calls) -> str:
    if calls.least == calls.most:
        return locales.count(calls.least)
    return f"{locales.count(calls.least)} to {locales.count(calls.most)}"
