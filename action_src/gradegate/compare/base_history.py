"""What base's earlier runs say: as counts for a single case, and as a base for the means.

Where the history has enough of every criterion of a case, base is not run at first: its earlier
runs stand in. They are of other days, as a stored base is, and treated alike (`stored_base`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from gradegate.compare.case_results import gated_names
from gradegate.compare.screening import NO_RUNS, SuspectId
from gradegate.compare.stats.exact import Count
from gradegate.compare.terms import Terms
from gradegate.model.evalset import CaseKey
from gradegate.model.history import LEAST, Record
from gradegate.model.notice import notice
from gradegate.model.result import CaseResult, CriterionResult, Status
from gradegate.model.runs import NotRun, Role, RunRequest, Runs, ScoredRun

SHOWN = 10
"""So many of the last runs stand in for base: more would hardly make its mean more certain."""
_NO_TRACE = NotRun.because(notice("history.no_trace"))


class BaseHistory:
    """The records of the cases that are compared, those with too few outcomes left out."""

    def __init__(
        self, records: Mapping[SuspectId, Record] | None = None, *, stands_in: bool = True
    ) -> None:
        self._may_stand_in = stands_in
        recent = {at: record.since_change() for at, record in (records or {}).items()}
        tallies = {at: Count(*record.tally) for at, record in recent.items()}
        self._tallies = {at: tally for at, tally in tallies.items() if tally.runs >= LEAST}
        self.records = {at: recent[at] for at in self._tallies}
        self._criteria: dict[CaseKey, set[str]] = {}
        for key, criterion in self.records:
            self._criteria.setdefault(key, set()).add(criterion)

    def __contains__(self, key: CaseKey) -> bool:
        """Whether a case's earlier runs may stand in for base."""
        return self._may_stand_in and key in self._criteria

    def __bool__(self) -> bool:
        return bool(self.records)

    def tally(self, at: SuspectId) -> Count:
        """How many of base's earlier runs passed."""
        return self._tallies.get(at, NO_RUNS)

    def covers(self, key: CaseKey, names: Iterable[str]) -> bool:
        """Whether there is a record of each of these criteria."""
        return self._criteria.get(key, set()).issuperset(names)

    def missing(self, terms: Terms, runs: Runs) -> Iterator[RunRequest]:
        """Base's first pass of cases that turn out to have a criterion without a record."""
        for pair in terms.pairs:
            planned = terms.first_pass.get(("base", pair.key))
            if planned and pair.key in self and not self._stands_in(runs, pair.key):
                yield RunRequest("base", pair.key, Role.FIRST, planned)

    def beside(self, runs: Runs) -> Runs:
        """The runs, with earlier ones in the place of base's first pass where it was not made."""
        earlier = {
            key: [*made, *runs.of("base", key)]
            for key, made in (self._as_runs.items() if self._may_stand_in else ())
            if not runs.of("base", key, Role.FIRST) and self._stands_in(runs, key)
        }
        return Runs({**runs.base, **earlier}, runs.head) if earlier else runs

    def _stands_in(self, runs: Runs, key: CaseKey) -> bool:
        return self.covers(key, gated_names(runs.of("head", key, Role.FIRST)))

    @cached_property
    def _as_runs(self) -> Mapping[CaseKey, Sequence[ScoredRun]]:
        return {key: _as_runs(key, self._of(key)) for key in self._criteria}

    def _of(self, key: CaseKey) -> dict[str, Record]:
        return {name: self.records[key, name] for name in sorted(self._criteria[key])}


def _as_runs(key: CaseKey, records: Mapping[str, Record]) -> Sequence[ScoredRun]:
    """The last runs as if they had been made now; a criterion with fewer is in the first ones."""
    told = {name: _results(record) for name, record in records.items()}
    length = max(map(len, told.values()))
    rows = [{name: own[n] for name, own in told.items() if n < len(own)} for n in range(length)]
    return [_as_run(key, number, row) for number, row in enumerate(rows, 1)]


def _as_run(key: CaseKey, number: int, criteria: dict[str, CriterionResult]) -> ScoredRun:
    failed = any(one.status is Status.FAILED for one in criteria.values())
    result = CaseResult(
        suite=key.suite,
        eval_set=key.eval_set,
        eval_id=key.eval_id,
        run=number,
        status=Status.FAILED if failed else Status.PASSED,
        criteria=criteria,
    )
    return ScoredRun(Role.FIRST, _NO_TRACE, result, of_another_job=True)


def _results(record: Record) -> Sequence[CriterionResult]:
    pairs = zip(record.outcomes[-SHOWN:], record.scores[-SHOWN:], strict=True)
    return [_result(score, passed=passed) for passed, score in pairs]


@lru_cache(maxsize=4_096)
def _result(score: float, *, passed: bool) -> CriterionResult:
    return CriterionResult(score=score, status=Status.PASSED if passed else Status.FAILED)


NO_HISTORY = BaseHistory()
