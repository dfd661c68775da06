from pathlib import Path

import pytest

from gradegate.model.errors import InputError
from gradegate.model.overrides import Overrides
from gradegate.model.runs import Role, ScoredRun, Side, Trace
from gradegate.pipeline import durations
from gradegate.pipeline.case_filter import CaseFilter
from gradegate.pipeline.journal import Journal
from gradegate.pipeline.prepare import Prepared, read_sides
from gradegate.pipeline.shard_plan import Planner, told
from gradegate.sides.checkout import Sides
from gradegate.store.sqlite import SqliteStore
from tests.project import AGENT, SETTINGS, case, eval_set, turn
from tests.runs import a_case, scored

SET = "evals/basic.evalset.json"
TOOK = {"a": 240, "b": 120, "c": 60, "d": 60}


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    """Four cases on two sides, whose agents differ; two sessions at once."""
    sides: dict[str, Side] = {}
    for name in ("head", "base"):
        files = {
            "agent.py": f"{AGENT}# {name}\n",
            "gradegate.toml": f"{SETTINGS}max_parallel = 2\n",
            SET: eval_set(*(case(one, turn("hello", "hi")) for one in TOOK)),
        }
        for file, text in files.items():
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        sides[name] = Side("a" * 40, tmp_path / name, tmp_path / name)
    return read_sides(Sides(sides["head"], sides["base"]), Overrides(), CaseFilter())


@pytest.fixture
def store(prepared: Prepared) -> SqliteStore:
    """Where all of them were timed."""
    store = SqliteStore.in_memory()
    for pair in prepared.pairs:
        seconds = TOOK[pair.key.eval_id]
        durations.keep(store, "earlier", Trace(**pair.key._asdict(), seconds=seconds))
    return store


def test_a_part_takes_as_long_as_its_longest_case_at_least(
    prepared: Prepared, store: SqliteStore
) -> None:
    """Two sessions at once on each side, and both sides at once."""
    planner = Planner(prepared, store)
    assert planner.plan(1).seconds == (240.0,)
    assert planner.plan(2).seconds == (240.0, 120.0)


def test_what_is_in_the_store_takes_no_time(prepared: Prepared, store: SqliteStore) -> None:
    """Base's first pass, and of head what was run already."""
    journal = Journal(store, prepared.job)
    for side in (prepared.head, prepared.base):
        assert side is not None
        for one in prepared.pairs[:2]:
            assert one.head is not None
            trace = Trace(**one.key._asdict(), seconds=TOOK[one.key.eval_id])
            run = ScoredRun(Role.FIRST, trace, scored(a_case(), 1, "p").result)
            journal.load(side.identities["desk"], one.head, run)
    assert Planner(prepared, store).plan(1).seconds == (60.0,)


def test_as_many_shards_as_it_takes(prepared: Prepared, store: SqliteStore) -> None:
    """And no more; the longest case is the least that it can take."""
    store.put(durations.KIND, "other", "{}")
    planner = Planner(prepared, store)
    assert len(planner.plan_within(5).parts) == 1
    with pytest.raises(InputError, match=r"no 256 shards are done in 3 minutes.* take 4 min"):
        planner.plan_within(3)


def test_many_short_cases_need_more_shards_for_less_time(prepared: Prepared) -> None:
    """Four cases of a minute, two at a time."""
    store = SqliteStore.in_memory()
    for pair in prepared.pairs:
        durations.keep(store, "earlier", Trace(**pair.key._asdict(), seconds=60))
    planner = Planner(prepared, store)
    assert [len(planner.plan_within(minutes).parts) for minutes in (2, 1)] == [1, 2]


def test_without_durations_nobody_can_say_how_many_it_takes(prepared: Prepared) -> None:
    """But so many as are asked for can be had."""
    planner = Planner(prepared, SqliteStore.in_memory())
    with pytest.raises(InputError, match="no case was timed yet"):
        planner.plan_within(10)
    assert list(told(planner.plan(3))) == [
        "4 cases, none of them timed yet: they go by turns",
        "1/3: 2 cases",
        "2/3: 1 case",
        "3/3: 1 case",
    ]


def test_what_was_never_timed_is_said(prepared: Prepared, store: SqliteStore) -> None:
    """It counts as the mean."""
    *lines, last = told(Planner(prepared, store).plan(2))
    assert lines == [
        "4 cases, all of them timed",
        "1/2: 1 case, about 4 min",
        "2/2: 3 cases, about 2 min",
    ]
    assert last.startswith("2 shards: the slowest takes about 4 min; starting jobs, judging and")
    fewer = SqliteStore.in_memory()
    durations.keep(fewer, "earlier", Trace(**prepared.pairs[0].key._asdict(), seconds=60))
    assert next(told(Planner(prepared, fewer).plan(1))) == (
        "4 cases, 1 of them timed; the others count as the mean of these"
    )
