"""Everything that is settled before an agent runs: files, cases, pairs, whose rules hold."""

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from gradegate.compare.loosened import loosened, loosened_suites, looser_than_defaults
from gradegate.compare.pairing import Pair, pair, without_base
from gradegate.evalsets.config_places import CONFIG_FILE
from gradegate.evalsets.discover import find
from gradegate.evalsets.load import LoadedSuite, SetFolder
from gradegate.evalsets.project import (
    Project,
    follow_renames,
    load_all,
    read_project,
    refuse_agentless,
)
from gradegate.files.temporary import temporary_folder
from gradegate.files.tool_recordings import read_recording, recording_path
from gradegate.model.errors import InputError
from gradegate.model.evalset import Case
from gradegate.model.notice import Notice, notice
from gradegate.model.overrides import Overrides
from gradegate.model.question import content_digest
from gradegate.model.report import Accepted, Reason
from gradegate.model.runs import Side
from gradegate.model.settings import Suite
from gradegate.model.tool_recording import ToolRecording
from gradegate.pipeline.case_filter import CaseFilter
from gradegate.pipeline.metric_code import MetricPlace, changed_metrics
from gradegate.pipeline.policy import Policy, effective
from gradegate.sides.checkout import Revisions, Sides, check_out
from gradegate.sides.git import Repo
from gradegate.sides.identity import agent_identity, fingerprint, leave_what_counts
from gradegate.sides.scope import Scope, export_scope, scope_of


@dataclass(frozen=True)
class EvaluationRequest:
    """What is asked for."""

    repo: Repo
    revisions: Revisions
    overrides: Overrides = field(default_factory=Overrides)
    cases: CaseFilter = field(default_factory=CaseFilter)
    shards: Path | None = None
    """The folder of the files of shards that were run already."""
    folder: str = "."
    """The project's folder in the repository."""
    accepted: Accepted | None = None
    token: str | None = None
    """For fetching what a shallow checkout left out."""
    warnings: tuple[Notice, ...] = ()
    """What a reader should know before anything was looked at."""


@dataclass(frozen=True)
class PreparedSide:
    """One side, ready to be run: its files, its suites, its own cases, who its agents are."""

    side: Side
    project: Project
    suites: tuple[Suite, ...]
    cases: tuple[Case, ...]
    """All that this side's own eval sets define."""
    identities: dict[str, str]
    """Of the agents, by suite."""
    fingerprint: str
    not_the_agent: tuple[str, ...] = ()
    """Files of the project that no identity covers, and so no agent gets to see."""
    scopes: dict[str, Scope | None] = field(default_factory=dict)
    """What agents are made of, by suite; None: the whole repository."""
    exports: dict[str, Side] = field(default_factory=dict)
    """The files that agents get to see, by suite, where these are not all."""

    def files_of(self, suite: str) -> Side:
        """What the agent of a suite gets to see."""
        return self.exports.get(suite, self.side)


@dataclass(frozen=True)
class Prepared:
    """Both sides, and what the comparison goes by."""

    head: PreparedSide
    base: PreparedSide | None
    policy: Policy
    pairs: tuple[Pair, ...]
    loosened: tuple[Reason, ...]
    warnings: tuple[Notice, ...]
    began: float = field(default_factory=time.monotonic)
    """When the job began, by the clock that the event loop has too."""

    @property
    def agent_folders(self) -> list[Path]:
        """Where the agents are: base's, where there is a base."""
        side = self.base or self.head
        return [side.side.root / suite.agent for suite in side.suites if suite.agent]

    @property
    def dotenv_folders(self) -> set[Path]:
        """Where base's agents find a `.env`: in their folders and those above."""
        root = (self.base or self.head).side.root
        above = {place for folder in self.agent_folders for place in (folder, *folder.parents)}
        return {root, *(place for place in above if place.is_relative_to(root))}

    @property
    def job(self) -> str:
        """Which comparison this is: the same two sides again go on where they were."""
        sides = [self.head.fingerprint, self.base.fingerprint if self.base else ""]
        return hashlib.sha256("|".join(sides).encode()).hexdigest()

    @property
    def configuration(self) -> str:
        """A digest of what was decided by settings and inputs, and of the cases chosen."""
        rules = self.policy.model_dump(mode="json", exclude={"warnings"})
        return content_digest([rules, [pair.key for pair in self.pairs]])

    def refuse_agentless(self) -> None:
        """Raise an InputError for a suite of head's that nothing answers to."""
        refuse_agentless(self.head.project.root, self.head.suites)

    @property
    def nothing_changed(self) -> bool:
        """Whether the two sides are the same in all that could matter."""
        return self.base is not None and self.base.fingerprint == self.head.fingerprint


@contextmanager
def prepare(request: EvaluationRequest) -> Iterator[Prepared]:
    """Both sides' files in a folder of ours, and all that is settled before an agent runs.

    Raises:
        InputError: as `read_sides`, or a commit or the folder is not there.
    """
    began = time.monotonic()
    with temporary_folder("sides") as temporary:
        sides = check_out(
            request.repo,
            request.revisions,
            temporary,
            folder=request.folder,
            token=request.token,
        )
        prepared = read_sides(sides, request.overrides, request.cases)
        for side in filter(None, (prepared.head, prepared.base)):
            leave_what_counts(side.side, side.not_the_agent)
        yield replace(
            prepared,
            head=_exported(prepared.head),
            base=prepared.base and _exported(prepared.base),
            warnings=(*request.warnings, *prepared.warnings),
            began=began,
        )


def _exported(side: PreparedSide) -> PreparedSide:
    """Each scope's files in a folder of their own; the whole is closed to agents that have one."""
    made: dict[Scope, Side] = {}
    for scope in side.scopes.values():
        if scope is not None and scope not in made:
            into = side.side.top.with_name(f"{side.side.top.name}-{len(made) + 1}")
            made[scope] = export_scope(side.side, scope, into)
    if made:
        side.side.top.chmod(0o700)
    exports = {name: made[scope] for name, scope in side.scopes.items() if scope is not None}
    return replace(side, exports=exports)


def prepare_files(loaded: LoadedSuite, side: Side, runs: int = 1) -> Prepared:
    """Cases of given files and the agent of a given folder, one side, with nobody's settings."""
    suite = loaded.suite.model_copy(update={"runs": runs})
    project = Project(side.root, None, (suite,))
    head = PreparedSide(side, project, (suite,), loaded.cases, {suite.name: ""}, "")
    policy = effective(None, project, Overrides())
    return Prepared(head, None, policy, without_base(loaded.cases), (), ())


def read_sides(sides: Sides, overrides: Overrides, selection: CaseFilter) -> Prepared:
    """Read both sides.

    Raises:
        InputError: something is wrong with head's files. Base's files are what they are: what
            is wrong with them is a warning.
    """
    project = _project(sides.head, overrides)
    warnings = list(sides.warnings)
    base_project = _base_project(sides.base, project, overrides, warnings)
    policy = effective(base_project, project, overrides)
    loaded = load_all(project.root, policy.suites["head"], project.suites)
    head = _prepared(sides.head, project, policy.suites["head"], loaded)
    base = None
    if sides.base and base_project:
        base, told = _prepared_base(sides.base, base_project, head, policy, overrides)
        warnings += told
    pairs = selection.of(_pairs(head, base))
    return Prepared(
        head=head,
        base=base,
        policy=policy,
        pairs=pairs,
        loosened=_loosened(base, head, pairs) if base else (),
        warnings=(
            *warnings,
            *_first_settings(base_project, project),
            *policy.warnings,
            *_remarks(loaded),
        ),
    )


def _loosened(base: PreparedSide, head: PreparedSide, pairs: Sequence[Pair]) -> tuple[Reason, ...]:
    """What the pull request lowers: settings, suites, and the code of custom metrics."""
    was, now = base.project, head.project
    return (
        *loosened(pairs, was.settings, now.settings),
        *loosened_suites(pairs, was.suites, now.suites, has_file=was.settings is not None),
        *changed_metrics(
            pairs,
            MetricPlace(base.side.root, base.suites),
            MetricPlace(head.side.root, head.suites),
        ),
    )


def _project(side: Side, overrides: Overrides) -> Project:
    return read_project(side.root, overrides.config, agent=overrides.agent, evals=overrides.evals)


def _base_project(
    side: Side | None, head: Project, overrides: Overrides, warnings: list[Notice]
) -> Project | None:
    """Base's settings and suites, under head's names."""
    if side is None:
        return None
    has_config = overrides.config is None or (side.root / overrides.config).is_file()
    given = overrides if has_config else overrides.model_copy(update={"config": None})
    try:
        project, notes = follow_renames(_project(side, given), head)
    except InputError as error:
        warnings.append(notice("base.settings_unreadable", error=error))
        return Project(side.root, None, ())
    warnings += notes
    return project


def _first_settings(base: Project | None, head: Project) -> list[Notice]:
    if base is None or base.settings is not None or head.settings is None:
        return []
    looser = looser_than_defaults(head.settings)
    return [notice("base.no_settings", rules=looser)] if looser else []


def _prepared(
    side: Side, project: Project, suites: tuple[Suite, ...], loaded: Sequence[LoadedSuite]
) -> PreparedSide:
    cases = tuple(case for one in loaded for case in one.cases)
    exclude = _not_the_agent(project, suites, cases)
    side = replace(side, recordings=dict(_recordings(side, suites, cases)))
    scopes = {suite.name: scope_of(suite, side) for suite in suites}
    identities = {
        suite.name: agent_identity(suite, side, exclude, scopes[suite.name]) for suite in suites
    }
    print_ = fingerprint(list(identities.values()), cases, project.settings)
    return PreparedSide(side, project, suites, cases, identities, print_, tuple(exclude), scopes)


def _prepared_base(
    side: Side,
    project: Project,
    head: PreparedSide,
    policy: Policy,
    overrides: Overrides,
) -> tuple[PreparedSide | None, list[Notice]]:
    """Base's suites that head has too, with base's own eval sets.

    Suites that head has no more are read too: their cases are removed ones.
    """
    shared = policy.suites["base"]
    still_there = {suite.name for suite in head.project.suites}
    gone = [suite for suite in project.suites if suite.name not in still_there]
    known = {suite.name for suite in project.suites}
    missing = [suite.name for suite in head.suites if suite.name not in known]
    warnings = [notice("base.no_suite", suite=name) for name in missing]
    to_read = [*shared, *([] if overrides.suite else gone)]
    if not to_read:
        return None, warnings
    loaded = _loaded_base(project.root, to_read, overrides, warnings)
    return _prepared(side, project, shared, loaded), warnings


def _loaded_base(
    root: Path, suites: Iterable[Suite], overrides: Overrides, warnings: list[Notice]
) -> list[LoadedSuite]:
    loaded: list[LoadedSuite] = []
    for suite in suites:
        sets = suite.evals if overrides.evals is None else overrides.evals
        try:
            loaded += load_all(root, (suite.model_copy(update={"evals": sets}),))
        except InputError as error:
            warnings.append(notice("base.evals_unreadable", suite=suite.name, error=error))
    return loaded


def _pairs(head: PreparedSide, base: PreparedSide | None) -> tuple[Pair, ...]:
    return without_base(head.cases) if base is None else pair(base.cases, head.cases)


def _not_the_agent(project: Project, suites: Sequence[Suite], cases: Iterable[Case]) -> list[str]:
    """Files of a project that evaluate the agent and are no part of it.

    Those of all its suites, whichever were asked for: an agent is who it is in every job.
    """
    all_suites = (*project.suites, *suites)
    globs = [glob for suite in all_suites for glob in suite.evals or filter(None, (suite.agent,))]
    sets = {case.eval_set for case in cases} | set(find(project.root, globs))
    places = SetFolder(project.root).places
    configs = {(Path(name).parent / CONFIG_FILE).as_posix() for name in sets}
    configs |= {place for name in sets for place in places.of(name)}
    named = {suite.eval_config for suite in all_suites if suite.eval_config}
    return sorted(sets | configs | named | set(map(recording_path, sets)))


def _recordings(
    side: Side, suites: Iterable[Suite], cases: Iterable[Case]
) -> Iterator[tuple[str, ToolRecording]]:
    """Of the suites whose tools are answered by recordings."""
    played = {suite.name for suite in suites if suite.tools == "recorded"}
    for eval_set in sorted({case.eval_set for case in cases if case.suite in played}):
        yield eval_set, read_recording(side.root, eval_set)


def _remarks(loaded: Sequence[LoadedSuite]) -> list[Notice]:
    return [finding.as_notice() for one in loaded for finding in one.findings]
