"""A side's suites, as its settings or its layout say.

A suite that goes by another name on head than on base is no new one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gradegate.evalsets.discover import agent_folders, discover_suites
from gradegate.evalsets.load import LoadedSuite, SetFolder, load_suite, unused_configs
from gradegate.files.settings_toml import read_settings
from gradegate.model.errors import InputError
from gradegate.model.notice import Notice, notice
from gradegate.model.settings import Settings, Suite

ONLY_SUITE = "evals"
_SHOWN = 5


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


def load_all(
    root: Path, suites: Sequence[Suite], others: Sequence[Suite] = ()
) -> tuple[LoadedSuite, ...]:
    """Every suite with its cases; `others` are there as well, and not asked for.

    Raises:
        InputError: there is none at all, or one of their files is wrong.
    """
    if not suites:
        raise InputError(
            "there are no eval sets here: none of the files is called *.evalset.json or "
            "*.test.json; add some, or name them with `evals` in gradegate.toml"
        )
    loaded = [load_suite(root, suite) for suite in suites]
    used = {suite.eval_config for suite in (*suites, *others)}
    used |= {case.config_file for one in loaded for case in one.cases}
    by_place = [one for one in loaded if one.suite.eval_config is None]
    sets = dict.fromkeys(case.eval_set for one in by_place for case in one.cases)
    unused = tuple(unused_configs(SetFolder(root), sets, used))
    loaded[0] = replace(loaded[0], findings=(*loaded[0].findings, *unused))
    return tuple(loaded)


def agentless(root: Path, suites: Sequence[Suite]) -> Iterator[tuple[Suite, str]]:
    """The suites that nothing answers to, and what to write for each."""
    for suite in suites:
        if not (suite.agent or suite.command or suite.traces):
            message = f"no agent answers to suite `{suite.name}`: none is in a folder at or above"
            hint = "write `agent`, `command` or `traces` for it in gradegate.toml"
            yield suite, f"{message} its eval sets{_candidates(root)}; {hint}"


def refuse_agentless(root: Path, suites: Sequence[Suite]) -> None:
    """Raise an InputError for a suite that nothing answers to."""
    for _, message in agentless(root, suites):
        raise InputError(message)


def _candidates(root: Path) -> str:
    found = agent_folders(root)
    if not found:
        return ", and no other folder holds an ADK agent"
    shown = ", ".join(f"`{folder}`" for folder in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"; agents are in {shown}{more}"


Cases = frozenset[tuple[str, str]]


def follow_renames(base: Project, head: Project) -> tuple[Project, tuple[Notice, ...]]:
    """Base with head's names for its suites, and what a reader should know of that.

    A suite that only one side has is the same as the other side's that shares most of its
    cases. Otherwise a new name would do to be compared with nothing.
    """
    ours = {suite.name for suite in base.suites}
    theirs = {suite.name for suite in head.suites}
    gone = [suite for suite in base.suites if suite.name not in theirs]
    strangers = [suite for suite in head.suites if suite.name not in ours]
    if not gone or not strangers:
        return base, ()
    names = _matched(
        {suite.name: _cases(base, suite) for suite in gone},
        {suite.name: _cases(head, suite) for suite in strangers},
    )
    notes = tuple(notice("suite.renamed", suite=now, base=was) for was, now in names.items())
    return _called(base, names), notes


def _matched(base: Mapping[str, Cases], head: Mapping[str, Cases]) -> dict[str, str]:
    """Head's name for each of base's, most shared cases first; each is used once."""
    shared = sorted(
        ((-len(had & has), was, now) for was, had in base.items() for now, has in head.items()),
    )
    names: dict[str, str] = {}
    for common, was, now in shared:
        if common and was not in names and now not in names.values():
            names[was] = now
    return names


def _cases(project: Project, suite: Suite) -> Cases:
    """What a suite asks; one whose files cannot be read is complained about elsewhere."""
    try:
        loaded = load_suite(project.root, suite)
    except InputError:
        return frozenset()
    return frozenset((case.eval_set_id, case.eval_id) for case in loaded.cases)


def _called(project: Project, names: Mapping[str, str]) -> Project:
    settings = project.settings
    if settings is not None:
        settings = settings.model_copy(update={"suite": _renamed(settings.suite, names)})
    return Project(project.root, settings, _renamed(project.suites, names))


def _renamed(suites: Sequence[Suite], names: Mapping[str, str]) -> tuple[Suite, ...]:
    return tuple(
        suite.model_copy(update={"name": names.get(suite.name, suite.name)}) for suite in suites
    )
