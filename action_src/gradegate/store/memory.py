"""Finished units for as long as we run, and no longer."""

from collections.abc import Iterable


class MemoryStore:
    """For answers that no model gave: they must not be found where a model's are kept."""

    def __init__(self) -> None:
        self.units: dict[tuple[str, str], str] = {}

    def get(self, kind: str, key: str) -> str | None:
        """The unit's value, or None where it is not finished."""
        return self.units.get((kind, key))

    def put(self, kind: str, key: str, value: str) -> None:
        """Keep a finished unit. The same key again changes nothing."""
        self.units.setdefault((kind, key), value)

    def forget(self, kind: str, keys: Iterable[str]) -> None:
        """Drop units that must not be taken for finished."""
        for key in keys:
            self.units.pop((kind, key), None)
