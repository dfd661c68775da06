"""One SQLite file: finished units by kind and key, safe for several processes at once."""

import sqlite3
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

from gradegate.model.errors import InputError

IN_MEMORY = ":memory:"
_BUSY_SECONDS = 30
_SCHEMA = """
CREATE TABLE IF NOT EXISTS unit (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    written REAL NOT NULL,
    PRIMARY KEY (kind, key)
) WITHOUT ROWID
"""


class SqliteStore:
    """Keeps units in a file that only its owner may read; WAL lets readers and writers mix."""

    def __init__(self, path: Path) -> None:
        try:
            if str(path) != IN_MEMORY:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.touch(mode=0o600)
            self._db = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(_SCHEMA)
            self._put: dict[tuple[str, str], None] = {}
        except (OSError, sqlite3.Error) as error:
            raise InputError(
                f"the store {path} cannot be used ({error}): delete the file, "
                "or name another with `--store FILE`"
            ) from error

    @classmethod
    def in_memory(cls) -> Self:
        """For what must not be found where models' answers and agents' runs are kept."""
        return cls(Path(IN_MEMORY))

    @property
    def connection(self) -> sqlite3.Connection:
        """For what else lives in the same file."""
        return self._db

    def get(self, kind: str, key: str) -> str | None:
        """The unit's value, or None where it is not finished."""
        row = self._db.execute(
            "SELECT value FROM unit WHERE kind = ? AND key = ?", (kind, key)
        ).fetchone()
        return row[0] if row else None

    def put(self, kind: str, key: str, value: str) -> None:
        """Keep a finished unit. The same key again changes nothing."""
        self._db.execute(
            "INSERT OR IGNORE INTO unit VALUES (?, ?, ?, ?)", (kind, key, value, time.time())
        )
        self._put[kind, key] = None

    def forget(self, kind: str, keys: Iterable[str]) -> None:
        """Drop units that must not be taken for finished by the next job."""
        self._db.executemany(
            "DELETE FROM unit WHERE kind = ? AND key = ?", ((kind, key) for key in keys)
        )

    def news(self, kind: str) -> dict[str, str]:
        """The units of a kind that were put since the file was opened, by key."""
        keys = sorted(key for of, key in self._put if of == kind)
        found = {key: self.get(kind, key) for key in keys}
        return {key: value for key, value in found.items() if value is not None}

    def close(self) -> None:
        """Leave one whole file behind, fit for a cache: nothing stays in the WAL."""
        with suppress(sqlite3.OperationalError):  # another process is still writing to it
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
