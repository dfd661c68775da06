"""A rerun is fresh evidence: through the real journal, store and judge client."""

import asyncio
from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Any

from gradegate.compare.comparison import compare
from gradegate.compare.gate import decide
from gradegate.compare.next_runs import wanted_runs
from gradegate.judge.client import JudgeClient
from gradegate.model.evalset import Case
from gradegate.model.question import Question
from gradegate.model.report import State
from gradegate.model.runs import SIDES, Role, RunRequest
from gradegate.model.settings import JudgeSettings
from gradegate.pipeline.case_runner import CaseRunner, SuiteRunner
from gradegate.pipeline.journal import Journal
from gradegate.ports import Reply, Store
from gradegate.store.sqlite import SqliteStore
from tests.runs import a_case, both, terms_of
from tests.standins.judging import Scripted
from tests.standins.scripted_runner import Says, ScriptedRunner

ONCE = {"judge_model": "gemini-2.5-flash", "num_samples": 1}
JUDGED = {"final_response_match_v2": {"threshold": 0.8, "judge_model_options": ONCE}}
CASE = a_case(criteria=JUDGED)
CASES = [a_case(f"c{number}", asked=f"q{number}", criteria=JUDGED) for number in range(10)]


def finds(*, valid: bool) -> Reply:
    """A verdict."""
    verdict = "valid" if valid else "invalid"
    return Reply(f'{{"reasoning": "because", "verdict": "{verdict}"}}')


def undecided(seed: int) -> Scripted:
    """A judge who finds every answer valid every other time."""
    rng = Random(seed)
    return Scripted(lambda _question, _sample, _time: finds(valid=rng.random() < 0.5))


def a_runner(
    store: Store, provider: Scripted, base: Says, head: Says, cases: Sequence[Case]
) -> CaseRunner:
    """Both sides' agents before a judge."""
    sides = {
        "base": {"desk": SuiteRunner(ScriptedRunner(base), "base")},
        "head": {"desk": SuiteRunner(ScriptedRunner(head), "head")},
    }
    judge = JudgeClient(provider, store, JudgeSettings())
    by_key = {case.key: case for case in cases}
    return CaseRunner(Journal(store, "job"), judge, sides, by_key)  # type: ignore[arg-type] # sides by name


async def whole_job(store: Store, provider: Scripted) -> State:
    """A pull request that only words the answers otherwise."""
    terms = terms_of([both(case) for case in CASES])
    runner = a_runner(store, provider, lambda _c, _r: "hello", lambda _c, _r: "hi there", CASES)
    await runner.make_wanted(partial(wanted_runs, terms))
    comparison = compare(terms, runner.runs)
    return decide(comparison.reasons, comparison.undecided, terms).state


async def test_one_opinion_of_a_borderline_answer_does_not_count_six_times() -> None:
    """An agent that says the same each time, and a judge of two minds: nothing got worse."""
    said = [await whole_job(SqliteStore.in_memory(), undecided(seed)) for seed in range(30)]
    assert said.count(State.FAIL) <= 1, said


async def test_the_same_job_again_asks_nothing() -> None:
    """Every occurrence is in the store, and means the same."""
    store, judge = SqliteStore.in_memory(), undecided(1)
    state = await whole_job(store, judge)
    asked = len(judge.asked)
    assert asked > 2 * len(CASES)
    assert await whole_job(store, judge) == state
    assert len(judge.asked) == asked


async def occurrences(base: Says, head: Says) -> list[tuple[str, int]]:
    """Which answers the judge was asked about, the how manieth time."""
    asked: list[tuple[str, int]] = []

    def noting(question: Question[Any], _sample: int, _time: int) -> Reply:
        asked.append((question.data["response"], question.occurrence))
        return finds(valid=True)

    runner = a_runner(SqliteStore.in_memory(), Scripted(noting), base, head, [CASE])
    requests = [RunRequest(side, CASE.key, Role.FIRST, 3) for side in SIDES]
    await runner.make_wanted(lambda _: requests)
    return sorted(asked)


async def test_the_sides_share_what_was_said_of_the_same_answer() -> None:
    """Base's first and head's first, base's second and head's second."""
    asked = await occurrences(lambda _c, _r: "hi", lambda _c, _r: "hi")
    assert asked == [("hi", 1), ("hi", 2), ("hi", 3)]


async def test_an_answer_counts_from_the_first_time_it_is_given() -> None:
    """A run that says something else in between is none of its occurrences."""
    asked = await occurrences(
        lambda _c, run: "hi" if run != 2 else "hello", lambda _c, run: "hi" if run > 1 else "hey"
    )
    assert asked == [("hello", 1), ("hey", 1), ("hi", 1), ("hi", 2)]


async def test_occurrences_count_in_the_order_of_the_runs() -> None:
    """Also where a later run ends first: a resumed job must count alike."""
    store = SqliteStore.in_memory()
    told: list[int] = []

    class Backwards(ScriptedRunner):
        """The last run is the first to end."""

        async def run(self, case: Case, run: int) -> Any:
            for _ in range(20 * (4 - run)):
                await asyncio.sleep(0)
            return await super().run(case, run)

    def noting(question: Question[Any], _sample: int, _time: int) -> Reply:
        told.append(question.occurrence)
        return finds(valid=question.occurrence == 2)

    sides = {"head": {"desk": SuiteRunner(Backwards(lambda _c, _r: "hi"), "head")}}
    judge = JudgeClient(Scripted(noting), store, JudgeSettings())
    runner = CaseRunner(Journal(store, "job"), judge, sides, {CASE.key: CASE})  # type: ignore[arg-type] # sides by name
    await runner.make_wanted(lambda _: [RunRequest("head", CASE.key, Role.FIRST, 3)])
    runs = runner.runs.of("head", CASE.key)
    assert [run.result.status.value for run in runs] == ["failed", "passed", "failed"]
    assert told == [1, 2, 3]
