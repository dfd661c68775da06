"""Worlds made up: what is compared, and what every run of a case would come to."""

from collections.abc import Iterator
from random import Random

from gradegate.compare.pairing import Pair
from gradegate.compare.terms import Terms
from gradegate.model.evalset import Case, CaseKey
from gradegate.model.result import CaseResult, CriterionResult, Status
from gradegate.model.runs import SIDES, NotRun, Role, ScoredRun, SideName, Trace
from gradegate.model.settings import Gate
from tests.runs import MATCH, TOOLS, a_case

NAMES = (MATCH, TOOLS, "safety_v1")
SUITES = ("desk", "shop")
RATES = (1.0, 1.0, 0.95, 0.7, 0.5, 0.2, 0.0)
ERRORED = CriterionResult(threshold=0.8, status=Status.FAILED, reason="boom")
MISSING = CriterionResult(threshold=0.8, reason="the judge did not answer")
NOT_APPLICABLE = CriterionResult(status=Status.INFORMATIONAL)


class World:
    """A pull request: its terms, and runs that are the same whoever asks for them."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        rng = Random(seed)
        self.crashing = rng.choice([0.0, 0.0, 0.1, 0.4])
        self.lost = rng.choice([0.0, 0.0, 0.05, 0.5])
        self.dead_after_first = rng.random() < 0.08
        """Nothing can be scored any more once the first pass is made."""
        self.leaking = rng.random() < 0.3
        """Many cases are a little worse, so that whole criteria look close."""
        self.suites = SUITES[: rng.choice([1, 1, 2])]
        self.cases = [
            a_case(f"c{n}", suite=rng.choice(self.suites)) for n in range(rng.randint(1, 9))
        ]
        self.rates = dict(self._rates(rng))
        self.names = {case.key: NAMES[: rng.randint(1, 3)] for case in self.cases}
        self.terms = self._terms(rng)

    def _rates(self, rng: Random) -> Iterator[tuple[tuple[SideName, CaseKey], float]]:
        for case in self.cases:
            before, after = rng.choice(RATES), rng.choice(RATES)
            if self.leaking:
                before, after = 1.0, rng.choice([1.0, 0.8, 0.7])
            yield ("base", case.key), before
            yield ("head", case.key), after

    def _terms(self, rng: Random) -> Terms:
        pairs = tuple(_pair(case, rng) for case in self.cases)
        gate = Gate(
            confirm_runs=rng.choice([0, 4, 16, 16, 16]),
            alpha=rng.choice([0.02, 0.02, 0.2]),
            tolerance=rng.choice([0.02, 0.0]),
        )
        runs = {suite: rng.randint(1, 3) for suite in self.suites}
        base = frozenset(suite for suite in self.suites if rng.random() < 0.85)
        able = [(side, suite) for side in SIDES for suite in (base if side == "base" else runs)]
        rerunnable = frozenset(one for one in sorted(able) if rng.random() < 0.85)
        return Terms(
            pairs=pairs,
            gate=gate,
            runs=runs,
            first_pass={
                (side, pair.key): runs[pair.key.suite]
                if (side, pair.key.suite) in rerunnable
                else rng.randint(1, 4)
                for pair in pairs
                for side in SIDES
                if pair.head and (side == "head" or (pair.base and pair.key.suite in base))
            },
            base_suites=base,
            rerunnable=rerunnable,
            quarantined=frozenset(case.key for case in self.cases if rng.random() < 0.15),
        )

    def run(self, side: SideName, key: CaseKey, number: int, role: Role) -> ScoredRun:
        """What this run of a case comes to."""
        rng = Random(f"{self.seed} {side} {key} {number} {role}")
        lost = 1.0 if self.dead_after_first and role is not Role.FIRST else self.lost
        names = self.names[key]
        if rng.random() < lost / 2:
            return _made(key, number, role, dict.fromkeys(names, MISSING))
        if rng.random() < self.crashing:
            return _made(key, number, role, dict.fromkeys(names, ERRORED), error="boom")
        together = rng.random()
        luck = [together if rng.random() < 0.7 else rng.random() for _ in names]
        criteria = {}
        for name, one in zip(names, luck, strict=True):
            if rng.random() < lost / 2:
                criteria[name] = MISSING
            elif rng.random() < 0.03:
                criteria[name] = NOT_APPLICABLE
            else:
                criteria[name] = _score(one, self.rates[side, key])
        return _made(key, number, role, criteria)


def _pair(case: Case, rng: Random) -> Pair:
    where = rng.random()
    if where < 0.12:
        return Pair(None, case)
    return Pair(case, None) if where < 0.2 else Pair(case, case)


def _score(luck: float, rate: float) -> CriterionResult:
    passed = luck < rate
    score = 1.0 - luck / 5 if passed else 0.75 * (1.0 - luck)
    status = Status.PASSED if passed else Status.FAILED
    return CriterionResult(score=score, threshold=0.8, status=status)


def _made(
    key: CaseKey,
    number: int,
    role: Role,
    criteria: dict[str, CriterionResult],
    error: str | None = None,
) -> ScoredRun:
    statuses = {one.status for one in criteria.values()}
    status = next(
        (one for one in (Status.FAILED, Status.NOT_EVALUATED) if one in statuses), Status.PASSED
    )
    suite, eval_set, eval_id = key
    result = CaseResult(
        suite=suite,
        eval_set=eval_set,
        eval_id=eval_id,
        run=number,
        status=Status.ERRORED if error else status,
        criteria=criteria,
    )
    lost = all(one is MISSING for one in criteria.values())
    trace = Trace(suite=suite, eval_set=eval_set, eval_id=eval_id, run=number, error=error)
    return ScoredRun(role, NotRun("lost") if lost else trace, result)
