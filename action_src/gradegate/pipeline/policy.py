"""Whose word counts: base's settings, head's, and the workflow's overrides, made one.

A pull request must not be able to talk itself past the gate. What the gate does, and what an agent
is given, comes from base; head can make the gate stricter at once and looser only by being merged.
How an agent is run is each side's own: so a pull request can mend it for itself, and cannot
hamper base.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gradegate.compare.confirm import smallest_confirm_runs
from gradegate.compare.loosened import LEVELS, confirm_strictness
from gradegate.evalsets.project import Project
from gradegate.model.base import Value
from gradegate.model.budget import stricter_budget
from gradegate.model.errors import InputError
from gradegate.model.notice import Notice, notice
from gradegate.model.overrides import Overrides
from gradegate.model.report import ReasonKind
from gradegate.model.runs import SideName
from gradegate.model.settings import (
    CriterionGate,
    Gate,
    JudgeSettings,
    Level,
    Quarantine,
    ReportSettings,
    Settings,
    Suite,
)

EACH_SIDES_OWN = (
    "agent",
    "command",
    "traces",
    "python",
    "requirements",
    "paths",
    "turn_timeout",
    "case_timeout",
    "memory_mb",
    "max_parallel",
)
"""Of a suite: how its agent is run."""
_HEADS = ("name", "evals", "eval_config")
"""What is asked, on both sides; base's own are read for what was asked before."""
BASES = tuple(key for key in Suite.model_fields if key not in (*EACH_SIDES_OWN, *_HEADS))
"""All else, so that a new key is base's until somebody says otherwise."""
_KIND = ("agent", "command", "python", "requirements")


class Policy(Value):
    """What holds for this run."""

    suites: dict[SideName, tuple[Suite, ...]]
    """What each side runs, by head's names; base has none of those that are new."""
    gate: Gate
    judge: JudgeSettings
    quarantine: tuple[Quarantine, ...]
    report: ReportSettings
    warnings: tuple[Notice, ...] = ()


def effective(base: Project | None, head: Project, overrides: Overrides) -> Policy:
    """What holds, given each side's file and suites; base has head's names for its own.

    Raises:
        InputError: the workflow asks for what there is not, or the gate could confirm nothing.
    """
    theirs = head.settings or Settings()
    ours = (base.settings if base else None) or theirs
    _refuse_too_few_runs(theirs.gate)
    chosen = _chosen(head.suites, overrides.suite)
    suites, warnings = _suites(base, chosen, overrides)
    return Policy(
        suites=suites,
        gate=stricter_gate(_with_rules(ours.gate, overrides), _with_rules(theirs.gate, overrides)),
        judge=ours.judge,
        quarantine=shorter_quarantine(ours.quarantine, theirs.quarantine),
        report=_report_of_inputs(ours.report, overrides),
        warnings=(*warnings, *_changed_tables(ours, theirs)),
    )


def stricter_gate(base: Gate, head: Gate) -> Gate:
    """Of each rule the stricter one: what head relaxes waits until it is merged."""
    named = {*base.criteria, *head.criteria}
    return Gate(
        fail_on=tuple(kind for kind in ReasonKind if kind in {*base.fail_on, *head.fail_on}),
        tolerance=min(base.tolerance, head.tolerance),
        alpha=max(base.alpha, head.alpha),
        rule=base.rule,
        soak=base.soak and head.soak,
        case=base.case,
        warn=base.warn or head.warn,
        confirm_runs=max(base.confirm_runs, head.confirm_runs, key=confirm_strictness),
        time_limit=base.time_limit,
        criteria={
            name: CriterionGate(
                tolerance=min(base.tolerance_for(name), head.tolerance_for(name)),
                level=_stricter_level(base, head, name),
            )
            for name in sorted(named)
        },
        budget={
            name: stricter_budget(base.budget.get(name), head.budget.get(name))
            for name in sorted({*base.budget, *head.budget})
        },
    )


def _stricter_level(base: Gate, head: Gate, criterion: str) -> Level | None:
    own = [gate.criteria[criterion].level for gate in (base, head) if criterion in gate.criteria]
    if not any(own):
        return None
    return min((gate.level_of(criterion, None) for gate in (base, head)), key=LEVELS.index)


def _refuse_too_few_runs(gate: Gate) -> None:
    """A gate that can never confirm anything lets everything pass, and looks as if it guarded.

    Head's is enough to look at: what holds is never weaker than that.
    """
    least = smallest_confirm_runs(gate.alpha)
    if 0 < gate.confirm_runs < least:
        raise InputError(
            f"`confirm_runs` under [gate] is {gate.confirm_runs}: with so few runs a side no "
            f"broken case can be told from a flaky one at `alpha` {gate.alpha:g}; write {least} "
            "or more, or 0 to have every case that turned red block without being run again"
        )


def shorter_quarantine(
    base: Iterable[Quarantine], head: Iterable[Quarantine]
) -> tuple[Quarantine, ...]:
    """Base's entries that head still has, each until the earlier of the two dates."""
    kept = {(entry.eval_set, entry.eval_id): entry for entry in head}
    return tuple(
        entry.model_copy(update={"until": min(entry.until, kept[key].until)})
        for entry in base
        if (key := (entry.eval_set, entry.eval_id)) in kept
    )


def _chosen(suites: Sequence[Suite], name: str | None) -> tuple[Suite, ...]:
    if name is None:
        return tuple(suites)
    chosen = tuple(suite for suite in suites if suite.name == name)
    if not chosen:
        have = ", ".join(f"`{suite.name}`" for suite in suites) or "none"
        raise InputError(f"there is no suite `{name}`: this repository has {have}")
    return chosen


def _suites(
    base: Project | None, chosen: Sequence[Suite], overrides: Overrides
) -> tuple[dict[SideName, tuple[Suite, ...]], tuple[Notice, ...]]:
    """What each side runs, and what head changes in it."""
    known = {suite.name: suite for suite in base.suites} if base else {}
    has_file = base is not None and base.settings is not None
    sides: dict[SideName, list[Suite]] = {"head": [], "base": []}
    warnings: list[Notice] = []
    for suite in chosen:
        own = known.get(suite.name)
        live = _without_recording(suite, own)
        word = _word_of(own if own and has_file else live)
        if has_file and own is None:
            word["env"], withheld = _within(word["env"], known.values())
            if withheld and suite.env is not None:
                listed = ", ".join(f"`{name}`" for name in withheld)
                warnings.append(notice("suite.new_env", suite=suite.name, names=listed))
        sides["head"].append(_with_inputs(live.model_copy(update=word), overrides))
        if own:
            sides["base"].append(_of_base(own.model_copy(update=word), overrides))
            warnings += _changes(own, suite, live, has_file=has_file)
    return {side: tuple(suites) for side, suites in sides.items()}, tuple(warnings)


def _word_of(suite: Suite) -> dict[str, Any]:
    """What counts on both sides; a default of its `env` is one of this kind of agent."""
    return {**{key: getattr(suite, key) for key in BASES}, "env": suite.variables}


def _within(env: Mapping[str, str], base: Iterable[Suite]) -> tuple[dict[str, str], list[str]]:
    """What a new suite may see, which is nothing that base keeps from all of its own."""
    allowed = {name for suite in base for name in suite.variables.values()}
    kept = {seen: name for seen, name in env.items() if name in allowed}
    return kept, [name for seen, name in env.items() if seen not in kept]


def _without_recording(suite: Suite, own: Suite | None) -> Suite:
    """Head's suite; where base has an agent answer, a recording of head's does not."""
    if own is None or not own.runs_live or suite.traces is None:
        return suite
    kind = {} if suite.agent else {key: getattr(own, key) for key in _KIND}
    return suite.model_copy(update={**kind, "traces": None})


def _changes(own: Suite, suite: Suite, live: Suite, *, has_file: bool) -> Iterator[Notice]:
    """What head says otherwise than base, and what comes of that."""

    def listed(keys: Iterable[str]) -> str:
        changed = (key for key in keys if getattr(suite, key) != getattr(own, key))
        return ", ".join(f"`{key}`" for key in changed)

    ignored = ("traces",) if live.traces != suite.traces else ()
    if waiting := listed((*BASES, *ignored) if has_file else ignored):
        yield notice("suite.changed", suite=suite.name, fields=waiting)
    if at_once := listed(key for key in EACH_SIDES_OWN if not ignored) if has_file else "":
        yield notice("suite.own", suite=suite.name, fields=at_once)


def _changed_tables(ours: Settings, theirs: Settings) -> Iterator[Notice]:
    """What head says otherwise under [judge] and [report]."""
    for table in ("judge", "report"):
        was, now = getattr(ours, table), getattr(theirs, table)
        changed = [key for key in type(was).model_fields if getattr(was, key) != getattr(now, key)]
        if changed:
            listed = ", ".join(f"`{key}`" for key in changed)
            yield notice("settings.changed", table=f"[{table}]", fields=listed)


def _with_inputs(suite: Suite, overrides: Overrides) -> Suite:
    given = {"agent": overrides.agent, "evals": overrides.evals, "runs": overrides.runs}
    if suite.agent and not (suite.command or suite.traces):  # others answer their tools themselves
        given["tools"] = overrides.tools
    wanted = {key: value for key, value in given.items() if value is not None}
    if overrides.agent is not None and suite.command is not None:
        raise InputError(
            f"input `agent` names an ADK agent, and suite `{suite.name}` runs a `command`: leave "
            "the input out, or choose another suite with `suite`"
        )
    return suite.model_copy(update=wanted)


def _of_base(suite: Suite, overrides: Overrides) -> Suite:
    """Likewise; what base runs is no mistake of head's, and head's tools are those recorded."""
    ignored = {"agent": None} if suite.command is not None else {}
    chosen = _with_inputs(suite, overrides.model_copy(update=ignored))
    return chosen.model_copy(update={"tools": "live"}) if chosen.tools == "record" else chosen


def _with_rules(gate: Gate, overrides: Overrides) -> Gate:
    given = {"fail_on": overrides.fail_on, "tolerance": overrides.tolerance}
    return gate.model_copy(update={key: value for key, value in given.items() if value is not None})


def _report_of_inputs(report: ReportSettings, overrides: Overrides) -> ReportSettings:
    given = {"language": overrides.language, "comment": overrides.comment}
    return report.model_copy(
        update={key: value for key, value in given.items() if value is not None}
    )
