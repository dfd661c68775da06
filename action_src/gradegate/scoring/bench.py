"""Both sides' agents at work: runs made, scored and kept, many at once."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from gradegate.model.case import Case, CaseKey
from gradegate.model.evaluation import Role, Scored
from gradegate.model.result import Status
from gradegate.model.trace import NotRun, Trace
from gradegate.ports import AgentRunner, Ask, Measure
from gradegate.scoring.journal import Journal
from gradegate.scoring.score import score_run

Progress = Callable[[int, int], None]

OUT_OF_TIME = "the time for this run is over: raise `time_limit` under [gate] in gradegate.toml"


@dataclass(frozen=True)
class Agent:
    """A suite's agent on one side; `unavailable` says why it cannot be run, where it cannot."""

    runner: AgentRunner
    identity: str
    unavailable: str | None = None


@dataclass
class Team:
    """One side: its agents by suite, and the runs they have made so far."""

    agents: Mapping[str, Agent]
    runs: dict[CaseKey, list[Scored]] = field(default_factory=lambda: defaultdict(list))

    def can_rerun(self, suite: str) -> bool:
        """Whether fresh runs can be had."""
        agent = self.agents.get(suite)
        return agent is not None and agent.unavailable is None and agent.runner.rerunnable


@dataclass(frozen=True)
class Request:
    """So many more runs of a case by one side, and what for."""

    team: Team
    case: Case
    role: Role
    times: int


class Bench:
    """Makes the runs that are asked for; a run is scored while others are still being made."""

    def __init__(
        self,
        journal: Journal,
        ask: Ask,
        progress: Progress,
        measures: Mapping[str, Measure] | None = None,
        deadline: float | None = None,
    ) -> None:
        self._deadline = deadline
        """When to stop running agents, by the event loop's clock; None: never."""
        self._journal = journal
        self._ask = ask
        self._progress = progress
        self._measures = measures or {}

    async def make(self, requests: Iterable[Request]) -> None:
        """Make all of them and add them to their teams, in stable order."""
        numbered = [(request, number) for request in requests for number in self._numbers(request)]
        done = 0
        total = len(numbered)

        async def one(request: Request, number: int) -> Scored:
            nonlocal done
            scored = await self._run(request, number)
            done += 1
            self._progress(done, total)
            return scored

        made = await asyncio.gather(*(one(request, number) for request, number in numbered))
        for (request, _), scored in zip(numbered, made, strict=True):
            request.team.runs[request.case.key].append(scored)

    def known(self, team: Team, case: Case) -> int:
        """How many first-pass runs of a case cost nothing, because they are kept."""
        agent = team.agents[case.suite]
        return self._journal.known(agent.identity, case) if agent.runner.rerunnable else 0

    def _numbers(self, request: Request) -> range:
        """Runs of a case are numbered on from those it has; a recording has only its own."""
        made = len(request.team.runs[request.case.key])
        return range(made + 1, made + request.times + 1)

    async def _run(self, request: Request, number: int) -> Scored:
        case = request.case
        outcome = await self._outcome(request.team.agents[case.suite], request, number)
        measure = self._measures.get(case.suite)
        result = await score_run(case, outcome, number, self._ask, measure)
        return Scored(request.role, outcome, result)

    async def _outcome(self, agent: Agent, request: Request, number: int) -> Trace | NotRun:
        if agent.unavailable is not None:
            return NotRun(agent.unavailable)
        try:
            async with asyncio.timeout_at(self._deadline):
                return await self._journal.run(
                    agent.runner, agent.identity, request.case, number, request.role
                )
        except TimeoutError:
            return NotRun(OUT_OF_TIME)


def always_failing(head: Team, base: Team) -> list[str]:
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


def _runs_of(suite: str, team: Team) -> list[Scored]:
    return [run for key, runs in team.runs.items() if key.suite == suite for run in runs]
