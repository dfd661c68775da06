"""Base's history in the store's file: added to by several, never twice, and small."""

import sqlite3
from pathlib import Path

import pytest

from gradegate.model.history import BaseRuns, History, PassCount, Record
from gradegate.store.sqlite import SqliteStore
from gradegate.store.sqlite_history import SqliteHistory


def history(
    *words: str, case: str = "paris", at: int = 0, scores: tuple[float, ...] = ()
) -> History:
    """One record, a job for each word."""
    jobs = tuple(
        BaseRuns(f"job {at + n}", word, scores, commit="c" * 40, at=at + n, model="gemini")
        for n, word in enumerate(words)
    )
    one = Record(suite="desk", eval_set="a", eval_id=case, criterion="match", jobs=jobs)
    return History(records={case: one})


def test_what_was_added_is_there_after_the_file_was_closed(tmp_path: Path) -> None:
    """With scores, commit, time and model."""
    told = history("11", at=7, scores=(0.8125, 1.0))
    with SqliteStore(tmp_path / "store") as store:
        SqliteHistory(store).add(told)
    with SqliteStore(tmp_path / "store") as store:
        kept = SqliteHistory(store)
        assert kept.all() == told
        assert kept.records(["paris", "nobody"]) == told.records


def test_two_jobs_add_to_one_record(tmp_path: Path) -> None:
    """Each opened the file before the other had written."""
    with SqliteStore(tmp_path / "store") as one, SqliteStore(tmp_path / "store") as other:
        ours, theirs = SqliteHistory(one), SqliteHistory(other)
        ours.add(history("11"))
        theirs.add(history("00", at=1))
        theirs.add(history("00", at=1))
        assert ours.all().records["paris"].tally == PassCount(2, 4)


def test_nothing_of_a_failed_addition_stays(tmp_path: Path) -> None:
    """All or nothing: the second record cannot be written."""
    with SqliteStore(tmp_path / "store") as store:
        kept = SqliteHistory(store)
        broken = history("11").records["paris"].model_copy(update={"suite": None})
        whole = history("11").records["paris"]
        with pytest.raises(sqlite3.IntegrityError, match="NOT NULL"):
            kept.add(History.model_construct(records={"x": whole, "y": broken}))
        assert kept.all() == History()


def test_sixty_outcomes_of_many_cases_are_small(tmp_path: Path) -> None:
    """At this rate 10,000 cases with 7 graded criteria take less than 50 MB."""
    records = {
        f"{n:032x}": history(*["11"] * 30, case=f"case {n}", scores=(0.8312, 0.9123)).records[
            f"case {n}"
        ]
        for n in range(2_000)
    }
    file = tmp_path / "store"
    with SqliteStore(file) as store:
        SqliteHistory(store).add(History(records=records))
    assert file.stat().st_size * 35 < 50 * 2**20
