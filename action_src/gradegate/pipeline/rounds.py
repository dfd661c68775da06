"""One pass over both sides, then fresh runs of what looks worse, until it is settled."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gradegate.compare.case_results import PairedResult, SuspectId, fresh, paired_results
from gradegate.compare.confirm import Confirmation
from gradegate.compare.criterion_shift import another_pass_wanted
from gradegate.compare.criterion_table import by_criterion, shifts_of
from gradegate.compare.pairing import Pair
from gradegate.compare.screening import Fresh, Suspects, next_runs, suspects_of
from gradegate.compare.without_reruns import FixedRuns, judge_fixed
from gradegate.model.evalset import CaseKey
from gradegate.model.runs import Role
from gradegate.model.settings import Gate
from gradegate.pipeline.case_runner import CaseRunner, RunRequest, SideRunners

BASELINE_RUNS = 2
"""A base that many pull requests are held against must not have been lucky once."""


@dataclass(frozen=True)
class Comparable:
    """What is to be compared: the pairs, the two sides, and the rules of proof."""

    pairs: tuple[Pair, ...]
    head: SideRunners
    base: SideRunners | None
    gate: Gate
    quarantined: frozenset[CaseKey]
    runs: Mapping[str, int]
    """First-pass runs of each suite."""

    def judgements(self, settled: Mapping[SuspectId, Confirmation]) -> list[PairedResult]:
        """Every criterion of every pair, as far as it is known."""
        before = self.base.runs if self.base else None
        return [
            one
            for pair in self.pairs
            for one in paired_results(pair, before, self.head.runs, settled)
        ]

    @property
    def can_rerun(self) -> bool:
        """Whether whole passes can be bought: every agent of both sides can run again."""
        return self.base is not None and all(
            team.can_rerun(suite) for team in (self.base, self.head) for suite in self.runs
        )


@dataclass(frozen=True)
class Measured:
    """What all runs came to; `look` counts full passes where more could have been bought."""

    judgements: list[PairedResult]
    look: int | None


async def measure(what: Comparable, bench: CaseRunner) -> Measured:
    """Run, look, and run again what a first look cannot tell."""
    await bench.make(_first_pass(what, bench))
    look = await _full_passes(what, bench)
    settled = {**_recorded(what), **await _confirmed(what, bench)}
    return Measured(what.judgements(settled), look)


def _first_pass(what: Comparable, bench: CaseRunner) -> Iterable[RunRequest]:
    """What each suite asks for; of base also what is kept already, for a steadier base."""
    for pair in what.pairs:
        if pair.head is None:
            continue
        asked = what.runs[pair.head.suite]
        for team in _teams(what, pair):
            runner = team.agents[pair.head.suite].runner
            known = bench.known(team, pair.head) if team is what.base else 0
            times = max(runner.runs_of(pair.head, asked), min(known, BASELINE_RUNS))
            yield RunRequest(team, pair.head, Role.FIRST, times)


def _teams(what: Comparable, pair: Pair) -> list[SideRunners]:
    """Who runs a pair: base too, where it has the case and the suite. Both run head's case."""
    base = what.base
    if base is None or pair.base is None or pair.key.suite not in base.agents:
        return [what.head]
    return [base, what.head]


async def _full_passes(what: Comparable, bench: CaseRunner) -> int | None:
    """Buy a second and a third pass of everything while a criterion looks close."""
    if not what.can_rerun or what.base is None:
        return None
    look = 1
    while True:
        grouped = by_criterion(what.judgements({}), what.quarantined)
        leaks = shifts_of(grouped, what.base.runs, what.head.runs)
        if not another_pass_wanted(
            leaks, what.gate.tolerance_for, alpha=what.gate.alpha, look=look
        ):
            return look
        await bench.make(
            RunRequest(team, pair.head, Role.AGAIN, what.runs[pair.head.suite])
            for pair in what.pairs
            if pair.head and pair.base
            for team in _teams(what, pair)
        )
        look += 1


async def _confirmed(what: Comparable, bench: CaseRunner) -> Mapping[SuspectId, Confirmation]:
    """Fresh runs of suspects, in rounds, until nothing more can be learnt.

    With `confirm_runs = 0` nobody wants any: the first pass has the last word.
    """
    if not what.gate.confirm_runs:
        return {}
    doubts = _that_can_rerun(what, suspects_of(what.judgements({})))
    heads = {pair.key: pair.head for pair in what.pairs if pair.head}
    while True:
        before = what.base.runs if what.base else {}
        found = next_runs(doubts, before, what.head.runs, what.gate, what.quarantined)
        if not isinstance(found, tuple):
            return found
        await bench.make(
            RunRequest(team, heads[one.key], one.role, times)
            for one in found
            for team, times in _sides(what, one)
            if times
        )


def _sides(what: Comparable, one: Fresh) -> Sequence[tuple[SideRunners, int]]:
    head = (what.head, one.head)
    return [head] if what.base is None else [(what.base, one.base), head]


def _that_can_rerun(what: Comparable, doubts: Suspects) -> Suspects:
    return Suspects(
        tuple(one for one in doubts.suspects if _reruns(what, one.pair)),
        tuple(one for one in doubts.newcomers if what.head.can_rerun(one.pair.key.suite)),
    )


def _reruns(what: Comparable, pair: Pair) -> bool:
    return all(team.can_rerun(pair.key.suite) for team in _teams(what, pair))


def _recorded(what: Comparable) -> Mapping[SuspectId, Confirmation]:
    """Where an agent cannot be run again, the recordings are all there is: one exact test."""
    if what.base is None:
        return {}
    cases = [
        FixedRuns(
            id=(one.pair.key, one.criterion),
            base=fresh(what.base.runs.get(one.pair.key, ()), one.criterion, Role.FIRST),
            head=fresh(what.head.runs.get(one.pair.key, ()), one.criterion, Role.FIRST),
            quarantined=one.pair.key in what.quarantined,
        )
        for one in what.judgements({})
        if one.base is not None and not _reruns(what, one.pair)
    ]
    several = [case for case in cases if len(case.base) > 1 or len(case.head) > 1]
    return judge_fixed(several, alpha=what.gate.alpha)  # type: ignore[return-value] # our ids
