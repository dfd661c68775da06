"""What is wanted, in totals, comes to the very runs that the old loop of rounds made."""

from collections import Counter
from random import Random

import pytest

from gradegate.compare.comparison import compare
from gradegate.compare.criterion_table import by_criterion, compare_criteria, shifts_of
from gradegate.compare.next_runs import passes_made, wanted_runs
from gradegate.compare.no_base import with_sound_base
from gradegate.model.evalset import CaseKey
from gradegate.model.report import CaseCriterion, CriterionComparison, Verdict
from gradegate.model.runs import SIDES, Role, Runs, ScoredRun, SideName
from tests.oracle.rounds import Measured, Rounds
from tests.oracle.worlds import World

Made = dict[tuple[SideName, CaseKey], list[tuple[Role, int]]]


class Killed(Exception):  # noqa: N818 - no error: somebody ended the job
    """The job is over; what was made is kept."""


class Job:
    """A job that makes what is wanted, and may be ended at any run."""

    def __init__(self, world: World, kept: dict[tuple[SideName, CaseKey, int], ScoredRun]) -> None:
        self.world = world
        self.kept = kept
        self.runs = Runs()

    def make(self, rng: Random | None = None) -> Runs:
        """Round after round; with `rng` it is ended now and then, in the midst of one."""
        while missing := self.runs.missing(wanted_runs(self.world.terms, self.runs)):
            numbered = [
                (side, key, role, len(self.runs.of(side, key)) + more)
                for side, key, role, total in missing
                for more in range(1, 1 + total - len(self.runs.of(side, key, role)))
            ]
            if rng:
                rng.shuffle(numbered)
            for side, key, role, number in numbered:
                if (side, key, number) not in self.kept:
                    if rng and rng.random() < 0.05:
                        raise Killed
                    self.kept[side, key, number] = self.world.run(side, key, number, role)
            for side, key, _, number in sorted(numbered, key=lambda one: one[3]):
                self.runs.add(side, key, self.kept[side, key, number])
        return self.runs


def played(world: World) -> Runs:
    """All the runs that are wanted, by a job that is killed and started again until it ends."""
    rng = Random(world.seed)
    kept: dict[tuple[SideName, CaseKey, int], ScoredRun] = {}
    while True:
        try:
            return Job(world, kept).make(rng)
        except Killed:
            continue


def made(runs: Runs) -> Made:
    """Every run with what it was made for, and its number."""
    return {
        (side, key): [(run.role, run.result.run) for run in found]
        for side in SIDES
        for key, found in (runs.base if side == "base" else runs.head).items()
    }


def old_words(
    world: World, measured: Measured
) -> tuple[list[tuple[CaseKey, str, CaseCriterion]], tuple[CriterionComparison, ...]]:
    """What the old loop's runs said of each case and of each criterion."""
    cases = [(one.pair.key, one.criterion, one.comparison()) for one in measured.results]
    grouped = by_criterion(measured.results, world.terms.quarantined)
    shifts = shifts_of(grouped, measured.runs.base, measured.runs.head)
    return cases, compare_criteria(grouped, shifts, world.terms.gate, look=measured.look)


def check(seed: int, seen: Counter[str]) -> None:
    """One world both ways; the old loop compared also with a base that fails everything."""
    world = World(seed)
    runs = played(world)
    if with_sound_base(world.terms, runs)[0] is not world.terms:
        seen["no base"] += 1
        return
    measured = Rounds(world.terms, world).measure()
    assert made(runs) == made(measured.runs), seed
    found = compare(world.terms, runs)
    cases = [
        (pair.key, name, criterion)
        for pair, case in zip(world.terms.pairs, found.cases, strict=True)
        for name, criterion in case.criteria.items()
        if criterion.verdict is not Verdict.GONE  # the old loop had no word for it
    ]
    criteria = tuple(
        one for one in found.criteria if not one.informational and one.verdict is not Verdict.GONE
    )
    assert (cases, criteria) == old_words(world, measured), seed
    if measured.look is not None:
        assert passes_made(world.terms, runs) == measured.look, seed
    seen.update(one.verdict.value for _, _, one in cases)
    seen.update(f"confirmed {one.confirmed}" for _, _, one in cases)
    seen.update(
        run.role.value for side in (runs.base, runs.head) for own in side.values() for run in own
    )
    seen[f"look {measured.look}"] += 1


def test_the_same_runs_and_the_same_words_as_the_old_loop() -> None:
    """Sixty worlds, each with something that can go wrong in it."""
    seen: Counter[str] = Counter()
    for seed in range(60):
        check(seed, seen)
    assert set(Role) - {Role.REFRESH} <= set(seen)  # nothing is stored in these worlds


@pytest.mark.slow
def test_a_thousand_worlds_more() -> None:
    """And none of them so quiet that it could not tell."""
    seen: Counter[str] = Counter()
    for seed in range(60, 1_200):
        check(seed, seen)
    rare = ["regressed", "flaky", "uncertain", "unchanged", "improved", "new", "confirmed True"]
    rare += [*(set(Role) - {Role.REFRESH}), "look None", "look 1", "look 2", "look 3", "no base"]
    assert {name: seen[name] for name in rare if seen[name] < 10} == {}
