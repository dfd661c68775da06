from collections.abc import Mapping
from dataclasses import replace

from gradegate.compare.comparison import always_failing
from gradegate.compare.terms import Terms
from gradegate.model.evalset import Case
from gradegate.model.notice import Notice
from gradegate.model.result import Status
from gradegate.model.runs import NotRun, Role, RunRequest, Runs
from gradegate.model.settings import Gate
from gradegate.pipeline.case_runner import CaseRunner, SuiteRunner
from gradegate.pipeline.journal import Journal
from gradegate.ports import Store
from gradegate.store.sqlite import SqliteStore
from tests.runs import a_case
from tests.standins.scripted_judge import ScriptedJudge
from tests.standins.scripted_runner import Says, ScriptedRunner

NOBODY = ScriptedJudge(lambda _question, _sample: "no JSON")
CASES = [a_case(name) for name in "abc"]
Agents = Mapping[str, SuiteRunner]


def agents(says: Says, *, unavailable: Notice | None = None, rerunnable: bool = True) -> Agents:
    """One side with one agent."""
    runner = ScriptedRunner(says, rerunnable=rerunnable)
    return {"desk": SuiteRunner(runner, "agent", unavailable)}


def a_runner(
    head: Agents,
    base: Agents | None = None,
    *,
    store: Store | None = None,
    told: list[tuple[int, int]] | None = None,
) -> CaseRunner:
    """A runner that tells of its progress."""
    heard = told if told is not None else []
    return CaseRunner(
        Journal(store or SqliteStore.in_memory(), "job"),
        NOBODY,
        {"head": head} if base is None else {"head": head, "base": base},
        {case.key: case for case in (*CASES, a_case())},
        progress=lambda done, total: heard.append((done, total)),
    )


async def make(runner: CaseRunner, *requests: RunRequest) -> None:
    """Have these runs made."""
    await runner.make_wanted(lambda _: requests)


def first(case: Case, total: int = 1) -> RunRequest:
    """A first pass of a case on head."""
    return RunRequest("head", case.key, Role.FIRST, total)


async def test_runs_are_numbered_on_from_those_a_case_has() -> None:
    """Also across roles, so that no two runs of a case have one number."""
    runner, case = a_runner(agents(lambda _case, run: f"hi {run}")), a_case()
    await make(runner, first(case, 2))
    await make(runner, RunRequest("head", case.key, Role.SCREEN, 1))
    assert [(run.role, run.result.run) for run in runner.runs.of("head", case.key)] == [
        (Role.FIRST, 1),
        (Role.FIRST, 2),
        (Role.SCREEN, 3),
    ]


async def test_a_request_is_a_total() -> None:
    """Asked for again nothing is made; more are counted on from those there are."""
    runner, case = a_runner(agents(lambda _case, _run: "hi")), a_case()
    for total in (2, 2, 1, 3):
        await make(runner, first(case, total))
    assert [run.result.run for run in runner.runs.of("head", case.key)] == [1, 2, 3]


async def test_it_asks_until_nothing_more_is_wanted() -> None:
    """What is wanted next is a matter of the runs there are."""
    runner, case = a_runner(agents(lambda _case, _run: "hi")), a_case()

    def wanted(runs: Runs) -> list[RunRequest]:
        have = len(runs.of("head", case.key))
        return [first(case, min(have + 1, 4))]

    await runner.make_wanted(wanted)
    assert len(runner.runs.of("head", case.key)) == 4


async def test_progress_is_told_run_by_run() -> None:
    """So many of so many."""
    told: list[tuple[int, int]] = []
    await make(a_runner(agents(lambda _case, _run: "hi"), told=told), *map(first, CASES))
    assert told == [(1, 3), (2, 3), (3, 3)]


async def test_an_agent_that_cannot_be_made_ready_leaves_its_cases_without_a_score() -> None:
    """That is nothing the agent did; it is not even asked to run again."""
    sides = agents(lambda _case, _run: "hi", unavailable=Notice(text="no environment"))
    runner, case = a_runner(sides), a_case()
    await make(runner, first(case))
    (run,) = runner.runs.of("head", case.key)
    assert run.outcome == NotRun("no environment")
    assert run.result.status is Status.NOT_EVALUATED
    assert not sides["desk"].can_rerun
    assert runner.unavailable("head") == Notice(text="no environment")


def test_who_can_be_run_again() -> None:
    """An agent that is there and is no recording."""
    assert agents(lambda _case, _run: "hi")["desk"].can_rerun
    assert not agents(lambda _case, _run: "hi", rerunnable=False)["desk"].can_rerun


async def test_kept_runs_are_known_and_recordings_have_none() -> None:
    """A baseline's runs cost nothing."""
    store, case = SqliteStore.in_memory(), a_case()
    runner = a_runner(agents(lambda _case, _run: "hi"), store=store)
    await make(runner, first(case, 2))
    assert runner.known("head", case) == 2
    recorded = a_runner(agents(lambda _case, _run: "hi", rerunnable=False), store=store)
    assert recorded.known("head", case) == 0


async def noticed(head: Agents, base: Agents) -> list[str]:
    """What is said of agents that failed everywhere."""
    runner = a_runner(head, {name: replace(one, identity="base") for name, one in base.items()})
    both = [RunRequest(side, case.key, Role.FIRST, 1) for side in runner.sides for case in CASES]
    await make(runner, *both)
    terms = Terms((), Gate(), {"desk": 1}, {})
    return [one.reason.text for one in always_failing(terms, runner.runs)]


async def test_an_agent_that_fails_everywhere_is_noticed() -> None:
    """Both sides look alike then, and the gate would pass without having seen anything."""
    dead, alive = agents(lambda _case, _run: "!no key\nat line 3"), agents(lambda _c, _r: "hi")
    other = agents(lambda case, _run: "hi" if case.eval_id == "a" else "!odd")
    (warning,) = await noticed(dead, dead)
    assert warning.startswith("suite desk: the agent failed every case on both sides")
    assert warning.endswith("The first failure: no key")
    assert await noticed(dead, alive) == []
    assert await noticed(other, other) == []
    alone = a_runner(dead)
    await make(alone, *map(first, CASES))
    assert not list(always_failing(Terms((), Gate(), {"desk": 1}, {}), alone.runs))


async def test_results_hold_full_passes_in_stable_order() -> None:
    """Whatever order they were made in; runs made to confirm stay out."""
    runner = a_runner(agents(lambda _case, _run: "hi"))
    await make(runner, *(first(a_case(name), 2) for name in "cab"))
    await make(runner, RunRequest("head", a_case("b").key, Role.CONFIRM, 3))
    await make(runner, RunRequest("head", a_case("a").key, Role.AGAIN, 1))
    found = runner.results("head", "sha", "print")
    assert [(case.eval_id, case.run) for case in found.cases] == [
        ("a", 1),
        ("a", 2),
        ("a", 3),
        ("b", 1),
        ("b", 2),
        ("c", 1),
        ("c", 2),
    ]
    assert (found.commit, found.fingerprint, found.shard) == ("sha", "print", None)


async def test_outcomes_are_neither_scored_nor_kept() -> None:
    """As a recording wants them: fresh ones, each time."""
    store, case = SqliteStore.in_memory(), a_case()
    runner = a_runner(agents(lambda _case, run: f"hi {run}"), store=store)
    outcomes = await runner.outcomes([first(case, 2)])
    texts = [one.invocations[0].response_text for one in outcomes if not isinstance(one, NotRun)]
    assert texts == ["hi 1", "hi 2"]
    assert runner.known("head", case) == 0
