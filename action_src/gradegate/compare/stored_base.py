"""A stored base is of another day, and the service may have been better then.

Where head looks close to worse than what is stored, base's first pass is made anew, side by side
with head's, and only that is compared. The two first passes of base tell what the day is like: if
base itself got worse, then what fresh runs cannot settle is not flaky, but open.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gradegate import locales
from gradegate.compare.case_results import paired_results
from gradegate.compare.criterion_shift import CriterionShift, looks_close
from gradegate.compare.criterion_table import by_criterion, shifts_of
from gradegate.compare.stats.exact import holm
from gradegate.compare.terms import Terms
from gradegate.model.evalset import CaseKey
from gradegate.model.notice import Notice, notice
from gradegate.model.runs import Role, RunRequest, Runs, ScoredRun, SideRuns

UNSTEADY = 0.005
"""How rarely base may look so much worse than it was, if the day is like the other."""


def refresh(terms: Terms, runs: Runs) -> tuple[RunRequest, ...]:
    """Base's first pass made anew, wherever it is another job's; none while nothing looks close.

    Settled before anything else is bought, and once begun finished.
    """
    wanted = tuple(
        RunRequest("base", pair.key, Role.REFRESH, terms.runs[pair.key.suite])
        for pair in terms.pairs
        if any(run.of_another_job for run in runs.of("base", pair.key, Role.FIRST))
    )
    if not wanted or any(runs.of("base", one.case, Role.REFRESH) for one in wanted):
        return wanted
    if any(run.role is not Role.FIRST for own in runs.head.values() for run in own):
        return ()
    shifts = _shifts(terms, runs.base, runs.head)
    close = looks_close(shifts, terms.gate.tolerance_for, alpha=terms.gate.alpha)
    return wanted if close else ()


def refreshed(runs: Runs) -> Runs:
    """The runs to compare: where base's first pass was made anew, the stored one is set aside."""
    anew = _anew(runs)
    if not anew:
        return runs
    base = {
        key: [run for run in own if run.role is not Role.REFRESH] for key, own in runs.base.items()
    }
    for key, first in anew.items():
        base[key] = [*first, *(run for run in base[key] if run.role is not Role.FIRST)]
    return Runs(base, runs.head)


def is_unsteady(terms: Terms, runs: Runs) -> bool:
    """Whether base itself is much worse today than it was when it was stored."""
    shifts = {
        name: shift
        for name, shift in _since_stored(terms, runs).items()
        if shift.p_value is not None
    }
    p_values = holm([shift.p_value or 0.0 for shift in shifts.values()])
    return any(
        p_value <= UNSTEADY and shift.drop > terms.gate.tolerance_for(name) * shift.scale.width
        for p_value, (name, shift) in zip(p_values, shifts.items(), strict=True)
    )


def remarks(terms: Terms, runs: Runs) -> Iterator[Notice]:
    """What a reader should know of base's runs."""
    anew = sum(len(own) for own in _anew(runs).values())
    if anew:
        yield notice("base.refreshed", n=locales.count(anew))
    if is_unsteady(terms, runs):
        yield notice("base.unsteady")


def _since_stored(terms: Terms, runs: Runs) -> Mapping[str, CriterionShift]:
    """Base as it was stored against base made anew, criterion by criterion."""
    anew = _anew(runs)
    return _shifts(terms, {key: runs.of("base", key, Role.FIRST) for key in anew}, anew)


def _anew(runs: Runs) -> dict[CaseKey, list[ScoredRun]]:
    """Base's first pass as it was made anew, of the cases that have one."""
    found = {
        key: [replace(run, role=Role.FIRST) for run in own if run.role is Role.REFRESH]
        for key, own in runs.base.items()
    }
    return {key: own for key, own in found.items() if own}


def _shifts(terms: Terms, base: SideRuns, head: SideRuns) -> Mapping[str, CriterionShift]:
    results = [one for pair in terms.pairs for one in paired_results(pair, base, head, {})]
    return shifts_of(by_criterion(results, terms.quarantined), base, head)
