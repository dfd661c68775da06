"""Base's earlier outcomes in the store's file: jobs once, and of each record a line of runs."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from gradegate.model.history import BaseRuns, History, Record
from gradegate.store.sqlite import SqliteStore

_SCHEMA = """
CREATE TABLE IF NOT EXISTS history_job (
    id INTEGER PRIMARY KEY,
    job TEXT NOT NULL UNIQUE,
    commit_sha TEXT NOT NULL,
    at INTEGER NOT NULL,
    model TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS history (
    key TEXT PRIMARY KEY,
    suite TEXT NOT NULL,
    eval_set TEXT NOT NULL,
    eval_id TEXT NOT NULL,
    criterion TEXT NOT NULL,
    judge TEXT NOT NULL,
    runs TEXT NOT NULL
) WITHOUT ROWID;
"""
_RECORD = "SELECT key, suite, eval_set, eval_id, criterion, judge, runs FROM history"
_DIGITS = 4
"""Of a score: more would only take room."""


class SqliteHistory:
    """Records by key. What is added is put together with what is there, in one step."""

    def __init__(self, store: SqliteStore) -> None:
        self._db = store.connection
        self._db.executescript(_SCHEMA)

    def records(self, keys: Iterable[str]) -> dict[str, Record]:
        """Those that there are."""
        jobs = self._jobs()
        found = {}
        for key in keys:
            row = self._db.execute(f"{_RECORD} WHERE key = ?", (key,)).fetchone()
            if row:
                found[key] = _record(row, jobs)
        return found

    def all(self) -> History:
        """Everything."""
        jobs = self._jobs()
        rows = self._db.execute(f"{_RECORD} ORDER BY suite, eval_set, eval_id, criterion, key")
        return History(records={row[0]: _record(row, jobs) for row in rows})

    def add(self, history: History) -> None:
        """Take these in; a job whose runs are known adds nothing."""
        with self._writing():
            known = self.records(history.records)
            together = History(records=known).plus(history)
            numbers = self._numbered(together.records)
            self._db.executemany(
                "INSERT OR REPLACE INTO history VALUES (?, ?, ?, ?, ?, ?, ?)",
                (_row(key, record, numbers) for key, record in together.records.items()),
            )

    def _jobs(self) -> dict[int, BaseRuns]:
        """Each with no run yet."""
        rows = self._db.execute("SELECT id, job, commit_sha, at, model FROM history_job")
        return {
            number: BaseRuns(job, "", commit=commit, at=at, model=model)
            for number, job, commit, at, model in rows
        }

    def _numbered(self, records: Mapping[str, Record]) -> dict[str, int]:
        jobs = {one.job: one for record in records.values() for one in record.jobs}
        self._db.executemany(
            "INSERT OR IGNORE INTO history_job (job, commit_sha, at, model) VALUES (?, ?, ?, ?)",
            ((one.job, one.commit, one.at, one.model) for one in jobs.values()),
        )
        return dict(self._db.execute("SELECT job, id FROM history_job"))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """All or nothing, and nobody else meanwhile."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


def _row(key: str, record: Record, numbers: Mapping[str, int]) -> tuple[str, ...]:
    runs = " ".join(
        ":".join(
            (str(numbers[one.job]), one.outcomes, ",".join(map(_short, one.scores)))
        ).removesuffix(":")
        for one in record.jobs
    )
    return (
        key, record.suite, record.eval_set, record.eval_id, record.criterion, record.judge, runs
    )  # fmt: skip


def _short(score: float) -> str:
    return f"{round(score, _DIGITS):g}"


def _record(row: tuple[str, ...], jobs: Mapping[int, BaseRuns]) -> Record:
    _, suite, eval_set, eval_id, criterion, judge, runs = row
    return Record.model_construct(
        suite=suite,
        eval_set=eval_set,
        eval_id=eval_id,
        criterion=criterion,
        judge=judge,
        jobs=tuple(_runs(text, jobs) for text in runs.split(" ")),
    )


def _runs(text: str, jobs: Mapping[int, BaseRuns]) -> BaseRuns:
    number, outcomes, *scores = text.split(":")
    told = tuple(float(score) for score in scores[0].split(",")) if scores else ()
    return jobs[int(number)]._replace(outcomes=outcomes, scores=told)
