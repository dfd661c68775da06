"""Whose word counts: base's settings, head's, and the workflow's overrides, made one.

A pull request must not be able to talk itself past the gate. What the gate does comes from
base; head can make it stricter at once and looser only by being merged.
"""

from collections.abc import Iterable, Sequence

from gradegate.compare.confirm import smallest_confirm_runs
from gradegate.compare.loosened import confirm_strictness
from gradegate.model.base import Value
from gradegate.model.errors import InputError
from gradegate.model.notice import Notice, notice
from gradegate.model.overrides import Overrides
from gradegate.model.report import ReasonKind
from gradegate.model.settings import (
    CriterionGate,
    Gate,
    JudgeSettings,
    Quarantine,
    ReportSettings,
    Settings,
    Suite,
    stricter_budget,
)

_OF_BASE = ("command", "python", "requirements")


class Policy(Value):
    """What holds for this run."""

    suites: tuple[Suite, ...]
    gate: Gate
    judge: JudgeSettings
    quarantine: tuple[Quarantine, ...]
    report: ReportSettings
    warnings: tuple[Notice, ...] = ()


def effective(
    base: Settings | None, head: Settings | None, suites: Sequence[Suite], overrides: Overrides
) -> Policy:
    """What holds, given each side's file (None: it has none) and head's suites."""
    theirs = head or Settings()
    ours = base or theirs
    _refuse_too_few_runs(theirs.gate)
    chosen = tuple(_with_inputs(suite, overrides) for suite in _chosen(suites, overrides.suite))
    trusted, warnings = _with_base(chosen, base)
    return Policy(
        suites=trusted,
        gate=stricter_gate(_with_rules(ours.gate, overrides), _with_rules(theirs.gate, overrides)),
        judge=ours.judge,
        quarantine=shorter_quarantine(ours.quarantine, theirs.quarantine),
        report=_report_of_inputs(theirs.report, overrides),
        warnings=warnings,
    )


def stricter_gate(base: Gate, head: Gate) -> Gate:
    """Of each rule the stricter one: what head relaxes waits until it is merged."""
    named = {*base.criteria, *head.criteria}
    return Gate(
        fail_on=tuple(kind for kind in ReasonKind if kind in {*base.fail_on, *head.fail_on}),
        tolerance=min(base.tolerance, head.tolerance),
        alpha=max(base.alpha, head.alpha),
        confirm_runs=max(base.confirm_runs, head.confirm_runs, key=confirm_strictness),
        time_limit=base.time_limit,
        criteria={
            name: CriterionGate(tolerance=min(base.tolerance_for(name), head.tolerance_for(name)))
            for name in sorted(named)
        },
        budget={
            name: stricter_budget(base.budget.get(name), head.budget.get(name))
            for name in sorted({*base.budget, *head.budget})
        },
    )


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


def _with_inputs(suite: Suite, overrides: Overrides) -> Suite:
    given = {"agent": overrides.agent, "evals": overrides.evals, "runs": overrides.runs}
    wanted = {key: value for key, value in given.items() if value is not None}
    if overrides.agent is not None and suite.command is not None:
        raise InputError(
            f"input `agent` names an ADK agent, and suite `{suite.name}` runs a `command`: leave "
            "the input out, or choose another suite with `suite`"
        )
    return suite.model_copy(update=wanted)


def _with_base(
    suites: Iterable[Suite], base: Settings | None
) -> tuple[tuple[Suite, ...], tuple[Notice, ...]]:
    """Head's suites, with base's word on what the agent's process is and may see."""
    if base is None:
        return tuple(suites), ()
    known = {suite.name: suite for suite in base.suite}
    trusted: list[Suite] = []
    warnings: list[Notice] = []
    for suite in suites:
        own = known.get(suite.name)
        if own is None:
            trusted.append(suite.model_copy(update={"env": ()}))
            if suite.env:
                warnings.append(notice("suite.new_env", suite=suite.name))
            continue
        taken = _taken_from_base(suite, own)
        changed = [name for name in taken if getattr(suite, name) != getattr(own, name)]
        trusted.append(suite.model_copy(update={name: getattr(own, name) for name in changed}))
        if changed:
            listed = ", ".join(f"`{name}`" for name in changed)
            warnings.append(notice("suite.changed", suite=suite.name, fields=listed))
    return tuple(trusted), tuple(warnings)


def _taken_from_base(suite: Suite, own: Suite) -> tuple[str, ...]:
    """The fields in which base's word counts.

    Where base names a program to run, that is what is run: head cannot put a recording or
    another agent in its place. A program that base knows nothing of runs head's code, as an
    agent would.
    """
    if own.command is not None:
        return ("env", "network", *_OF_BASE, "agent", "traces")
    if own.agent is not None and own.traces is None and suite.traces is not None:
        return ("env", "network", *_OF_BASE, "traces", *(("agent",) if suite.agent is None else ()))
    return ("env", "network", *(_OF_BASE if suite.command is None else ()))


def _with_rules(gate: Gate, overrides: Overrides) -> Gate:
    given = {"fail_on": overrides.fail_on, "tolerance": overrides.tolerance}
    return gate.model_copy(update={key: value for key, value in given.items() if value is not None})


def _report_of_inputs(report: ReportSettings, overrides: Overrides) -> ReportSettings:
    given = {"language": overrides.language, "comment": overrides.comment}
    return report.model_copy(
        update={key: value for key, value in given.items() if value is not None}
    )
