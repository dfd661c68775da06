"""Everything that is settled before an agent runs: files, cases, pairs, whose rules hold."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from gradegate.compare.loosened import loosened, loosened_suites, looser_than_defaults
from gradegate.compare.pairing import Pair, pair, without_base
from gradegate.evalsets.config import CONFIG_FILE
from gradegate.evalsets.discover import find
from gradegate.evalsets.load import LoadedSuite
from gradegate.evalsets.project import Project, follow_renames, load_all, read_project
from gradegate.github_action.inputs import Inputs, Shard
from gradegate.model.errors import InputError
from gradegate.model.evalset import Case
from gradegate.model.report import Reason
from gradegate.model.settings import Suite
from gradegate.pipeline.policy import Policy, effective
from gradegate.sides.checkout import Side, Sides
from gradegate.sides.identity import agent_identity, fingerprint


@dataclass(frozen=True)
class CaseFilter:
    """Which of the cases this run is about."""

    case: str | None = None
    """A glob over eval ids."""
    shard: Shard | None = None

    @property
    def is_partial(self) -> bool:
        """Whether cases are left out."""
        return self.case is not None or self.shard is not None

    def of(self, pairs: Sequence[Pair]) -> tuple[Pair, ...]:
        """The chosen ones, in their order; each pair, also of a removed case, is in one shard.

        Raises:
            InputError: the glob matches nothing.
        """
        chosen = tuple(
            one for one in pairs if self.case is None or fnmatchcase(one.key.eval_id, self.case)
        )
        if self.case is not None and not chosen:
            raise InputError(
                f"no case matches `--case {self.case}`: it is a glob over eval ids, such as "
                f"`{pairs[0].key.eval_id if pairs else 'paris*'}`"
            )
        return chosen[self.shard.number - 1 :: self.shard.total] if self.shard else chosen


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


@dataclass(frozen=True)
class Prepared:
    """Both sides, and what the comparison goes by."""

    head: PreparedSide
    base: PreparedSide | None
    policy: Policy
    pairs: tuple[Pair, ...]
    loosened: tuple[Reason, ...]
    warnings: tuple[str, ...]

    @property
    def nothing_changed(self) -> bool:
        """Whether the two sides are the same in all that could matter."""
        return self.base is not None and self.base.fingerprint == self.head.fingerprint


def prepare(sides: Sides, inputs: Inputs, selection: CaseFilter) -> Prepared:
    """Read both sides.

    Raises:
        InputError: something is wrong with head's files. Base's files are what they are: what
            is wrong with them is a warning.
    """
    project = _project(sides.head, inputs)
    warnings = list(sides.warnings)
    base_project = _base_project(sides.base, project, inputs, warnings)
    settings = base_project.settings if base_project else None
    policy = effective(settings, project.settings, project.suites, inputs)
    loaded = load_all(project.root, policy.suites)
    head = _prepared(sides.head, project, policy.suites, loaded)
    base = _prepared_base(sides.base, base_project, head, inputs, warnings)
    pairs = selection.of(_pairs(head, base))
    return Prepared(
        head=head,
        base=base,
        policy=policy,
        pairs=pairs,
        loosened=(
            *loosened(pairs, settings, project.settings),
            *loosened_suites(pairs, base.project.suites, policy.suites),
        )
        if base
        else (),
        warnings=(
            *warnings,
            *_first_settings(base_project, project),
            *policy.warnings,
            *_remarks(loaded),
        ),
    )


def _project(side: Side, inputs: Inputs) -> Project:
    return read_project(side.root, inputs.config, agent=inputs.agent, evals=inputs.evals)


def _base_project(
    side: Side | None, head: Project, inputs: Inputs, warnings: list[str]
) -> Project | None:
    """Base's settings and suites, under head's names."""
    if side is None:
        return None
    has_config = inputs.config is None or (side.root / inputs.config).is_file()
    given = inputs if has_config else inputs.model_copy(update={"config": None})
    try:
        project, notes = follow_renames(_project(side, given), head)
    except InputError as error:
        warnings.append(f"base's settings cannot be read, so head's count: {error}")
        return Project(side.root, None, ())
    warnings += notes
    return project


def _first_settings(base: Project | None, head: Project) -> list[str]:
    if base is None or base.settings is not None or head.settings is None:
        return []
    looser = "; ".join(looser_than_defaults(head.settings))
    told = "base has no settings, so this pull request's own count, which are looser than the usual"
    return [f"{told}: {looser}"] if looser else []


def _prepared(
    side: Side, project: Project, suites: tuple[Suite, ...], loaded: Sequence[LoadedSuite]
) -> PreparedSide:
    cases = tuple(case for one in loaded for case in one.cases)
    exclude = _not_the_agent(project, suites, cases)
    identities = {suite.name: agent_identity(suite, side, exclude) for suite in suites}
    print_ = fingerprint(list(identities.values()), cases, project.settings)
    return PreparedSide(side, project, suites, cases, identities, print_)


def _prepared_base(
    side: Side | None,
    project: Project | None,
    head: PreparedSide,
    inputs: Inputs,
    warnings: list[str],
) -> PreparedSide | None:
    """Base as head sees it: head's suites that base has, with base's own eval sets.

    Suites that head has no more are read too: their cases are removed ones.
    """
    if side is None or project is None:
        return None
    known = {suite.name: suite for suite in project.suites}
    shared = tuple(_of_base(one, known[one.name]) for one in head.suites if one.name in known)
    still_there = {suite.name for suite in head.project.suites}
    gone = [suite for suite in project.suites if suite.name not in still_there]
    to_read = [known[one.name] for one in shared] + ([] if inputs.suite else gone)
    missing = [suite.name for suite in head.suites if suite.name not in known]
    warnings += [f"base has no suite {name}: its thresholds alone decide" for name in missing]
    loaded = _loaded_base(project.root, to_read, inputs, warnings)
    return _prepared(side, project, shared, loaded) if to_read else None


def _loaded_base(
    root: Path, suites: Iterable[Suite], inputs: Inputs, warnings: list[str]
) -> list[LoadedSuite]:
    loaded: list[LoadedSuite] = []
    for suite in suites:
        sets = suite.evals if inputs.evals is None else inputs.evals
        try:
            loaded += load_all(root, (suite.model_copy(update={"evals": sets}),))
        except InputError as error:
            warnings.append(f"base's eval sets of suite {suite.name} cannot be read: {error}")
    return loaded


def _of_base(suite: Suite, own: Suite) -> Suite:
    """Where base's agent is in base's own files, though head may have moved it."""
    return suite.model_copy(
        update={
            "agent": own.agent,
            "traces": own.traces,
            "command": own.command,
            "requirements": own.requirements,
        }
    )


def _pairs(head: PreparedSide, base: PreparedSide | None) -> tuple[Pair, ...]:
    return without_base(head.cases) if base is None else pair(base.cases, head.cases)


def _not_the_agent(project: Project, suites: Sequence[Suite], cases: Iterable[Case]) -> list[str]:
    """Files of a project that evaluate the agent and are no part of it.

    Those of all its suites, whichever were asked for: an agent is who it is in every job.
    """
    all_suites = (*project.suites, *suites)
    globs = [glob for suite in all_suites for glob in suite.evals or filter(None, (suite.agent,))]
    sets = {case.eval_set for case in cases} | set(find(project.root, globs))
    configs = {(Path(name).parent / CONFIG_FILE).as_posix() for name in sets}
    named = {path for suite in all_suites for path in (suite.eval_config, suite.traces) if path}
    return sorted(sets | configs | named)


def _remarks(loaded: Sequence[LoadedSuite]) -> list[str]:
    return [str(finding) for one in loaded for finding in one.findings]
