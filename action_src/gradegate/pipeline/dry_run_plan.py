"""What a dry run tells: suite by suite what would be run, by which rules, and what it would ask."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from gradegate import locales
from gradegate.compare.terms import Terms
from gradegate.model.evalset import Case
from gradegate.model.notice import Notice
from gradegate.model.runs import SideName
from gradegate.model.settings import Suite
from gradegate.pipeline.journal import Journal
from gradegate.pipeline.prepare import Prepared
from gradegate.pipeline.services import AgentFactory

SCHEMA = "gradegate/dry-run/v1"
NO_CONFIG = "no config: google-adk's defaults"


class Bounds(NamedTuple):
    """How many there will be."""

    least: int
    most: int

    def __str__(self) -> str:
        """One number where both are the same."""
        if self.least == self.most:
            return locales.count(self.least)
        return f"{locales.count(self.least)} to {locales.count(self.most)}"


class Estimate(NamedTuple):
    """How many calls a run would make, retries aside."""

    total: Bounds
    by_criterion: dict[str, Bounds]


NO_CALLS = Estimate(Bounds(0, 0), {})


class PlannedSet(NamedTuple):
    """An eval set, and the rules that it goes by."""

    eval_set: str
    cases: int
    config: str | None
    criteria: dict[str, float | None]
    """Thresholds by criterion; None where it has none."""

    def __str__(self) -> str:
        """In a line."""
        rules = ", ".join(
            name if threshold is None else f"{name} ≥ {threshold:g}"
            for name, threshold in self.criteria.items()
        )
        cases = locales.some(self.cases, "case")
        return f"{self.eval_set}: {cases}, {self.config or NO_CONFIG} ({rules or 'no criteria'})"


class PlannedSuite(NamedTuple):
    """A suite: who answers, in what, to which sets, how many times."""

    name: str
    agent: str | None
    environment: Notice | None
    eval_sets: tuple[PlannedSet, ...]
    runs: Bounds
    """Of its agent, less what the store has; the most with the runs that confirm suspicions."""

    def lines(self) -> Iterator[str]:
        """In lines."""
        yield f"suite {self.name}: {self.agent or 'no agent answers'}"
        if self.environment:
            yield f"  environment: {self.environment.text}"
        yield f"  runs: {self.runs}"
        for one in self.eval_sets:
            yield f"  {one}"


class ForeseenRuns:
    """How many runs each suite's agents would make: those of the first pass, and to confirm."""

    def __init__(self, prepared: Prepared, terms: Terms, journal: Journal) -> None:
        self._prepared = prepared
        self._terms = terms
        self._journal = journal

    def of(self, suite: str) -> Bounds:
        """Sides with the same agent share their first pass."""
        missing: dict[tuple[str, str, str], int] = {}
        confirming = 0
        for pair in self._prepared.pairs:
            case = pair.head or pair.base
            for side in self._terms.sides_of(pair) if case and pair.key.suite == suite else ():
                if (side, suite) in self._terms.rerunnable and case:
                    identity = self._identity(side, suite)
                    total = self._terms.first_pass[side, pair.key]
                    known = self._journal.known(identity, case)
                    missing[identity, case.eval_set, case.eval_id] = max(0, total - known)
                    confirming += self._terms.gate.confirm_runs
        first = sum(missing.values())
        return Bounds(first, first + confirming)

    def _identity(self, side: SideName, suite: str) -> str:
        prepared = self._prepared.base if side == "base" else self._prepared.head
        return prepared.identities.get(suite, "") if prepared else ""


@dataclass(frozen=True)
class DryRun:
    """What a run would come to."""

    suites: tuple[PlannedSuite, ...]
    estimate: Estimate
    audit: Notice
    """How many cases stay green whatever an agent does."""
    nothing_changed: bool = False
    """Whether base and head are the same, so that nothing would be run."""

    @classmethod
    def of(
        cls,
        prepared: Prepared,
        agents: AgentFactory,
        runs: ForeseenRuns,
        estimate: Estimate,
        audit: Notice,
    ) -> Self:
        """Of a run that there is something to do in."""
        foreseen = {suite.name: runs.of(suite.name) for suite in prepared.head.suites}
        return cls(tuple(_planned(prepared, agents, foreseen)), estimate, audit)

    @classmethod
    def of_nothing(cls, prepared: Prepared, agents: AgentFactory, audit: Notice) -> Self:
        """Of a run that would find nothing changed."""
        return cls(tuple(_planned(prepared, agents, {})), NO_CALLS, audit, nothing_changed=True)

    def lines(self) -> Iterator[str]:
        """In lines."""
        if self.nothing_changed:
            yield "nothing changed between base and head: nothing would be run or asked"
        cases = sum(one.cases for suite in self.suites for one in suite.eval_sets)
        yield locales.some(cases, "case")
        for suite in self.suites:
            yield from suite.lines()
        yield f"judge calls: {self.estimate.total}"
        for name, calls in self.estimate.by_criterion.items():
            yield f"  {name}: {calls}"
        yield self.audit.text

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "schema": SCHEMA,
            "nothing_changed": self.nothing_changed,
            "suites": [_suite_json(suite) for suite in self.suites],
            "judge_calls": {
                **self.estimate.total._asdict(),
                "criteria": {n: c._asdict() for n, c in self.estimate.by_criterion.items()},
            },
            "audit": self.audit.text,
        }


def _suite_json(suite: PlannedSuite) -> dict[str, Any]:
    environment = suite.environment.text if suite.environment else None
    sets = [one._asdict() for one in suite.eval_sets]
    told = {"runs": suite.runs._asdict(), "environment": environment, "eval_sets": sets}
    return suite._asdict() | told


def _planned(
    prepared: Prepared, agents: AgentFactory, runs: Mapping[str, Bounds]
) -> Iterator[PlannedSuite]:
    asked = [pair.head for pair in prepared.pairs if pair.head]
    for suite in prepared.head.suites:
        sets: dict[str, list[Case]] = {}
        for case in asked:
            if case.suite == suite.name:
                sets.setdefault(case.eval_set, []).append(case)
        yield PlannedSuite(
            suite.name,
            _answers(suite),
            agents.environment_of(suite, prepared.head.side),
            tuple(_planned_set(name, cases) for name, cases in sorted(sets.items())),
            runs.get(suite.name, Bounds(0, 0)),
        )


def _answers(suite: Suite) -> str | None:
    return suite.traces or (" ".join(suite.command) if suite.command else suite.agent)


def _planned_set(name: str, cases: list[Case]) -> PlannedSet:
    config = cases[0].config
    thresholds = {one: _threshold(entry) for one, entry in config.criteria.items()}
    return PlannedSet(name, len(cases), cases[0].config_file, thresholds)


def _threshold(entry: float | dict[str, Any]) -> float | None:
    if isinstance(entry, dict):
        own = entry.get("threshold")
        return float(own) if isinstance(own, int | float) else None
    return float(entry)
