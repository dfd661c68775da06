from gradegate.model.result import Status, Usage
from gradegate.model.runs import NotRun, Role
from gradegate.pipeline.case_runner import (
    CaseRunner,
    RunRequest,
    SideRunners,
    SuiteRunner,
    always_failing,
    results_of,
)
from gradegate.pipeline.journal import Journal
from gradegate.store.memory import MemoryStore
from tests.runs import a_case
from tests.standins.scripted_judge import ScriptedJudge
from tests.standins.scripted_runner import Says, ScriptedRunner

NOBODY = ScriptedJudge(lambda _question, _sample: "no JSON")


def a_team(says: Says, *, unavailable: str | None = None, rerunnable: bool = True) -> SideRunners:
    """One side with one agent."""
    runner = ScriptedRunner(says, rerunnable=rerunnable)
    return SideRunners({"desk": SuiteRunner(runner, "agent", unavailable)})


def a_bench(
    store: MemoryStore | None = None, told: list[tuple[int, int]] | None = None
) -> CaseRunner:
    """A bench that tells of its progress."""
    heard = told if told is not None else []
    return CaseRunner(
        Journal(store or MemoryStore(), "job"),
        NOBODY,
        lambda done, total: heard.append((done, total)),
    )


async def test_runs_are_numbered_on_from_those_a_case_has() -> None:
    """Also across roles, so that no two runs of a case have one number."""
    team, case = a_team(lambda _case, run: f"hi {run}"), a_case()
    bench = a_bench()
    await bench.make([RunRequest(team, case, Role.FIRST, 2)])
    await bench.make([RunRequest(team, case, Role.SCREEN, 1)])
    assert [(run.role, run.result.run) for run in team.runs[case.key]] == [
        (Role.FIRST, 1),
        (Role.FIRST, 2),
        (Role.SCREEN, 3),
    ]


async def test_progress_is_told_run_by_run() -> None:
    """So many of so many."""
    told: list[tuple[int, int]] = []
    team = a_team(lambda _case, _run: "hi")
    await a_bench(told=told).make([RunRequest(team, a_case(n), Role.FIRST, 1) for n in "abc"])
    assert told == [(1, 3), (2, 3), (3, 3)]


async def test_an_agent_that_cannot_be_made_ready_leaves_its_cases_without_a_score() -> None:
    """That is nothing the agent did; it is not even asked to run again."""
    team, case = a_team(lambda _case, _run: "hi", unavailable="no environment"), a_case()
    await a_bench().make([RunRequest(team, case, Role.FIRST, 1)])
    (run,) = team.runs[case.key]
    assert run.outcome == NotRun("no environment")
    assert run.result.status is Status.NOT_EVALUATED
    assert not team.can_rerun("desk")


def test_who_can_be_run_again() -> None:
    """An agent that is there and is no recording."""
    assert a_team(lambda _case, _run: "hi").can_rerun("desk")
    assert not a_team(lambda _case, _run: "hi", rerunnable=False).can_rerun("desk")
    assert not a_team(lambda _case, _run: "hi").can_rerun("shop")


async def test_kept_runs_are_known_and_recordings_have_none() -> None:
    """A baseline's runs cost nothing."""
    store, case = MemoryStore(), a_case()
    team = a_team(lambda _case, _run: "hi")
    bench = a_bench(store)
    await bench.make([RunRequest(team, case, Role.FIRST, 2)])
    assert bench.known(team, case) == 2
    assert bench.known(a_team(lambda _case, _run: "hi", rerunnable=False), case) == 0


async def test_an_agent_that_fails_everywhere_is_noticed() -> None:
    """Both sides look alike then, and the gate would pass without having seen anything."""
    dead, alive = a_team(lambda _case, _run: "!no key\nat line 3"), a_team(lambda _c, _r: "hi")
    other = a_team(lambda case, _run: "hi" if case.eval_id == "a" else "!odd")
    for team in (dead, alive, other):
        await a_bench().make([RunRequest(team, a_case(name), Role.FIRST, 1) for name in "ab"])
    (warning,) = always_failing(dead, dead)
    assert warning.startswith("suite desk: the agent failed every case on both sides")
    assert warning.endswith("The first failure: no key")
    assert always_failing(dead, alive) == []
    assert always_failing(other, other) == []
    assert always_failing(dead, a_team(lambda _case, _run: "hi")) == []


async def test_results_hold_full_passes_in_stable_order() -> None:
    """Whatever order they were made in; runs made to confirm stay out."""
    team = a_team(lambda _case, _run: "hi")
    bench = a_bench()
    await bench.make([RunRequest(team, a_case(name), Role.FIRST, 2) for name in "cab"])
    await bench.make([RunRequest(team, a_case("b"), Role.CONFIRM, 3)])
    await bench.make([RunRequest(team, a_case("a"), Role.AGAIN, 1)])
    found = results_of(team.runs, "sha", "print", Usage(judge_calls=1), shard="1/2")
    assert [(case.eval_id, case.run) for case in found.cases] == [
        ("a", 1),
        ("a", 2),
        ("a", 3),
        ("b", 1),
        ("b", 2),
        ("c", 1),
        ("c", 2),
    ]
    assert (found.commit, found.fingerprint, found.shard) == ("sha", "print", "1/2")
    assert found.usage.judge_calls == 1
