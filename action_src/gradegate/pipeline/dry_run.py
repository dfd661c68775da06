"""`gradegate run --dry-run`: what a run would do and ask, without doing or asking it."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import Any, Self, TypeVar

from pydantic import BaseModel

from gradegate.compare.next_runs import first_pass
from gradegate.judge import votes
from gradegate.judge.cache import stored_reply
from gradegate.model.evalset import Case
from gradegate.model.notice import Notice, notice
from gradegate.model.question import Question, Votes
from gradegate.model.result import Usage
from gradegate.model.runs import NotRun, Side, Trace
from gradegate.model.settings import Suite
from gradegate.pipeline.dry_run_plan import Bounds, DryRun, Estimate, ForeseenRuns
from gradegate.pipeline.evaluate import terms_of
from gradegate.pipeline.journal import Journal
from gradegate.pipeline.prepare import EvaluationRequest, prepare
from gradegate.pipeline.services import AgentFactory, Services, open_runner
from gradegate.pipeline.weaknesses import in_a_line
from gradegate.ports import AgentRunner, Ask, MetricCaller, Store

T = TypeVar("T", bound=BaseModel)

NOT_ASKED = "nothing is asked in a dry run"


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
            name: Bounds(len(self._certain[name]), len(self._possible[name]))
            for name in sorted(self._possible)
        }
        least = sum(calls.least for calls in by_criterion.values())
        most = sum(calls.most for calls in by_criterion.values())
        return Estimate(Bounds(least, most), by_criterion)

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

    def environment_of(self, suite: Suite, side: Side) -> Notice | None:
        """That of the agent whose place this one takes."""
        return self._agents.environment_of(suite, side)

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


async def dry_run(request: EvaluationRequest, services: Services, memory: Store) -> DryRun:
    """Put every run that can be foreseen to an estimating judge.

    `memory` takes the place of the store for runs: nothing that did not happen may be kept.
    """
    agents = services.agents()
    with prepare(request) as prepared:
        prepared.refuse_agentless()
        audit = await in_a_line(prepared.head.cases)
        if prepared.nothing_changed and not request.cases.cases:
            return DryRun.of_nothing(prepared, agents, audit)
        judge = EstimatingJudge(services.store, prepared.policy.judge.model)
        foreseen = replace(
            services,
            store=memory,
            judge=lambda _settings, _folders, _secrets: judge,
            agents=lambda: ExpectedAgents(agents),
        )
        async with open_runner(prepared, foreseen) as runner:
            terms = terms_of(prepared, runner, services.today)
            await runner.make_wanted(lambda _: first_pass(terms))
        foreseen_runs = ForeseenRuns(prepared, terms, Journal(services.store, prepared.job))
        return DryRun.of(prepared, agents, foreseen_runs, judge.estimate(), audit)
