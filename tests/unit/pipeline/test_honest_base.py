"""A base with crashes in it: what is stored of it is what it did."""

from functools import partial
from random import Random

from gradegate.compare.comparison import compare
from gradegate.compare.gate import decide
from gradegate.compare.next_runs import wanted_runs
from gradegate.judge.client import JudgeClient
from gradegate.model.evalset import Case
from gradegate.model.report import State
from gradegate.model.settings import JudgeSettings
from gradegate.pipeline.case_runner import CaseRunner, SuiteRunner
from gradegate.pipeline.journal import Journal
from gradegate.ports import Store
from gradegate.store.sqlite import SqliteStore
from tests.runs import a_case, both, terms_of
from tests.standins.scripted_runner import ScriptedRunner

CASES = [a_case(f"c{number}") for number in range(100)]


def crashing(seed: int, share: float = 0.05) -> ScriptedRunner:
    """An agent that crashes now and then, and answers as expected otherwise."""
    rng = Random(seed)

    def says(_case: Case, _run: int) -> str:
        return "!it broke" if rng.random() < share else "hi"

    return ScriptedRunner(says)


async def pull_request(store: Store, number: int) -> State:
    """What the gate says of a pull request that changes nothing an agent does."""
    sides = {
        "base": {"desk": SuiteRunner(crashing(2 * number), "base")},
        "head": {"desk": SuiteRunner(crashing(2 * number + 1), f"head {number}")},
    }
    terms = terms_of([both(case) for case in CASES])
    judge = JudgeClient("there is none", store, JudgeSettings())
    cases = {case.key: case for case in CASES}
    runner = CaseRunner(Journal(store, f"job {number}"), judge, sides, cases)  # type: ignore[arg-type] # sides by name
    await runner.make_wanted(partial(wanted_runs, terms))
    await runner.finish()
    comparison = compare(terms, runner.runs)
    return decide(comparison.reasons, comparison.undecided, terms).state


async def test_an_agent_that_crashes_alike_on_both_sides_blocks_nobody() -> None:
    """Five crashes in a hundred on either side: a stored base keeps its own."""
    store = SqliteStore.in_memory()
    said = [await pull_request(store, number) for number in range(25)]
    assert said.count(State.FAIL) <= 1, said
