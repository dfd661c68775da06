"""Suites that go by another name on head than on base: a new name is no new agent."""

from collections.abc import Mapping, Sequence

from gradegate.evalsets.load import load_suite
from gradegate.evalsets.suites import Project
from gradegate.model.errors import InputError
from gradegate.model.settings import Suite

Cases = frozenset[tuple[str, str]]


def follow_renames(base: Project, head: Project) -> tuple[Project, tuple[str, ...]]:
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
    notes = tuple(
        f"suite {now} is compared with base's suite {was}, which has the same cases"
        for was, now in names.items()
    )
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
