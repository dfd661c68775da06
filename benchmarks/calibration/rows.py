"""What is measured, and what is promised."""

from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.calibration.measure import Measured, Promise, Scenario
from benchmarks.calibration.world import (
    World,
    broken,
    flaky,
    graded,
    mixed,
    shifted,
    stable,
    unchanged,
)

SIZES = (10, 50, 300)
OURS = "exact"


class EvalSet(NamedTuple):
    """A set that pull requests are run on."""

    name: str
    world: World
    kind: str

    def scenario(self, what: str) -> str:
        """The name under which a scenario of this set is measured."""
        return f"{self.name}: {what}"


PROFILES = {"stable": stable, "mixed": mixed, "flaky": flaky, "graded": graded}
SETS = [
    EvalSet(
        f"{cases} {kind}, {criteria} {'criteria' if criteria > 1 else 'criterion'}",
        unchanged(profile, cases, criteria),
        kind,
    )
    for kind, profile in PROFILES.items()
    for criteria in (1, 7)
    for cases in SIZES
]
UNCHANGED, BROKEN, NEARLY = "unchanged", "one case always failing", "one case .97 to .05"


def whole_sets() -> Iterator[Scenario]:
    """Nothing changed, and one case broken, on every set."""
    for one in SETS:
        is_graded = one.kind == "graded"
        yield Scenario(one.scenario(UNCHANGED), one.world)
        before, after = (0.98, 0.2) if is_graded else (1.0, 0.0)
        yield Scenario(one.scenario(BROKEN), broken(one.world, before, after))
        if one.kind == "mixed":
            yield Scenario(one.scenario(NEARLY), broken(one.world, 0.97, 0.05))


FIFTY = unchanged(mixed, 50, 1)
FIFTY_FLAKY = unchanged(flaky, 50, 1)
HALF = {
    "1 of 50 goes from .95 to .5": broken(FIFTY, 0.95, 0.5),
    "5 of 50 go from .95 to .5": broken(FIFTY, 0.95, 0.5, cases=5),
    "10 of 50 go from .95 to .5": broken(FIFTY, 0.95, 0.5, cases=10),
    "20 of 50 go from .95 to .5": broken(FIFTY, 0.95, 0.5, cases=20),
    "1 of 50 very flaky goes from .7 to .05": broken(FIFTY_FLAKY, 0.7, 0.05),
    "5 of 50 very flaky go from .7 to .05": broken(FIFTY_FLAKY, 0.7, 0.05, cases=5),
}
ALONE, AMONG = unchanged(graded, 50, 1), unchanged(graded, 50, 7)
LEAKS = {
    "all 50 score 0.05 less, alone": shifted(ALONE, -0.05),
    "all 50 score 0.05 less, one of 7 criteria": shifted(AMONG, -0.05),
    "all 50 score 0.03 less, alone": shifted(ALONE, -0.03),
    "all 50 score 0.03 less, one of 7 criteria": shifted(AMONG, -0.03),
    "all 50 mixed pass 10 points less often": shifted(FIFTY, -0.10),
    "all 300 mixed pass 5 points less often": shifted(unchanged(mixed, 300, 1), -0.05),
}
GAINS = {
    "all 50 score 0.05 more": shifted(ALONE, 0.05),
    "10 of 50 go from .5 to 1": broken(FIFTY, 0.5, 1.0, cases=10),
}


def scenarios() -> list[Scenario]:
    """Everything."""
    partly = {**HALF, **LEAKS, **GAINS}
    return [*whole_sets(), *(Scenario(name, world) for name, world in partly.items())]


def promises(measured: Measured) -> Iterator[Promise]:
    """What the documentation says holds, for those scenarios that were measured."""
    ours = {name: rates[OURS] for name, rates in measured.items() if OURS in rates}
    for one in SETS:
        if rates := ours.get(one.scenario(UNCHANGED)):
            limit = 0.025 if one.kind == "graded" else 0.02
            what = f"{one.name}: unchanged and blocked"
            yield Promise(what, rates.blocked, rates.pulls, "at most", limit)
        if rates := ours.get(one.scenario(BROKEN)):
            yield Promise(one.scenario(BROKEN), rates.found, rates.pulls, "at least", 0.99)
        if rates := ours.get(one.scenario(NEARLY)):
            yield Promise(one.scenario(NEARLY), rates.found, rates.pulls, "at least", 0.92)
    for name, limit in zip(LEAKS, (0.85, 0.60), strict=False):
        if rates := ours.get(name):
            yield Promise(name, rates.leaking, rates.pulls, "at least", limit)
    for name in GAINS:
        if rates := ours.get(name):
            yield Promise(f"{name}: blocked", rates.blocked, rates.pulls, "at most", 0.02)


MOST_RUNS = 1.25


def too_dear(measured: Measured) -> Iterator[str]:
    """Mixed sets on which an unchanged pull request costs more runs than promised."""
    for one in SETS:
        rates = measured.get(one.scenario(UNCHANGED), {}).get(OURS)
        if rates and one.kind == "mixed" and rates.cost > MOST_RUNS:
            yield f"{one.name}: {rates.cost:.3f} passes, promised {MOST_RUNS}"
