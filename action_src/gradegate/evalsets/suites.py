"""A side's suites with their cases, as its settings or its layout say."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gradegate.evalsets.discover import discover_suites
from gradegate.evalsets.load import LoadedSuite, load_suite
from gradegate.evalsets.settings import read_settings
from gradegate.model.errors import InputError
from gradegate.model.settings import Settings, Suite

ONLY_SUITE = "evals"


@dataclass(frozen=True)
class Project:
    """What one side says of itself: its settings (None: it has no file) and its suites."""

    root: Path
    settings: Settings | None
    suites: tuple[Suite, ...]


def read_project(
    root: Path,
    config: str | None = None,
    *,
    agent: str | None = None,
    evals: Sequence[str] | None = None,
) -> Project:
    """Read a side's settings; suites that no file names are found by their layout."""
    settings = read_settings(root, config)
    if settings and settings.suite:
        return Project(root, settings, settings.suite)
    if agent is not None or evals is not None:
        name = Path(agent).name if agent else ONLY_SUITE
        named = Suite(name=name, agent=agent, evals=tuple(evals or ()))
        return Project(root, settings, (named,))
    return Project(root, settings, discover_suites(root))


def load_all(root: Path, suites: Sequence[Suite]) -> tuple[LoadedSuite, ...]:
    """Every suite with its cases.

    Raises:
        InputError: there is none at all, or one of their files is wrong.
    """
    if not suites:
        raise InputError(
            "there are no eval sets here: none of the files is called *.evalset.json or "
            "*.test.json; add some, or name them with `evals` in gradegate.toml"
        )
    return tuple(load_suite(root, suite) for suite in suites)
