"""The loop as it was: rounds of so many more runs each, made one after the other."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gradegate.compare.case_results import PairedResult, paired_results, passed
from gradegate.compare.criterion_shift import another_pass_wanted
from gradegate.compare.criterion_table import by_criterion, shifts_of
from gradegate.compare.pairing import Pair
from gradegate.compare.screening import Confirmation, SuspectId
from gradegate.compare.stats.exact import Count
from gradegate.compare.terms import Terms
from gradegate.compare.without_reruns import FixedRuns, judge_fixed
from gradegate.model.evalset import CaseKey
from gradegate.model.report import Verdict
from gradegate.model.runs import Role, Runs, ScoredRun, SideName
from tests.oracle.confirm import (
    MOST_LOST,
    SCREEN_FAILS,
    SCREEN_PASSES,
    Suspect,
    Wanted,
    settle,
)
from tests.oracle.worlds import World

Settled = Mapping[SuspectId, Confirmation]


class Measured(NamedTuple):
    """What all runs came to."""

    runs: Runs
    results: list[PairedResult]
    look: int | None


class Fresh(NamedTuple):
    """Runs to make next of one case, on each side."""

    key: CaseKey
    role: Role
    base: int
    head: int


class Rounds:
    """Run, look, and run again what a first look cannot tell."""

    def __init__(self, terms: Terms, world: World) -> None:
        self.terms = terms
        self.world = world
        self.runs = Runs()

    def measure(self) -> Measured:
        for pair in self.terms.pairs:
            for side in self._sides(pair):
                times = self.terms.first_pass[side, pair.key]
                self._make([(side, pair.key, Role.FIRST, times)])
        look = self._full_passes()
        settled = {**self._recorded(), **self._confirmed()}
        return Measured(self.runs, self._results(settled), look)

    def _make(self, wanted: Iterable[tuple[SideName, CaseKey, Role, int]]) -> None:
        """Runs are numbered on from those the case has as the round begins."""
        made: list[tuple[SideName, CaseKey, ScoredRun]] = []
        for side, key, role, times in wanted:
            first = len(self.runs.of(side, key)) + 1
            for number in range(first, first + times):
                made.append((side, key, self.world.run(side, key, number, role)))  # noqa: PERF401 - three deep
        for one in made:
            self.runs.add(*one)

    def _results(self, settled: Settled) -> list[PairedResult]:
        base, head = self.runs.base, self.runs.head
        return [
            one for pair in self.terms.pairs for one in paired_results(pair, base, head, settled)
        ]

    def _sides(self, pair: Pair) -> list[SideName]:
        if pair.head is None:
            return []
        has_base = pair.base is not None and pair.key.suite in self.terms.base_suites
        return ["base", "head"] if has_base else ["head"]

    def _can_rerun(self, side: SideName, suite: str) -> bool:
        return (side, suite) in self.terms.rerunnable

    def _full_passes(self) -> int | None:
        sides: tuple[SideName, ...] = ("base", "head")
        if not all(self._can_rerun(side, suite) for side in sides for suite in self.terms.runs):
            return None
        gate, look = self.terms.gate, 1
        while True:
            grouped = by_criterion(self._results({}), self.terms.quarantined)
            shifts = shifts_of(grouped, self.runs.base, self.runs.head)
            if not another_pass_wanted(shifts, gate.tolerance_for, alpha=gate.alpha, look=look):
                return look
            self._make(
                (side, pair.key, Role.AGAIN, self.terms.runs[pair.key.suite])
                for pair in self.terms.pairs
                if pair.head and pair.base
                for side in self._sides(pair)
            )
            look += 1

    def _confirmed(self) -> Settled:
        if not self.terms.gate.confirm_runs:
            return {}
        failing = [one for one in self._results({}) if one.head.standing == "failed"]
        suspects = [
            one
            for one in failing
            if one.base and one.base.standing != "unknown" and self._reruns(one.pair)
        ]
        newcomers = [
            one
            for one in failing
            if one.base is None and self._can_rerun("head", one.pair.key.suite)
        ]
        while True:
            found = self._next(suspects, newcomers)
            if not isinstance(found, tuple):
                return found
            self._make(
                (side, one.key, one.role, times)
                for one in found
                for side, times in _times(one)
                if times
            )

    def _next(
        self, suspects: Sequence[PairedResult], newcomers: Sequence[PairedResult]
    ) -> tuple[Fresh, ...] | Settled:
        gate = self.terms.gate
        found = settle(
            [self._suspect(one) for one in suspects],
            alpha=gate.alpha,
            confirm_runs=gate.confirm_runs,
        )
        wanted = list(found) if isinstance(found, tuple) else []
        settled = {} if isinstance(found, tuple) else dict(found)
        for one in newcomers:
            suspect = self._suspect(one)
            outcome = _newcomer(suspect)
            if isinstance(outcome, Wanted):
                wanted.append(outcome)
            else:
                settled[suspect.id] = outcome
        return tuple(_merged(wanted)) if wanted else settled

    def _suspect(self, one: PairedResult) -> Suspect:
        return Suspect(
            id=(one.pair.key, one.criterion),
            failed_on_both=one.base is not None and one.base.standing == "failed",
            quarantined=one.pair.key in self.terms.quarantined,
            recheck=self._outcomes("base", one, Role.RECHECK),
            screen=self._outcomes("head", one, Role.SCREEN),
            base=self._outcomes("base", one, Role.CONFIRM),
            head=self._outcomes("head", one, Role.CONFIRM),
        )

    def _outcomes(self, side: SideName, one: PairedResult, role: Role) -> tuple[bool | None, ...]:
        return tuple(
            passed(run.result.criteria[one.criterion])
            for run in self.runs.of(side, one.pair.key, role)
            if one.criterion in run.result.criteria
        )

    def _reruns(self, pair: Pair) -> bool:
        return all(self._can_rerun(side, pair.key.suite) for side in self._sides(pair))

    def _recorded(self) -> Settled:
        cases = [
            FixedRuns(
                id=(one.pair.key, one.criterion),
                base=self._outcomes("base", one, Role.FIRST),
                head=self._outcomes("head", one, Role.FIRST),
                quarantined=one.pair.key in self.terms.quarantined,
            )
            for one in self._results({})
            if one.base is not None and not self._reruns(one.pair)
        ]
        several = [case for case in cases if len(case.base) > 1 or len(case.head) > 1]
        return judge_fixed(several, alpha=self.terms.gate.alpha)


def _times(one: Fresh) -> tuple[tuple[SideName, int], tuple[SideName, int]]:
    return ("base", one.base), ("head", one.head)


def _newcomer(suspect: Suspect) -> Confirmation | Wanted:
    """A new case that fails.

    As for others four lost runs are tolerated, and what another criterion's runs show once this
    one is settled changes nothing: here it once was three, and all runs counted.
    """
    passed = failed = 0
    for run in suspect.screen:
        passed += run is True
        failed += run is False
        if failed == SCREEN_FAILS:
            return Confirmation(Verdict.UNCHANGED, head=Count(passed, passed + failed))
        if passed == SCREEN_PASSES:
            return Confirmation(Verdict.FLAKY, head=Count(passed, passed + failed))
    if suspect.screen.count(None) > MOST_LOST:
        return Confirmation(Verdict.UNCERTAIN, head=Count(passed, passed + failed))
    return Wanted(suspect.id, "screen", 0, min(SCREEN_FAILS - failed, SCREEN_PASSES - passed))


def _merged(wanted: Iterable[Wanted]) -> Iterator[Fresh]:
    """One run of a case serves all of its criteria, so the largest wish is enough."""
    most: dict[tuple[CaseKey, Role], tuple[int, int]] = {}
    for one in wanted:
        place = (one.id[0], Role(one.role))
        known = most.get(place, (0, 0))
        most[place] = (max(known[0], one.base), max(known[1], one.head))
    for (key, role), counts in sorted(most.items()):
        yield Fresh(key, role, *counts)
