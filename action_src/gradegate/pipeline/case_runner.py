"""Both sides' agents at work: runs made, scored and kept, many at once.

A side's runs as its `results.json`.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from gradegate.model.evalset import Case, CaseKey
from gradegate.model.result import Results, Status, Usage
from gradegate.model.runs import NotRun, Role, Runs, ScoredRun, Trace
from gradegate.pipeline.journal import Journal
from gradegate.pipeline.score import score_run
from gradegate.ports import AgentRunner, Ask, MetricCaller

Progress = Callable[[int, int], None]

OUT_OF_TIME = "the time for this run is over: raise `time_limit` under [gate] in gradegate.toml"


@dataclass(frozen=True)
class SuiteRunner:
    """A suite's agent on one side; `unavailable` says why it cannot be run, where it cannot."""

    runner: AgentRunner
    identity: str
    unavailable: str | None = None


@dataclass
class SideRunners:
    """One side: its agents by suite, and the runs they have made so far."""

    agents: Mapping[str, SuiteRunner]
    runs: dict[CaseKey, list[ScoredRun]] = field(default_factory=lambda: defaultdict(list))

    def can_rerun(self, suite: str) -> bool:
        """Whether fresh runs can be had."""
        agent = self.agents.get(suite)
        return agent is not None and agent.unavailable is None and agent.runner.rerunnable


@dataclass(frozen=True)
class RunRequest:
    """So many more runs of a case by one side, and what for."""

    team: SideRunners
    case: Case
    role: Role
    times: int


class CaseRunner:
    """Makes the runs that are asked for; a run is scored while others are still being made."""

    def __init__(
        self,
        journal: Journal,
        ask: Ask,
        progress: Progress,
        measures: Mapping[str, MetricCaller] | None = None,
        deadline: float | None = None,
    ) -> None:
        self._deadline = deadline
        """When to stop running agents, by the event loop's clock; None: never."""
        self._journal = journal
        self._ask = ask
        self._progress = progress
        self._measures = measures or {}

    async def make(self, requests: Iterable[RunRequest]) -> None:
        """Make all of them and add them to their teams, in stable order."""
        numbered = [(request, number) for request in requests for number in self._numbers(request)]
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
            request.team.runs[request.case.key].append(scored)

    def known(self, team: SideRunners, case: Case) -> int:
        """How many first-pass runs of a case cost nothing, because they are kept."""
        agent = team.agents[case.suite]
        return self._journal.known(agent.identity, case) if agent.runner.rerunnable else 0

    def _numbers(self, request: RunRequest) -> range:
        """Runs of a case are numbered on from those it has; a recording has only its own."""
        made = len(request.team.runs[request.case.key])
        return range(made + 1, made + request.times + 1)

    async def _run(self, request: RunRequest, number: int) -> ScoredRun:
        case = request.case
        outcome = await self._outcome(request.team.agents[case.suite], request, number)
        measure = self._measures.get(case.suite)
        result = await score_run(case, outcome, number, self._ask, measure)
        return ScoredRun(request.role, outcome, result)

    async def _outcome(
        self, agent: SuiteRunner, request: RunRequest, number: int
    ) -> Trace | NotRun:
        if agent.unavailable is not None:
            return NotRun(agent.unavailable)
        try:
            async with asyncio.timeout_at(self._deadline):
                return await self._journal.run(
                    agent.runner, agent.identity, request.case, number, request.role
                )
        except TimeoutError:
            return NotRun(OUT_OF_TIME)


def always_failing(head: SideRunners, base: SideRunners) -> list[str]:
    """Agents that failed every run on both sides: a green check would speak of nothing seen."""
    found = []
    for suite in head.agents:
        runs, before = _runs_of(suite, head), _runs_of(suite, base)
        failed = all(run.result.status is Status.ERRORED for run in (*runs, *before))
        if runs and before and failed:
            why = (runs[0].result.reason or "").strip().splitlines() or ["it does not say why"]
            found.append(
                f"suite {suite}: the agent failed every case on both sides, so there is nothing "
                f"to compare; is a key missing? The first failure: {why[0]}"
            )
    return found


def _runs_of(suite: str, team: SideRunners) -> list[ScoredRun]:
    return [run for key, runs in team.runs.items() if key.suite == suite for run in runs]


def results_of(
    runs: Runs, commit: str, fingerprint: str, usage: Usage, shard: str | None = None
) -> Results:
    """The full passes, in stable order.

    Runs made to confirm a suspicion stay out: whoever compares the file would take them for
    a fair sample.
    """
    cases = [
        run.result for made in runs.values() for run in made if run.role in (Role.FIRST, Role.AGAIN)
    ]
    ordered = sorted(cases, key=lambda case: (*case.key, case.run))
    return Results(
        commit=commit, fingerprint=fingerprint, shard=shard, cases=tuple(ordered), usage=usage
    )
