"""How long each shard would take, by the durations in the store; nothing is run."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import fmean
from typing import NamedTuple

from gradegate import locales
from gradegate.compare.pairing import Pair
from gradegate.model.errors import InputError
from gradegate.model.evalset import CaseKey
from gradegate.model.runs import SIDES, SideName
from gradegate.pipeline import durations
from gradegate.pipeline.journal import Journal
from gradegate.pipeline.prepare import EvaluationRequest, Prepared, prepare
from gradegate.pipeline.shards import cut
from gradegate.ports import Store

MOST_SHARDS = 256
"""Jobs that GitHub takes in a matrix."""
_MINUTE = 60


class RunsToMake(NamedTuple):
    """What the first pass of a case on one side comes to."""

    pair: Pair
    side: SideName
    seconds: float


@dataclass(frozen=True)
class ShardPlan:
    """The cases in parts, and how long each takes its agents."""

    parts: tuple[tuple[CaseKey, ...], ...]
    seconds: tuple[float, ...]
    """Of each part; judges and confirming runs aside."""
    timed: int
    """Cases that were ever timed."""

    @property
    def slowest(self) -> float:
        """When the last part is done."""
        return max(self.seconds, default=0.0)


class Planner:
    """Cuts the cases of an evaluation."""

    def __init__(self, prepared: Prepared, store: Store) -> None:
        self._pairs = tuple(pair for pair in prepared.pairs if pair.head)
        # All that was timed, by whichever job: this one measures nothing.
        self._known = durations.known(store, "", (pair.key for pair in self._pairs))
        self._parallel = {
            suite.name: suite.max_parallel for suite in prepared.policy.suites["head"]
        }
        self._runs = list(self._first_pass(prepared, Journal(store, prepared.job)))

    def plan(self, total: int) -> ShardPlan:
        """So many parts."""
        parts = cut([pair.key for pair in self._pairs], total, self._known)
        part_of = {case: number for number, part in enumerate(parts) for case in part}
        shares: list[list[RunsToMake]] = [[] for _ in parts]
        for one in self._runs:
            shares[part_of[one.pair.key]].append(one)
        return ShardPlan(parts, tuple(map(self._wall, shares)), len(self._known))

    def plan_within(self, minutes: float) -> ShardPlan:
        """The fewest parts that take no longer than this.

        Raises:
            InputError: nothing was ever timed, or no number of parts is enough.
        """
        if not self._known:
            raise InputError(
                "no case was timed yet, so nobody knows how many shards it takes: run "
                "`gradegate run` or `gradegate baseline` once, or name a number with `--shards N`"
            )
        limit = minutes * _MINUTE
        spent = sum(one.seconds for one in self._runs)
        fewest = ceil(spent / 2 / max(self._parallel.values(), default=1) / limit)
        for total in range(max(fewest, 1), MOST_SHARDS + 1):
            plan = self.plan(total)
            if plan.slowest <= limit:
                return plan
        best = self.plan(MOST_SHARDS).slowest
        raise InputError(
            f"no {MOST_SHARDS} shards are done in {minutes:g} minutes: the slowest would take "
            f"{locales.duration(best)}"
        )

    def _first_pass(self, prepared: Prepared, journal: Journal) -> Iterator[RunsToMake]:
        """Runs that are not in the store."""
        usual = fmean(self._known.values()) if self._known else 0.0
        runs = {suite.name: suite.runs for suite in prepared.policy.suites["head"]}
        sides = {"head": prepared.head, "base": prepared.base}
        for pair in self._pairs:
            for name in SIDES:
                side, case = sides[name], pair.head
                if side is None or case is None or (name == "base" and pair.base is None):
                    continue
                identity = side.identities.get(case.suite)
                if identity is None:
                    continue
                missing = max(runs[case.suite] - journal.known(identity, case), 0)
                yield RunsToMake(pair, name, missing * self._known.get(pair.key, usual))

    def _wall(self, runs: Sequence[RunsToMake]) -> float:
        """Each side's suites run beside each other, each so many sessions at once."""
        work: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        for one in runs:
            work[one.side, one.pair.key.suite].append(one.seconds)
        return max(
            (
                max(sum(seconds) / self._parallel[suite], *seconds)
                for (_, suite), seconds in work.items()
            ),
            default=0.0,
        )


def plan_shards(
    request: EvaluationRequest, store: Store, total: int | None, minutes: float
) -> ShardPlan:
    """So many shards, or as many as it takes to be done in so many minutes."""
    with prepare(request) as prepared:
        planner = Planner(prepared, store)
        return planner.plan(total) if total else planner.plan_within(minutes)


def told(plan: ShardPlan) -> Iterator[str]:
    """The plan in lines."""
    total = len(plan.parts)
    cases = sum(map(len, plan.parts))
    if not plan.timed:
        yield f"{locales.some(cases, 'case')}, none of them timed yet: they go by turns"
    elif plan.timed < cases:
        yield (
            f"{locales.some(cases, 'case')}, {locales.count(plan.timed)} of them timed; the others "
            "count as the mean of these"
        )
    else:
        yield f"{locales.some(cases, 'case')}, all of them timed"
    for number, (part, seconds) in enumerate(zip(plan.parts, plan.seconds, strict=True), start=1):
        took = f", about {locales.duration(seconds)}" if plan.timed else ""
        yield f"{number}/{total}: {locales.some(len(part), 'case')}{took}"
    if plan.timed:
        yield (
            f"{locales.some(total, 'shard')}: the slowest takes about "
            f"{locales.duration(plan.slowest)}; starting jobs, judging and confirming not counted"
        )
