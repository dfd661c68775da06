"""What an evaluation needs from outside, and the runner that is made of it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, Self

from gradegate.criteria.custom import custom_metrics_of
from gradegate.files.credentials import dotenv_secrets
from gradegate.model.errors import InputError
from gradegate.model.evalset import Case
from gradegate.model.masking import SecretMasker
from gradegate.model.notice import Notice, notice
from gradegate.model.runs import Side, SideName
from gradegate.model.settings import JudgeSettings, Suite
from gradegate.pipeline.case_runner import CaseRunner, Progress, SideRunners, SuiteRunner
from gradegate.pipeline.deferred import DeferredRunner
from gradegate.pipeline.journal import Journal
from gradegate.pipeline.prepare import Prepared, PreparedSide
from gradegate.pipeline.score import warm_up
from gradegate.ports import AgentRunner, Ask, HistoryStore, Judge, MetricCaller, Store


class AgentFactory(Protocol):
    """Makes agents run; closing it ends whatever they left behind."""

    def runner_for(
        self, suite: Suite, side: Side, ask: Ask, cases: Sequence[Case] | None
    ) -> AgentRunner:
        """A suite's agent on a side. Cases are given for head: a recording may hold no others."""
        ...

    def metrics_for(self, suite: Suite, side: Side) -> AbstractAsyncContextManager[MetricCaller]:
        """Who calls the user's own metrics of a suite; to be asked for before agents are."""
        ...

    def environment_of(self, suite: Suite, side: Side) -> Notice | None:
        """Where what a suite's agent needs is written down; None where it brings its own."""
        ...

    def warnings(self) -> Sequence[Notice]:
        """What a reader should know about how the agents were run; whole once it is closed."""
        ...

    def isolation(self) -> Sequence[Notice]:
        """What was done to keep the agents apart, and what could not be."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


@dataclass(frozen=True)
class Services:
    """The outside, as the evaluation sees it."""

    store: Store
    judge: Callable[[JudgeSettings, Sequence[Path], SecretMasker], Judge]
    """With the agents' folders, which may say which of Google's projects is meant, and with what
    no judge is to see."""
    agents: Callable[[], AgentFactory]
    history: HistoryStore
    """What base did in earlier jobs."""
    now: datetime
    is_fresh: bool = False
    """Whether what earlier jobs stored is ignored: all is run and judged anew."""
    masker: SecretMasker = field(default_factory=SecretMasker)
    """Values that nothing we write may show."""
    progress: Progress = lambda _done, _total: None

    @property
    def today(self) -> date:
        """The day, by which quarantines end."""
        return self.now.date()


@asynccontextmanager
async def open_runner(prepared: Prepared, services: Services) -> AsyncIterator[CaseRunner]:
    """The one set-up: judge, agents of both sides and users' own metrics, made ready and closed.

    What the runs cost and what a reader should know of the agents is whole once it is closed.
    """
    judge_settings = prepared.policy.judge
    # Read before an agent runs, which may write there.
    secrets = services.masker.and_also(dotenv_secrets(prepared.dotenv_folders))
    async with AsyncExitStack() as stack:
        judge = await stack.enter_async_context(
            services.judge(judge_settings, prepared.agent_folders, secrets)
        )
        factory = services.agents()
        async with AsyncExitStack() as agents:
            agents.enter_context(factory)
            warming = asyncio.create_task(asyncio.to_thread(warm_up, prepared.head.cases))
            metrics = await _metrics(prepared, factory, agents)
            journal = Journal(services.store, prepared.job, secrets)
            is_kept = partial(_is_kept, prepared, journal)
            set_up = _SetUp(factory, judge, agents, is_kept)
            sides, warnings = await _sides(prepared, set_up)
            runner = CaseRunner(
                journal,
                judge,
                sides,
                {pair.key: pair.head for pair in prepared.pairs if pair.head},
                metrics=metrics,
                deadline=_deadline(prepared),
                progress=services.progress,
            )
            yield runner
            await warming
            await runner.finish()
            runner.usage = judge.usage(time.monotonic() - prepared.began)
    runner.warnings = (*warnings, *factory.warnings())
    runner.isolation = tuple(factory.isolation())


class _SetUp(NamedTuple):
    """What agents are made ready with."""

    factory: AgentFactory
    ask: Ask
    stack: AsyncExitStack
    is_kept: Callable[[Suite, PreparedSide], bool]

    async def opened(
        self, suite: Suite, side: PreparedSide, cases: Sequence[Case] | None
    ) -> AgentRunner:
        """A suite's agent on a side; one that may not be needed is made ready when it is."""
        runner = self.factory.runner_for(suite, side.files_of(suite.name), self.ask, cases)
        if runner.rerunnable and self.is_kept(suite, side):
            runner = DeferredRunner(runner)
        return await self.stack.enter_async_context(runner)


def _is_kept(prepared: Prepared, journal: Journal, suite: Suite, side: PreparedSide) -> bool:
    """Whether the store has all first runs of a suite's cases, so that its agent may not be needed.

    That is so where a pull request changes nothing in the agent's scope.
    """
    agent = side.identities[suite.name]
    cases = [pair.head for pair in prepared.pairs if pair.head and pair.key.suite == suite.name]
    return all(journal.known(agent, case) >= suite.runs for case in cases)


def _deadline(prepared: Prepared) -> float | None:
    """When to stop running agents."""
    limit = prepared.policy.gate.time_limit
    return prepared.began + limit * 60 if limit else None


async def _sides(
    prepared: Prepared, set_up: _SetUp
) -> tuple[dict[SideName, SideRunners], list[Notice]]:
    """The agents of both sides, made ready at the same time."""
    head, base = prepared.head, prepared.base
    agents, theirs = await asyncio.gather(
        asyncio.gather(*(_agent(suite, head, set_up) for suite in head.suites)),
        asyncio.gather(
            *(_base_agent(suite, base, set_up) for suite in (base.suites if base else ()))
        ),
    )
    sides: dict[SideName, SideRunners] = {
        "head": dict(zip((suite.name for suite in head.suites), agents, strict=True))
    }
    if base is None:
        return sides, []
    found = dict(zip((suite.name for suite in base.suites), theirs, strict=True))
    able = {name: one for name, one in found.items() if isinstance(one, SuiteRunner)}
    warnings = [
        notice("base.no_agent", suite=name, why=why)
        for name, why in found.items()
        if isinstance(why, Notice)
    ]
    if able:
        sides["base"] = able
    return sides, warnings


async def _agent(suite: Suite, head: PreparedSide, set_up: _SetUp) -> SuiteRunner:
    """Head's agent. One that cannot be made ready leaves its cases without a score."""
    runner = await set_up.opened(suite, head, head.cases)
    return SuiteRunner(runner, head.identities[suite.name], await runner.prepare())


async def _base_agent(
    suite: Suite, base: PreparedSide | None, set_up: _SetUp
) -> SuiteRunner | Notice:
    """Base's agent, or why it cannot be run: that is nothing to hold against head."""
    assert base is not None  # noqa: S101 - asked for base's suites alone
    try:
        runner = await set_up.opened(suite, base, None)
        reason = await runner.prepare()
    except InputError as error:
        return Notice(text=str(error))
    return reason or SuiteRunner(runner, base.identities[suite.name])


async def _metrics(
    prepared: Prepared, factory: AgentFactory, stack: AsyncExitStack
) -> dict[str, MetricCaller]:
    """Who calls the user's own metrics, for the suites that have any.

    Head's are called for both sides, as its eval sets and configs are: a metric that changed
    must not pass for an agent that did.
    """
    wanted = {one.suite for one in prepared.head.cases if custom_metrics_of(one.config)}
    return {
        suite.name: await stack.enter_async_context(factory.metrics_for(suite, prepared.head.side))
        for suite in prepared.head.suites
        if suite.name in wanted
    }
