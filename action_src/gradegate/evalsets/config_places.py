"""Which config an eval set goes by: the places where projects keep one.

`test_config.json` beside the set, as google-adk has it; then `eval_config.json` beside or above it,
up to the nearest folder that is a project of its own; then the repository's. A set that is an
EvaluationDataset also goes by an `eval_config.yaml` in these places.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from gradegate.evalsets.dataset_config import DATASET_CONFIGS, is_dataset_config
from gradegate.model.errors import FileError

CONFIG_FILE = "test_config.json"
_PROJECT_FILES = ("pyproject.toml", "uv.lock", "poetry.lock", "requirements.txt", "setup.py")
_LIKE_A_CONFIG = ("*config*.json", "*config*.yaml", "*config*.yml")


class ConfigPlaces:
    """Looks for configs below a root; `value_of` reads a file that may be one."""

    def __init__(self, root: Path, value_of: Callable[[str], Any]) -> None:
        self._root = root
        self._value_of = value_of
        self.is_config = cache(self._looks_like_a_config)

    def config_of(self, name: str, is_dataset: Callable[[], bool]) -> str | None:
        """The config that a set goes by, from the root; None where it has none."""
        return next((p for p in self.of(name) if p.endswith(".json") or is_dataset()), None)

    def of(self, name: str) -> Iterator[str]:
        """Every config that a set may go by, the first choice first."""
        beside = PurePosixPath(name).parent / CONFIG_FILE
        if (self._root / beside).exists():
            yield beside.as_posix()
        for folder in self._folders_above(name):
            for file in DATASET_CONFIGS:
                place = (folder / file).as_posix()
                if (self._root / place).is_file() and self.is_config(place):
                    yield place

    def not_used(self, sets: Iterable[str], used: Collection[str | None]) -> Iterator[str]:
        """Files near the sets that read like a config and are nobody's."""
        for folder in dict.fromkeys(f for name in sets for f in self._folders_above(name)):
            for pattern in _LIKE_A_CONFIG:
                for file in sorted((self._root / folder).glob(pattern)):
                    place = (folder / file.name).as_posix()
                    if place not in used and file.is_file() and self._reads_like_one(place):
                        yield place

    def _folders_above(self, name: str) -> Iterator[PurePosixPath]:
        """The set's folder and those above it, as far as its project goes; then the root."""
        for folder in PurePosixPath(name).parents:
            yield folder
            if any((self._root / folder / mark).is_file() for mark in _PROJECT_FILES):
                break
        yield PurePosixPath()

    def _looks_like_a_config(self, place: str) -> bool:
        """A broken file of this name counts, so that somebody hears of it."""
        try:
            return _says_what_to_score(self._value_of(place))
        except FileError:
            return True

    def _reads_like_one(self, place: str) -> bool:
        try:
            return _says_what_to_score(self._value_of(place))
        except FileError:
            return False


def _says_what_to_score(value: Any) -> bool:
    return isinstance(value, dict) and ("criteria" in value or is_dataset_config(value))
