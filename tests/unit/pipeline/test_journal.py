import asyncio

import pytest

from gradegate.model.evalset import Case, EvalCase
from gradegate.model.runs import NotRun, Role, Trace
from gradegate.pipeline.journal import Journal
from gradegate.store.sqlite import SqliteStore
from tests.runs import a_case
from tests.standins.scripted_runner import ScriptedRunner

CASE = a_case()
KEYS_BEFORE = {"first": "8799a8be7781b417fe53ff3d30c58205c04cdc2911dcdfd3441d5e04def43a06"}
"""As stores were written with version 1 of the key."""


def kept_in(store: SqliteStore) -> int:
    """How many runs there are."""
    (count,) = store._db.execute("SELECT count(*) FROM unit WHERE kind = 'trace'").fetchone()
    return int(count)


def journal(store: SqliteStore, job: str = "job") -> Journal:
    """A journal over a store that outlives it."""
    return Journal(store, job)


def greeter() -> ScriptedRunner:
    """An agent that says which run it is in."""
    return ScriptedRunner(lambda _case, run: f"hi {run}")


async def test_a_finished_run_is_made_once() -> None:
    """The next job reads it, and gets the same."""
    store, runner = SqliteStore.in_memory(), greeter()
    first = await journal(store).run(runner, "agent", CASE, 1, Role.FIRST)
    again = await journal(store).run(runner, "agent", CASE, 1, Role.FIRST)
    assert first == again
    assert runner.made == [("paris", 1)]


async def test_it_says_how_many_runs_were_made_now() -> None:
    """Those read from the store cost nothing."""
    store, runner = SqliteStore.in_memory(), greeter()
    one, other = journal(store), journal(store)
    await one.run(runner, "agent", CASE, 1, Role.FIRST)
    await other.run(runner, "agent", CASE, 1, Role.FIRST)
    await other.run(runner, "agent", CASE, 2, Role.FIRST)
    assert (one.made, other.made) == ({"agent": 1}, {"agent": 1})


@pytest.mark.parametrize(
    ("agent", "case", "run", "role"),
    [
        ("another", CASE, 1, Role.FIRST),
        ("agent", a_case(asked="good day"), 1, Role.FIRST),
        ("agent", a_case(suite="shop"), 1, Role.FIRST),
        ("agent", a_case(eval_set="other.evalset.json"), 1, Role.FIRST),
        ("agent", CASE, 2, Role.FIRST),
        ("agent", CASE, 1, Role.CONFIRM),
    ],
    ids=["agent", "case", "suite", "eval set", "run", "role"],
)
async def test_whatever_could_make_a_difference_makes_another_run(
    agent: str, case: Case, run: int, role: Role
) -> None:
    """Keys are content."""
    store, runner = SqliteStore.in_memory(), greeter()
    await journal(store).run(runner, "agent", CASE, 1, Role.FIRST)
    await journal(store).run(runner, agent, case, run, role)
    assert len(runner.made) == 2


@pytest.mark.parametrize(
    "same", [a_case(line=90), a_case(criteria={"tool_trajectory_avg_score": 1.0})]
)
async def test_a_run_does_not_depend_on_its_place_or_on_how_it_is_scored(same: Case) -> None:
    """A new threshold or a case further down costs no agent run."""
    store, runner = SqliteStore.in_memory(), greeter()
    for case in (CASE, same):
        await journal(store).run(runner, "agent", case, 1, Role.FIRST)
    assert len(runner.made) == 1


async def test_a_simulated_users_settings_make_another_run_and_a_written_ones_do_not() -> None:
    """Only a simulated user listens to them."""
    scenario = EvalCase.model_validate(
        {
            "eval_id": "paris",
            "conversation_scenario": {"starting_prompt": "a", "conversation_plan": "b"},
        }
    )
    for definition, runs in ((CASE.definition, 1), (scenario, 2)):
        store, runner = SqliteStore.in_memory(), greeter()
        for most in (3, 4):
            simulator = {"max_allowed_invocations": most}
            config = CASE.config.model_validate({"user_simulator_config": simulator})
            case = CASE.model_copy(update={"definition": definition, "config": config})
            await journal(store).run(runner, "agent", case, 1, Role.FIRST)
        assert len(runner.made) == runs


async def test_first_passes_are_shared_between_jobs_and_confirming_runs_are_not() -> None:
    """A run made to confirm one suspicion is no fresh evidence for another."""
    store, runner = SqliteStore.in_memory(), greeter()
    for job in ("one", "other", "one"):
        await journal(store, job).run(runner, "agent", CASE, 1, Role.FIRST)
        await journal(store, job).run(runner, "agent", CASE, 2, Role.CONFIRM)
    assert runner.made == [("paris", 1), ("paris", 2), ("paris", 2)]


async def test_two_who_want_the_same_run_at_once_share_it() -> None:
    """Base and head may be the same agent."""
    runner, one = greeter(), journal(SqliteStore.in_memory())
    found = await asyncio.gather(*(one.run(runner, "agent", CASE, 1, Role.FIRST) for _ in range(5)))
    assert len(runner.made) == 1
    assert len({id(trace) for trace in found}) == 1


async def test_one_of_them_giving_up_does_not_take_the_run_from_the_other() -> None:
    """The run goes on, and is kept."""
    started = asyncio.Event()
    runner, store = greeter(), SqliteStore.in_memory()
    one = journal(store)

    async def wanting() -> Trace | NotRun:
        started.set()
        return await one.run(runner, "agent", CASE, 1, Role.FIRST)

    gives_up, stays = asyncio.create_task(wanting()), asyncio.create_task(wanting())
    await started.wait()
    gives_up.cancel()
    assert isinstance(await stays, Trace)
    assert kept_in(store) == 1


async def test_what_was_not_run_is_not_kept() -> None:
    """It is tried again by whoever comes next."""
    store = SqliteStore.in_memory()
    runner = ScriptedRunner(lambda _case, _run: NotRun("our own limit"))
    for _ in range(2):
        await journal(store).run(runner, "agent", CASE, 1, Role.FIRST)
    assert len(runner.made) == 2
    assert kept_in(store) == 0


async def test_it_knows_which_runs_are_of_another_job() -> None:
    """Those were made at another time; its own it knows again when it goes on."""
    store, runner = SqliteStore.in_memory(), greeter()
    await journal(store, "one").run(runner, "agent", CASE, 1, Role.FIRST)
    await journal(store, "other").run(runner, "agent", CASE, 1, Role.FIRST)
    assert journal(store, "other").is_of_another_job("agent", CASE, 1)
    assert not journal(store, "one").is_of_another_job("agent", CASE, 1)
    assert not journal(store, "one").is_of_another_job("agent", CASE, 2)


async def test_an_agents_failure_is_a_result_like_any_other() -> None:
    """Made anew until it succeeds, base would look better than it is."""
    store = SqliteStore.in_memory()
    runner = ScriptedRunner(lambda _case, run: "!it broke" if run == 1 else "hi")
    one = journal(store)
    made = [await one.run(runner, "agent", CASE, run, Role.FIRST) for run in (1, 2)]
    await one.finish()
    assert await journal(store, "next").run(runner, "agent", CASE, 1, Role.FIRST) == made[0]
    assert len(runner.made) == 2


async def test_an_agent_that_never_worked_is_tried_again_by_the_next_job() -> None:
    """The cause may be mended by then, such as a key that was not set; a killed job goes on."""
    store = SqliteStore.in_memory()
    runner = ScriptedRunner(lambda _case, _run: "!no key")
    await journal(store).run(runner, "agent", CASE, 1, Role.FIRST)
    resumed = journal(store)
    await resumed.run(runner, "agent", CASE, 1, Role.FIRST)
    assert len(runner.made) == 1
    await resumed.finish()
    await journal(store).run(runner, "agent", CASE, 1, Role.FIRST)
    assert len(runner.made) == 2


async def test_runs_kept_before_failures_stayed_are_not_read() -> None:
    """Their failures were dropped, and trouble with a service was taken for a failure."""
    store, runner = SqliteStore.in_memory(), greeter()
    key = KEYS_BEFORE["first"]
    store.put("trace", key, '{"eval_set": "s", "eval_id": "c", "error": "no key"}')
    assert journal(store)._key("agent", CASE, 1, Role.FIRST) != key
    kept = await journal(store).run(runner, "agent", CASE, 1, Role.FIRST)
    assert isinstance(kept, Trace)
    assert kept.error is None


async def test_a_recording_is_not_kept_a_second_time() -> None:
    """It is a file already."""
    store = SqliteStore.in_memory()
    runner = ScriptedRunner(lambda _case, _run: "hi", rerunnable=False)
    await journal(store).run(runner, "agent", CASE, 1, Role.FIRST)
    assert kept_in(store) == 0


async def test_how_many_first_pass_runs_are_known() -> None:
    """Counted from 1 up to the first gap, of this agent and this case."""
    store, runner = SqliteStore.in_memory(), greeter()
    one = journal(store)
    for run, role in ((1, Role.FIRST), (2, Role.FIRST), (3, Role.CONFIRM), (4, Role.FIRST)):
        await one.run(runner, "agent", CASE, run, role)
    assert one.known("agent", CASE) == 2
    assert one.known("another", CASE) == 0
