"""Shards on a clock of their own: how long they take, and when a rate limit holds them up.

A job starts after a while. It has so many sessions of the agent on each side. A run takes its
case's time, once the agent's model service lets it begin; then judges are asked about it, who have
a limit too. Both limits are the account's, shared by all jobs; GitHub runs so many jobs at once.
"""

import heapq
import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gradegate.model.evalset import CaseKey
from gradegate.pipeline.shards import cut


@dataclass
class Limit:
    """So many requests a minute, spread evenly; 0: none."""

    per_minute: float
    _next: float = 0.0

    def take(self, now: float, requests: float) -> float:
        """When the last of them may go."""
        if not self.per_minute or not requests:
            return now
        self._next = max(self._next, now) + requests * 60 / self.per_minute
        return self._next


@dataclass(frozen=True)
class World:
    """What jobs are like."""

    start: float
    """Seconds from a job's begin to its first run, and from its last run to its end."""
    sessions: int = 16
    """Of the agent, on each side."""
    agent_calls: float = 0.0
    """Requests to the agent's model in a run."""
    agent_limit: float = 0.0
    """Requests a minute that its service takes."""
    judge_calls: float = 0.0
    judge_seconds: float = 0.0
    judge_limit: float = 0.0
    jobs_at_once: int = 256


class Times(NamedTuple):
    """When each job was done, and how long all of them ran."""

    last: float
    busy: float


@dataclass
class Job:
    """One shard: the runs it has to make, by side."""

    queues: dict[str, list[float]]
    begun: float = 0.0
    done: float = 0.0
    left: int = field(init=False)

    def __post_init__(self) -> None:
        self.left = sum(map(len, self.queues.values()))


def jobs_of(seconds: dict[CaseKey, float], shards: int) -> list[Job]:
    """The shards that gradegate itself would make, with a run of each case on both sides."""
    parts = cut(list(seconds), shards, seconds)
    return [
        Job({side: [seconds[case] for case in reversed(part)] for side in ("base", "head")})
        for part in parts
    ]


class Simulation:
    """Jobs, limits, and what happens next."""

    def __init__(self, jobs: Sequence[Job], world: World) -> None:
        self.jobs = jobs
        self.world = world
        self._agents = Limit(world.agent_limit)
        self._judges = Limit(world.judge_limit)
        self._events: list[tuple[float, int, str, int, str]] = []
        self._numbers = itertools.count()
        self._waiting = list(range(len(jobs)))[::-1]

    def run(self) -> Times:
        """Let the jobs run, so many at once."""
        for _ in range(min(self.world.jobs_at_once, len(self.jobs))):
            self._begin(0.0)
        while self._events:
            now, _, what, number, side = heapq.heappop(self._events)
            getattr(self, f"_{what}")(now, number, side)
        busy = sum(job.done - job.begun for job in self.jobs)
        return Times(max(job.done for job in self.jobs), busy)

    def _at(self, when: float, what: str, job: int, side: str = "") -> None:
        heapq.heappush(self._events, (when, next(self._numbers), what, job, side))

    def _begin(self, now: float) -> None:
        if self._waiting:
            number = self._waiting.pop()
            self.jobs[number].begun = now
            self._at(now + self.world.start, "started", number)

    def _ended(self, now: float, number: int) -> None:
        self.jobs[number].done = now
        self._begin(now)

    def _started(self, now: float, number: int, _: str) -> None:
        if not self.jobs[number].left:
            self._ended(now, number)
        for side in self.jobs[number].queues:
            for _session in range(self.world.sessions):
                self._at(now, "free", number, side)

    def _free(self, now: float, number: int, side: str) -> None:
        if self.jobs[number].queues[side]:
            end = self._agents.take(now, self.world.agent_calls)
            end += self.jobs[number].queues[side].pop()
            self._at(end, "ran", number, side)
            self._at(end, "free", number, side)

    def _ran(self, now: float, number: int, side: str) -> None:
        may_go = self._judges.take(now, self.world.judge_calls)
        self._at(may_go + self.world.judge_seconds, "judged", number, side)

    def _judged(self, now: float, number: int, _: str) -> None:
        self.jobs[number].left -= 1
        if not self.jobs[number].left:
            self._ended(now, number)


def simulate(jobs: Sequence[Job], world: World) -> Times:
    """Let them run."""
    return Simulation(jobs, world).run()


def by_shards(
    seconds: dict[CaseKey, float], world: World, shards: Iterable[int]
) -> dict[int, Times]:
    """The same cases in so many shards, and so many."""
    return {number: simulate(jobs_of(seconds, number), world) for number in shards}


def cases(seconds: Iterable[float]) -> dict[CaseKey, float]:
    """Cases that take so long."""
    found: defaultdict[CaseKey, float] = defaultdict(float)
    for number, one in enumerate(seconds):
        found[CaseKey("bench", "evals/a.evalset.json", f"case-{number:06}")] = one
    return dict(found)
