"""Pull requests put to the gate itself: what it wants is made up, and it decides."""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from benchmarks.calibration.world import THRESHOLD, Pull
from gradegate.compare.base_history import NO_HISTORY, BaseHistory
from gradegate.compare.comparison import Comparison, compare
from gradegate.compare.gate import decide
from gradegate.compare.next_runs import wanted_runs
from gradegate.compare.pairing import Pair
from gradegate.compare.terms import Terms
from gradegate.model.evalset import Case, CaseKey, EvalCase, EvalConfig
from gradegate.model.history import BaseRuns, Record
from gradegate.model.report import State
from gradegate.model.result import CaseResult, CriterionResult, Status
from gradegate.model.runs import SIDES, NotRun, Role, Runs, ScoredRun, SideName
from gradegate.model.settings import Gate, GateRule

SUITE = "bench"
_NO_TRACE = NotRun("made up")
_PASSES = (Role.FIRST, Role.AGAIN)


class Outcome(NamedTuple):
    """What the gate made of a pull request."""

    state: State
    comparison: Comparison
    made: int
    """Runs, without those that were stored before."""


def put_to_gate(pull: Pull, rule: GateRule) -> Outcome:
    """Makes what is wanted until nothing more is, and has it decided."""
    world = pull.world
    terms = _terms(world.cases, world.criteria, world.runs, rule)
    history = _history(pull) if rule == "memory" and world.history else NO_HISTORY
    runs = Runs()
    made = 0
    while missing := runs.missing(wanted_runs(terms, runs, history)):
        for side, key, role, total in missing:
            have = len(runs.of(side, key, role))
            for number in range(have + 1, total + 1):
                stored = world.stored and side == "base" and role is Role.FIRST
                runs.add(side, key, _run(pull, side, key, role, number, stored=stored))
                made += not stored
    comparison = compare(terms, runs, history)
    decision = decide(comparison.reasons, comparison.undecided, terms)
    return Outcome(decision.state, comparison, made)


def criterion(number: int) -> str:
    """What a criterion is called."""
    return f"gradegate/criterion_{number}"


def key_of(case: int) -> CaseKey:
    """What a case is known by."""
    return CaseKey(SUITE, "bench.evalset.json", f"{case:04d}")


@lru_cache(maxsize=64)
def _terms(cases: int, criteria: int, runs: int, rule: GateRule) -> Terms:
    pairs = tuple(_pairs(cases, criteria))
    return Terms(
        pairs=pairs,
        gate=Gate(rule=rule),
        runs={SUITE: runs},
        first_pass={(side, pair.key): runs for pair in pairs for side in SIDES},
        base_suites=frozenset({SUITE}),
        rerunnable=frozenset((side, SUITE) for side in SIDES),
    )


def _pairs(cases: int, criteria: int) -> Iterator[Pair]:
    config = EvalConfig(criteria={criterion(n): THRESHOLD for n in range(criteria)})
    for number in range(cases):
        suite, eval_set, eval_id = key_of(number)
        case = Case(
            suite=suite,
            eval_set=eval_set,
            eval_set_id=eval_set,
            eval_id=eval_id,
            line=1,
            definition=EvalCase(eval_id=eval_id, conversation=()),
            config=config,
            digest=eval_id,
        )
        yield Pair(case, case)


def _run(  # noqa: PLR0913 - which run it is
    pull: Pull, side: SideName, key: CaseKey, role: Role, number: int, *, stored: bool
) -> ScoredRun:
    case = int(key.eval_id)
    if role in _PASSES:
        full = number + (pull.world.runs if role is Role.AGAIN else 0)
        made = pull.full_pass(side, full, today=not stored)
        scores = made.scores[case, 0].tolist()
    elif role is Role.REFRESH:
        scores = pull.full_pass(side, number).scores[case, 0].tolist()
    else:
        scores = [float(passed) for passed in pull.fresh(role, side, case, number)[number - 1]]
    result = _result(key, tuple(scores))
    return ScoredRun(role, _NO_TRACE, result, of_another_job=stored)


@lru_cache(maxsize=65_536)
def _result(key: CaseKey, scores: tuple[float, ...]) -> CaseResult:
    criteria = {criterion(n): _scored(score) for n, score in enumerate(scores)}
    failed = any(one.status is Status.FAILED for one in criteria.values())
    return CaseResult.model_construct(
        suite=key.suite,
        eval_set=key.eval_set,
        eval_id=key.eval_id,
        run=1,
        status=Status.FAILED if failed else Status.PASSED,
        criteria=criteria,
    )


@lru_cache(maxsize=65_536)
def _scored(score: float) -> CriterionResult:
    status = Status.PASSED if score >= THRESHOLD else Status.FAILED
    return CriterionResult(score=score, threshold=THRESHOLD, status=status)


def _history(pull: Pull) -> BaseHistory:
    """Two outcomes a base job, as a baseline makes them."""
    earlier = pull.history
    assert earlier is not None
    passed, scores = earlier.passed.tolist(), earlier.scores.tolist()
    graded = pull.world.continuous
    return BaseHistory(
        {
            (key_of(case), criterion(n)): Record.model_construct(
                eval_set="",
                eval_id=f"{case}",
                criterion=criterion(n),
                jobs=_jobs(
                    "".join("01"[run[n]] for run in passed[case]),
                    tuple(run[n] for run in scores[case]) if graded else (),
                ),
            )
            for case in range(pull.world.cases)
            for n in range(pull.world.criteria)
        }
    )


def _jobs(outcomes: str, scores: tuple[float, ...]) -> tuple[BaseRuns, ...]:
    if scores:
        return tuple(
            BaseRuns(_name(at), outcomes[at : at + 2], scores[at : at + 2], at=at)
            for at in range(0, len(outcomes), 2)
        )
    return _binary_jobs(outcomes)


@lru_cache(maxsize=65_536)
def _binary_jobs(outcomes: str) -> tuple[BaseRuns, ...]:
    return tuple(
        BaseRuns(_name(at), outcomes[at : at + 2], at=at) for at in range(0, len(outcomes), 2)
    )


@cache
def _name(at: int) -> str:
    return f"job {at}"
