"""The whole job, stage by stage: sides, runs, scores, comparison, decision, report."""

import asyncio
import hashlib
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Protocol, Self

from gradegate.compare.comparison import Findings, Frame, assemble
from gradegate.compare.gate import Rules
from gradegate.criteria.custom import custom_metrics_of
from gradegate.github_action.inputs import Inputs
from gradegate.model.errors import InputError
from gradegate.model.evalset import Case, CaseKey
from gradegate.model.masking import SecretMasker
from gradegate.model.report import BaseSide, Decision, HeadSide, Reason, ReasonKind, Report, State
from gradegate.model.result import Results, Usage
from gradegate.model.runs import Role
from gradegate.model.settings import Gate, JudgeSettings, Suite
from gradegate.pipeline.case_runner import (
    CaseRunner,
    Progress,
    RunRequest,
    SideRunners,
    SuiteRunner,
    always_failing,
    results_of,
)
from gradegate.pipeline.journal import Journal
from gradegate.pipeline.prepare import CaseFilter, Prepared, PreparedSide, prepare
from gradegate.pipeline.rounds import BASELINE_RUNS, Comparable, Measured, measure
from gradegate.pipeline.score import warm_up
from gradegate.ports import AgentRunner, Ask, Judge, MetricCaller, Store
from gradegate.sides.checkout import Side, Wanted, check_out
from gradegate.sides.git import Repo


class AgentFactory(Protocol):
    """Where agents run; closing it ends whatever they left behind."""

    def runner_for(
        self, suite: Suite, side: Side, ask: Ask, cases: Sequence[Case] | None
    ) -> AgentRunner:
        """A suite's agent on a side. Cases are given for head: a recording may hold no others."""
        ...

    def measure_for(self, suite: Suite, side: Side) -> AbstractAsyncContextManager[MetricCaller]:
        """Who calls the user's own metrics of a suite."""
        ...

    def warnings(self) -> Sequence[str]:
        """What a reader should know about how the agents were run."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


@dataclass(frozen=True)
class Services:
    """The outside, as the job sees it."""

    store: Store
    court: Callable[[JudgeSettings, Sequence[Path]], Judge]
    """With the agents' folders, which may say which of Google's projects is meant."""
    workshop: Callable[[], AgentFactory]
    today: date
    secrets: SecretMasker = field(default_factory=SecretMasker)
    """Values that nothing we write may show."""
    progress: Progress = lambda _done, _total: None


@dataclass(frozen=True)
class EvaluationRequest:
    """What is asked for."""

    repo: Repo
    wanted: Wanted
    inputs: Inputs = field(default_factory=Inputs)
    selection: CaseFilter = field(default_factory=CaseFilter)
    accepted_by: str | None = None
    token: str | None = None
    warnings: tuple[str, ...] = ()
    """What a reader should know before anything was looked at."""


@dataclass(frozen=True)
class Evaluation:
    """A report, and both sides' scores behind it (None: that side was not run)."""

    report: Report
    setup: Prepared
    head: Results | None = None
    base: Results | None = None


async def evaluate(task: EvaluationRequest, world: Services) -> Evaluation:
    """Evaluate both sides, compare and decide."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="gradegate-") as temporary:
        setup = set_up(task, Path(temporary))
        if setup.nothing_changed and not task.selection.is_partial:
            return Evaluation(_nothing_changed(setup), setup)
        async with (
            world.court(setup.policy.judge, agent_folders(setup)) as court,
            AsyncExitStack() as stack,
        ):
            workshop = stack.enter_context(world.workshop())
            warming = asyncio.create_task(asyncio.to_thread(warm_up, setup.head.cases))
            head, base, warnings = await _teams(setup, workshop, court, stack)
            journal = Journal(world.store, _job(setup), world.secrets)
            what = _comparable(setup, head, base, world.today)
            measures = await _measures(setup, workshop, stack)
            deadline = _deadline(setup.policy.gate, began)
            bench = CaseRunner(journal, court, world.progress, measures, deadline)
            measured, _ = await asyncio.gather(measure(what, bench), warming)
            await journal.finish()
            usage = court.usage(time.monotonic() - began)
        warnings += workshop.warnings()
    frame = Frame(
        base=_base_side(setup, base, journal),
        head=HeadSide(commit=setup.head.side.commit, fingerprint=setup.head.fingerprint),
        usage=usage,
        warnings=(
            *setup.warnings,
            *warnings,
            *_expired(setup, world.today),
        ),
    )
    hide_in = world.secrets.hide_in
    return Evaluation(
        hide_in(_report(task, setup, what, measured, frame)),
        setup,
        hide_in(_results(head, frame.head, task, usage)),
        hide_in(_results(base, frame.base, task, Usage())) if base else None,
    )


def _results(
    team: SideRunners, side: HeadSide | BaseSide, task: EvaluationRequest, usage: Usage
) -> Results:
    shard = task.selection.shard
    return results_of(
        team.runs, side.commit, side.fingerprint, usage, shard=str(shard) if shard else None
    )


async def baseline(task: EvaluationRequest, world: Services) -> Results:
    """Evaluate one side into the store, often enough to hold others against it."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="gradegate-") as temporary:
        setup = set_up(task, Path(temporary))
        async with (
            world.court(setup.policy.judge, agent_folders(setup)) as court,
            AsyncExitStack() as stack,
        ):
            workshop = stack.enter_context(world.workshop())
            team, _, _ = await _teams(setup, workshop, court, stack)
            journal = Journal(world.store, _job(setup), world.secrets)
            runs = {one.name: max(one.runs, BASELINE_RUNS) for one in setup.policy.suites}
            measures = await _measures(setup, workshop, stack)
            await CaseRunner(journal, court, world.progress, measures).make(
                RunRequest(team, case, Role.FIRST, _times(team, case, runs))
                for case in setup.head.cases
            )
            await journal.finish()
            usage = court.usage(time.monotonic() - began)
        warnings = (*setup.warnings, *workshop.warnings())
    commit, fingerprint = setup.head.side.commit, setup.head.fingerprint
    results = results_of(team.runs, commit, fingerprint, usage)
    return results.model_copy(update={"warnings": warnings})


def _times(team: SideRunners, case: Case, runs: Mapping[str, int]) -> int:
    return team.agents[case.suite].runner.runs_of(case, runs[case.suite])


def _deadline(gate: Gate, began: float) -> float | None:
    """When to stop running agents; the event loop's clock is the one `began` was read from."""
    return began + gate.time_limit * 60 if gate.time_limit else None


def set_up(task: EvaluationRequest, folder: Path) -> Prepared:
    """Both sides' files below a folder of ours, and all that is settled before an agent runs."""
    sides = check_out(
        task.repo,
        task.wanted,
        folder,
        folder=task.inputs.working_directory,
        token=task.token,
    )
    setup = prepare(sides, task.inputs, task.selection)
    return replace(setup, warnings=(*task.warnings, *setup.warnings))


def agent_folders(setup: Prepared) -> list[Path]:
    """Where the agents are: base's, where there is a base."""
    side = setup.base or setup.head
    return [side.side.root / suite.agent for suite in side.suites if suite.agent]


async def _teams(
    setup: Prepared, workshop: AgentFactory, ask: Ask, stack: AsyncExitStack
) -> tuple[SideRunners, SideRunners | None, list[str]]:
    """The agents of both sides, made ready at the same time."""
    head, base = setup.head, setup.base
    agents, theirs = await asyncio.gather(
        asyncio.gather(*(_agent(suite, head, workshop, ask, stack) for suite in head.suites)),
        asyncio.gather(*(_base_agent(s, base, workshop, ask, stack) for s in base.suites))
        if base
        else _nobody(),
    )
    team = SideRunners(dict(zip((suite.name for suite in head.suites), agents, strict=True)))
    if base is None:
        return team, None, []
    found = dict(zip((suite.name for suite in base.suites), theirs, strict=True))
    able = {name: one for name, one in found.items() if isinstance(one, SuiteRunner)}
    warnings = [
        f"base's agent of suite {name} cannot be run, so thresholds alone decide: {why}"
        for name, why in found.items()
        if isinstance(why, str)
    ]
    return team, SideRunners(able) if able else None, warnings


async def _measures(
    setup: Prepared, workshop: AgentFactory, stack: AsyncExitStack
) -> dict[str, MetricCaller]:
    """Who calls the user's own metrics, for the suites that have any.

    Head's are called for both sides, as its eval sets and configs are: a metric that changed
    must not pass for an agent that did.
    """
    wanted = {one.suite for one in setup.head.cases if custom_metrics_of(one.config)}
    return {
        suite.name: await stack.enter_async_context(workshop.measure_for(suite, setup.head.side))
        for suite in setup.head.suites
        if suite.name in wanted
    }


async def _nobody() -> list[SuiteRunner | str]:
    return []


async def _agent(
    suite: Suite, head: PreparedSide, workshop: AgentFactory, ask: Ask, stack: AsyncExitStack
) -> SuiteRunner:
    """Head's agent. One that cannot be made ready leaves its cases without a score."""
    runner = workshop.runner_for(suite, head.side, ask, head.cases)
    await stack.enter_async_context(runner)
    return SuiteRunner(runner, head.identities[suite.name], await runner.prepare())


async def _base_agent(
    suite: Suite, base: PreparedSide, workshop: AgentFactory, ask: Ask, stack: AsyncExitStack
) -> SuiteRunner | str:
    """Base's agent, or why it cannot be run: that is nothing to hold against head."""
    try:
        runner = workshop.runner_for(suite, base.side, ask, None)
        await stack.enter_async_context(runner)
        reason = await runner.prepare()
    except InputError as error:
        return str(error)
    return reason or SuiteRunner(runner, base.identities[suite.name])


def _comparable(
    setup: Prepared, head: SideRunners, base: SideRunners | None, today: date
) -> Comparable:
    return Comparable(
        pairs=setup.pairs,
        head=head,
        base=base,
        gate=setup.policy.gate,
        quarantined=_quarantined(setup, today),
        runs={suite.name: suite.runs for suite in setup.policy.suites},
    )


def _quarantined(setup: Prepared, today: date) -> frozenset[CaseKey]:
    places = {(q.eval_set, q.eval_id) for q in setup.policy.quarantine if q.until >= today}
    return frozenset(
        pair.key for pair in setup.pairs if (pair.key.eval_set, pair.key.eval_id) in places
    )


def _expired(setup: Prepared, today: date) -> list[str]:
    return [
        f"the quarantine of {entry.eval_id} in {entry.eval_set} ended on {entry.until}: it blocks "
        f"again; {entry.owner}, mend the case or extend the date"
        for entry in setup.policy.quarantine
        if entry.until < today
    ]


def _report(
    task: EvaluationRequest, setup: Prepared, what: Comparable, measured: Measured, frame: Frame
) -> Report:
    with_base = set(what.base.agents) if what.base else set()
    rules = Rules(
        gate=setup.policy.gate,
        thresholds_only=frozenset(set(what.runs) - with_base),
        accepted_by=task.accepted_by,
        quarantined=what.quarantined,
    )
    found = Findings(
        pairs=setup.pairs,
        judgements=measured.judgements,
        base=what.base.runs if what.base else None,
        head=what.head.runs,
        look=measured.look,
    )
    return assemble(found, rules, frame, (*setup.loosened, *_nothing_seen(what)))


def _nothing_seen(what: Comparable) -> list[Reason]:
    texts = always_failing(what.head, what.base) if what.base else []
    return [Reason(kind=ReasonKind.INCONCLUSIVE, text=text) for text in texts]


def _base_side(setup: Prepared, base: SideRunners | None, journal: Journal) -> BaseSide:
    if setup.base is None or base is None:
        return BaseSide()
    rerun = any(journal.made.get(agent.identity) for agent in base.agents.values())
    recorded = not all(agent.runner.rerunnable for agent in base.agents.values())
    return BaseSide(
        commit=setup.base.side.commit,
        source="run" if rerun or recorded else "store",
        fingerprint=setup.base.fingerprint,
    )


def _nothing_changed(setup: Prepared) -> Report:
    base = setup.base
    return Report(
        decision=Decision(state=State.PASS),
        base=BaseSide(
            commit=base.side.commit if base else "",
            source="store",
            fingerprint=base.fingerprint if base else "",
        ),
        head=HeadSide(commit=setup.head.side.commit, fingerprint=setup.head.fingerprint),
        warnings=setup.warnings,
    )


def _job(setup: Prepared) -> str:
    """Which comparison this is: the same two sides again go on where they were."""
    sides = [setup.head.fingerprint, setup.base.fingerprint if setup.base else ""]
    return hashlib.sha256("|".join(sides).encode()).hexdigest()
