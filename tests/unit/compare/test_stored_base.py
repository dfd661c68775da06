"""A base of another day, through the real journal and store."""

from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from gradegate.compare.comparison import Comparison, compare
from gradegate.compare.gate import decide
from gradegate.compare.next_runs import wanted_runs
from gradegate.compare.stored_base import refresh, refreshed
from gradegate.judge.client import JudgeClient
from gradegate.model.evalset import Case
from gradegate.model.report import State, Verdict
from gradegate.model.runs import Role, Runs, ScoredRun
from gradegate.model.settings import JudgeSettings
from gradegate.pipeline.case_runner import CaseRunner, SuiteRunner
from gradegate.pipeline.journal import Journal
from gradegate.ports import Store
from gradegate.store.sqlite import SqliteStore
from tests.runs import MATCH, a_case, both, scored, terms_of
from tests.standins.scripted_runner import ScriptedRunner

CASES = [a_case(f"c{number}") for number in range(60)]
PAIRS = [both(case) for case in CASES]
Rate = Callable[[Case], float]


def passing(seed: str, rate: Rate) -> ScriptedRunner:
    """An agent that passes a case this often."""
    rng = Random(seed)
    return ScriptedRunner(lambda case, _run: "hi" if rng.random() < rate(case) else "no idea")


class Job:
    """A pull request on some day."""

    def __init__(self, store: Store, name: str, base: Rate, head: Rate) -> None:
        self.base = passing(f"base {name}", base)
        self.head = passing(f"head {name}", head)
        sides = {
            "base": {"desk": SuiteRunner(self.base, "base")},
            "head": {"desk": SuiteRunner(self.head, f"head {name}")},
        }
        judge = JudgeClient("there is none", store, JudgeSettings())
        self.terms = terms_of(PAIRS)
        by_key = {case.key: case for case in CASES}
        self.runner = CaseRunner(Journal(store, f"job {name}"), judge, sides, by_key)  # type: ignore[arg-type] # sides by name

    async def done(self) -> Comparison:
        await self.runner.make_wanted(partial(wanted_runs, self.terms))
        await self.runner.finish()
        return compare(self.terms, self.runner.runs)

    async def state(self) -> State:
        found = await self.done()
        return decide(found.reasons, found.undecided, self.terms).state


def at(rate: float) -> Rate:
    """Every case alike."""
    return lambda _case: rate


@pytest.fixture
async def store() -> Store:
    """A store with a base in it from a day on which nothing failed."""
    kept = SqliteStore.in_memory()
    assert await Job(kept, "earlier", at(1.0), at(1.0)).state() is State.PASS
    return kept


async def test_a_worse_day_for_both_sides_blocks_nobody(store: Store) -> None:
    """Base is run again beside head, and only that is compared."""
    said = [await Job(store, str(n), at(0.85), at(0.85)).state() for n in range(12)]
    assert State.FAIL not in said


async def test_a_real_drop_against_a_stored_base_is_found(store: Store) -> None:
    """Base, run again, is as good as it was."""
    job = Job(store, "worse", at(1.0), at(0.75))
    found = await job.done()
    assert decide(found.reasons, found.undecided, job.terms).state is State.FAIL
    assert found.criteria[0].verdict is Verdict.REGRESSED
    assert [one.code for one in found.remarks] == ["base.refreshed"]


async def test_where_nothing_looks_close_base_is_not_run(store: Store) -> None:
    """That is what it is stored for."""
    job = Job(store, "same", at(1.0), lambda case: float(case.eval_id != "c7"))
    found = await job.done()
    assert found.remarks == ()
    assert {case for case, _ in job.base.made} == {"c7"}  # to confirm it


async def test_on_a_bad_day_what_is_not_settled_is_open_and_never_flaky(store: Store) -> None:
    """Base itself fails what it used to pass: a broken case must not pass for flaky."""
    states, told = [], ""
    for number in range(6):
        job = Job(
            store, f"bad {number}", at(0.4), lambda case: 0.0 if case.eval_id == "c7" else 0.4
        )
        found = await job.done()
        states.append(decide(found.reasons, found.undecided, job.terms).state)
        assert [one.code for one in found.remarks] == ["base.refreshed", "base.unsteady"]
        broken = next(case for case in found.cases if case.eval_id == "c7").criteria[MATCH]
        assert broken.verdict is not Verdict.FLAKY
        told += "".join(one.reason.text for one in found.undecided)
    assert State.PASS not in states
    assert "the service was unsteady: base itself failed" in told


async def test_the_same_job_again_decides_alike_and_runs_nothing(store: Store) -> None:
    """Its own runs are of its own day."""
    first, again = (Job(store, "again", at(0.85), at(0.85)) for _ in range(2))
    said = await first.state()
    assert await again.state() is said
    assert again.base.made == again.head.made == []
    own = Job(SqliteStore.in_memory(), "own", at(0.9), at(0.5))
    found = await own.done()
    assert found.remarks == ()
    assert Role.REFRESH not in {run.role for runs in own.runner.runs.base.values() for run in runs}


def begun(*, kept: bool) -> Runs:
    """All passed on base, none passes on head; base is another job's or not."""
    runs = Runs()
    for case in CASES[:6]:
        one = scored(case, 1, "p")
        runs.add("base", case.key, ScoredRun(one.role, one.outcome, one.result, kept))
        runs.add("head", case.key, scored(case, 1, "f"))
    return runs


def test_base_is_made_anew_as_a_whole_or_not_at_all() -> None:
    """Once begun the rest follows; the stored runs count until all of it is there."""
    terms = terms_of(PAIRS[:6])
    assert refresh(terms, begun(kept=False)) == ()
    runs = begun(kept=True)
    wanted = refresh(terms, runs)
    assert [(one.side, one.role, one.total) for one in wanted] == [("base", Role.REFRESH, 1)] * 6
    for number, case in enumerate(CASES[:6], start=1):
        assert wanted_runs(terms, runs) == wanted[number - 1 :]
        runs.add("base", case.key, scored(case, 2, "f", role=Role.REFRESH))
    now = refreshed(runs)
    assert {run.result.run for own in now.base.values() for run in own} == {2}
    assert {run.role for own in now.base.values() for run in own} == {Role.FIRST}
    assert refreshed(begun(kept=True)).base == begun(kept=True).base
