"""Base's earlier outcomes, case by case and criterion by criterion: a value that can travel.

A record holds what the last runs of a case came to, over base's commits: no text, no answers. Two
copies of a record that grew apart can be put together again, in any order.
"""

from collections.abc import Collection, Iterable
from math import lgamma, log
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from gradegate.model.base import Value

HISTORY_SCHEMA: Final = "gradegate/history/v1"
LONGEST = 60
"""So many outcomes of a case are kept."""
LEAST = 5
"""A record with fewer outcomes is treated as none."""
CHANGED = 100.0
"""How much likelier a change must be than none for what was before it to be left out."""


class PassCount(NamedTuple):
    """How many of so many passed."""

    passed: int
    runs: int


class BaseRuns(NamedTuple):
    """What one base job's first-pass runs of a case came to under a criterion."""

    job: str
    """What the job is known by: the same runs are never counted twice."""
    outcomes: Annotated[str, Field(pattern=r"^[01]+$")]
    """A digit a run: 1 passed, 0 failed."""
    scores: tuple[float, ...] = ()
    """As many, where a score can be more than just passed or failed."""
    commit: str = ""
    at: Annotated[int, Field(ge=0)] = 0
    """When, in seconds since 1970 (UTC)."""
    model: str = ""
    """The model that the agent's events name, where they do."""

    @property
    def tally(self) -> PassCount:
        """How many passed."""
        return PassCount(self.outcomes.count("1"), len(self.outcomes))


class Record(Value):
    """The last outcomes of one case under one criterion, oldest first."""

    suite: str = ""
    eval_set: str
    eval_id: str
    criterion: str
    judge: str = ""
    """The model that judged; empty for a criterion without a judge."""
    jobs: tuple[BaseRuns, ...]

    @property
    def tally(self) -> PassCount:
        """How many passed."""
        return _sum(self.jobs)

    @property
    def scores(self) -> tuple[float, ...]:
        """Of every run; 1 and 0 where there is no more to it than passed and failed."""
        return tuple(
            score for one in self.jobs for score in (one.scores or map(float, one.outcomes))
        )

    @property
    def outcomes(self) -> tuple[bool, ...]:
        """Whether each run passed, oldest first."""
        return tuple(digit == "1" for one in self.jobs for digit in one.outcomes)

    def plus(self, other: "Record") -> "Record":
        """Both of them, each job once, no longer than records are."""
        known = {one.job: one for one in other.jobs}
        for one in self.jobs:
            if one.job not in known or len(known[one.job].outcomes) < len(one.outcomes):
                known[one.job] = one
        latest = max(self, other, key=lambda record: record.jobs[-1].at)
        return latest.model_copy(update={"jobs": _last(known.values())})

    def since_change(self) -> "Record":
        """Without what was before the case last changed for good.

        A regression that was accepted, or a repair, makes what was before it useless: from there
        on the case is another. A change shows in the outcomes themselves, whoever made it.
        """
        begin = _last_change(self.jobs)
        return self.model_copy(update={"jobs": self.jobs[begin:]}) if begin else self


class Steadiness(Value):
    """How often a case passed on base under a criterion, since it last changed."""

    suite: str
    eval_set: str
    eval_id: str
    criterion: str
    passed: int
    runs: int
    rate: float
    interval: tuple[float, float]
    """Holds the true pass rate with 90 % of the probability."""
    every: int
    passes_every_time: float
    """How likely it passes `every` runs of `every`."""
    trend: str
    """Its pass rate over time, as bars."""
    changed: bool
    """Whether it changed for good within the history."""
    at: int
    """When it was last measured, in seconds since 1970 (UTC)."""


class History(Value):
    """Records by key: see `pipeline.records` for what is in one."""

    schema_: Literal["gradegate/history/v1"] = Field(default=HISTORY_SCHEMA, alias="schema")
    records: dict[str, Record] = Field(default_factory=dict)

    @property
    def commits(self) -> frozenset[str]:
        """All whose runs these are."""
        return frozenset(one.commit for record in self.records.values() for one in record.jobs)

    def of(self, commits: Collection[str]) -> "History":
        """Without the runs of other commits."""
        cut = {
            key: tuple(one for one in record.jobs if one.commit in commits)
            for key, record in self.records.items()
        }
        return History(
            records={
                key: self.records[key].model_copy(update={"jobs": jobs})
                for key, jobs in cut.items()
                if jobs
            }
        )

    def plus(self, other: "History") -> "History":
        """Both of them."""
        records = dict(self.records)
        for key, record in other.records.items():
            records[key] = records[key].plus(record) if key in records else record
        return History(records=records)


def _last(jobs: Iterable[BaseRuns]) -> tuple[BaseRuns, ...]:
    """The latest of them, as many as hold no more outcomes than are kept."""
    ordered = sorted(jobs, key=lambda one: (one.at, one.job))
    kept, runs = 0, 0
    for one in reversed(ordered):
        runs += len(one.outcomes)
        if runs > LONGEST and kept:
            break
        kept += 1
    return tuple(ordered[-kept:])


def _sum(jobs: Iterable[BaseRuns]) -> PassCount:
    tallies = [one.tally for one in jobs]
    return PassCount(sum(one.passed for one in tallies), sum(one.runs for one in tallies))


def _last_change(jobs: tuple[BaseRuns, ...]) -> int:
    """At which job the case last became another; 0 where it never did."""
    begin = 0
    while True:
        whole = _sum(jobs[begin:])
        places = range(begin + 1, len(jobs))
        if whole.passed in (0, whole.runs) or not places:
            return begin
        evidence = {at: _evidence(jobs, begin, at) for at in places}
        at = max(evidence, key=evidence.__getitem__)
        if evidence[at] < log(CHANGED * len(places)):
            return begin
        begin = at


def _evidence(jobs: tuple[BaseRuns, ...], begin: int, at: int) -> float:
    """The logarithm of how much likelier two pass rates are than one, any rate being as likely.

    Of what came before all of it is looked at, and as many jobs as came after: a case that
    broke and was repaired has no place where all before it is unlike all after it.
    """
    after = _sum(jobs[at:])
    near = max(begin, 2 * at - len(jobs))
    return max(_apart(_sum(jobs[since:at]), after) for since in {begin, near})


def _apart(before: PassCount, after: PassCount) -> float:
    together = PassCount(before.passed + after.passed, before.runs + after.runs)
    return _likely(before) + _likely(after) - _likely(together)


def _likely(seen: PassCount) -> float:
    failed = seen.runs - seen.passed
    return lgamma(seen.passed + 1) + lgamma(failed + 1) - lgamma(seen.runs + 2)
