"""Both sides' agents at work: runs made, scored and kept, many at once."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from gradegate.compare.stored_base import refreshed
from gradegate.model.evalset import Case, CaseKey
from gradegate.model.masking import SecretMasker
from gradegate.model.notice import Notice, notice
from gradegate.model.result import Results, Usage
from gradegate.model.runs import (
    SIDES,
    NotRun,
    Role,
    RunRequest,
    Runs,
    ScoredRun,
    SideName,
    Trace,
)
from gradegate.model.shard import RunOfShard
from gradegate.pipeline.journal import Journal
from gradegate.pipeline.occurrences import Occurrences
from gradegate.pipeline.score import score_run
from gradegate.ports import AgentRunner, Ask, MetricCaller

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class SuiteRunner:
    """A suite's agent on one side; `unavailable` says why it cannot be run, where it cannot."""

    runner: AgentRunner
    identity: str
    unavailable: Notice | None = None

    @property
    def can_rerun(self) -> bool:
        """Whether fresh runs can be had."""
        return self.unavailable is None and self.runner.rerunnable


SideRunners = Mapping[str, SuiteRunner]
"""The agents of one side, by suite."""


class CaseRunner:
    """Makes the runs that are asked for; a run is scored while others are still being made."""

    def __init__(  # noqa: PLR0913 - what it takes to run a case
        self,
        journal: Journal,
        ask: Ask,
        sides: Mapping[SideName, SideRunners],
        cases: Mapping[CaseKey, Case],
        *,
        metrics: Mapping[str, MetricCaller] | None = None,
        deadline: float | None = None,
        progress: Progress = lambda _done, _total: None,
    ) -> None:
        self.runs = Runs()
        self.sides = sides
        self.usage = Usage()
        """What the judges cost; whole at the end."""
        self.warnings: tuple[Notice, ...] = ()
        """What a reader should know of how the agents were run; whole at the end."""
        self.isolation: tuple[Notice, ...] = ()
        """What was done to keep the agents apart; whole at the end."""
        self._journal = journal
        self._ask = ask
        self._cases = cases
        self._metrics = metrics or {}
        self._deadline = deadline
        """When to stop running agents, by the event loop's clock; None: never."""
        self._progress = progress
        self._ran: set[SideName] = set()
        """Sides that ran on another machine."""
        self._occurrences: defaultdict[tuple[SideName, CaseKey], Occurrences] = defaultdict(
            Occurrences
        )

    async def make_wanted(self, wanted: Callable[[Runs], Iterable[RunRequest]]) -> None:
        """Make what is wanted, given what there is, until nothing more is."""
        while missing := self.runs.missing(wanted(self.runs)):
            await self._make(missing)

    def load(self, runs: Iterable[RunOfShard], ran: Iterable[SideName]) -> None:
        """Take in runs of another machine, as if they had been made here."""
        self._ran.update(ran)
        for one in runs:
            side, key, run = one.side, one.result.key, one.scored()
            agent = self.sides.get(side, {}).get(key.suite)
            if agent is None:  # base's cannot be run here: nothing is compared with it
                continue
            if agent.runner.rerunnable:
                self._journal.load(agent.identity, self._cases[key], run)
            self._occurrences[side, key].load(run.result.run, one.asked)
            self.runs.add(side, key, run)

    def keep(self, runs: Iterable[RunOfShard], ran: Iterable[SideName]) -> None:
        """Have runs of another machine in the journal, for when they are wanted."""
        self._ran.update(ran)
        for one in runs:
            agent = self.sides.get(one.side, {}).get(one.result.key.suite)
            if agent is not None and agent.runner.rerunnable:
                self._journal.load(agent.identity, self._cases[one.result.key], one.scored())

    def made(self) -> Iterator[RunOfShard]:
        """All runs so far, for another machine to load."""
        for side in SIDES:
            runs = self.runs.base if side == "base" else self.runs.head
            for key in sorted(runs):
                for run in runs[key]:
                    yield RunOfShard(
                        side=side,
                        role=run.role,
                        result=run.result,
                        trace=run.outcome if isinstance(run.outcome, Trace) else None,
                        of_another_job=run.of_another_job,
                        verdicts_known=tuple(sorted(run.verdicts_known)),
                        asked=self._occurrences[side, key].asked_by(run.result.run),
                    )

    @property
    def secrets(self) -> SecretMasker:
        """What nothing that comes of the runs may show."""
        return self._journal.secrets

    async def finish(self) -> None:
        """End what nobody waits for any more."""
        await self._journal.finish()

    def known(self, side: SideName, case: Case) -> int:
        """How many first-pass runs of a case cost nothing, because they are kept."""
        agent = self.sides[side][case.suite]
        return self._journal.known(agent.identity, case) if agent.runner.rerunnable else 0

    def was_run(self, side: SideName) -> bool:
        """Whether a side's agents really ran, and were not all read from the store."""
        agents = self.sides[side].values()
        if side in self._ran:
            return True
        recorded = not all(agent.runner.rerunnable for agent in agents)
        return recorded or any(self._journal.made.get(agent.identity) for agent in agents)

    async def outcomes(self, requests: Iterable[RunRequest]) -> list[Trace | NotRun]:
        """What agents do in fresh runs that are neither scored nor kept."""
        return await asyncio.gather(
            *(
                self.sides[one.side][one.case.suite].runner.run(self._cases[one.case], number)
                for one in requests
                for number in range(1, one.total + 1)
            )
        )

    def unavailable(self, side: SideName) -> Notice | None:
        """Why one of a side's agents cannot be run, if one cannot."""
        reasons = (agent.unavailable for agent in self.sides[side].values())
        return next((reason for reason in reasons if reason), None)

    async def _make(self, requests: Iterable[RunRequest]) -> None:
        """Make all of them and take them in, in stable order."""
        numbered = [(one, number) for one in requests for number in self._numbers(one)]
        done = 0
        total = len(numbered)

        async def one(request: RunRequest, number: int) -> ScoredRun:
            nonlocal done
            scored = await self._run(request, number)
            done += 1
            self._progress(done, total)
            return scored

        made = await asyncio.gather(*(one(request, number) for request, number in numbered))
        for (request, _), scored in zip(numbered, made, strict=True):
            self.runs.add(request.side, request.case, scored)

    def _numbers(self, request: RunRequest) -> range:
        """Runs of a case are numbered on from those it has; a recording has only its own."""
        made = self.runs.of(request.side, request.case)
        have = sum(run.role is request.role for run in made)
        return range(len(made) + 1, len(made) + 1 + request.total - have)

    async def _run(self, request: RunRequest, number: int) -> ScoredRun:
        case = self._cases[request.case]
        occurrences = self._occurrences[request.side, request.case]
        try:
            outcome = await self._outcome(case, request, number)
            ask = occurrences.ask_for(number, self._ask)
            result = await score_run(case, outcome, number, ask, self._metrics.get(case.suite))
        finally:
            occurrences.scored(number)
        kept = request.role is Role.FIRST and self._is_of_another_job(request.side, case, number)
        return ScoredRun(
            request.role,
            outcome,
            result,
            of_another_job=kept,
            verdicts_known=occurrences.known(number),
        )

    def _is_of_another_job(self, side: SideName, case: Case, number: int) -> bool:
        agent = self.sides[side][case.suite]
        return agent.can_rerun and self._journal.is_of_another_job(agent.identity, case, number)

    async def _outcome(self, case: Case, request: RunRequest, number: int) -> Trace | NotRun:
        agent = self.sides[request.side][case.suite]
        if agent.unavailable is not None:
            return NotRun.because(agent.unavailable)
        try:
            async with asyncio.timeout_at(self._deadline):
                return await self._journal.run(
                    agent.runner, agent.identity, case, number, request.role
                )
        except TimeoutError:
            return NotRun.because(notice("run.out_of_time"))

    def results(self, side: SideName, commit: str = "", fingerprint: str = "") -> Results:
        """A side's full passes, in stable order.

        Runs made to confirm a suspicion stay out: whoever compares the file would take them for
        a fair sample.
        """
        made = refreshed(self.runs)
        runs = made.head if side == "head" else made.base
        cases = [
            run.result
            for own in runs.values()
            for run in own
            if run.role in (Role.FIRST, Role.AGAIN)
        ]
        return Results(
            commit=commit,
            fingerprint=fingerprint,
            cases=tuple(sorted(cases, key=lambda case: (*case.key, case.run))),
            usage=self.usage if side == "head" else Usage(),
        )
