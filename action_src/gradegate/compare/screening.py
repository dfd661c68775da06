"""Which cases look worse, which fresh runs would tell, and what those came to."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from gradegate.compare.case_results import PairedResult, SuspectId, fresh
from gradegate.compare.confirm import (
    SCREEN_FAILS,
    SCREEN_PASSES,
    Confirmation,
    Suspect,
    Wanted,
    settle,
)
from gradegate.compare.stats.exact import Count
from gradegate.model.evalset import CaseKey
from gradegate.model.report import Verdict
from gradegate.model.runs import Role, Runs
from gradegate.model.settings import Gate


class Fresh(NamedTuple):
    """Runs to make next of one case: how many on each side, and what for."""

    key: CaseKey
    role: Role
    base: int
    head: int


class Suspects(NamedTuple):
    """What the first pass leaves open."""

    suspects: tuple[PairedResult, ...]
    """Passed on base and not on head, or failed on both."""
    newcomers: tuple[PairedResult, ...]
    """Without a base to compare with, and failing."""


def suspects_of(judgements: Iterable[PairedResult]) -> Suspects:
    """The judgements that one pass does not settle."""
    failing = [one for one in judgements if one.head.standing == "failed"]
    return Suspects(
        tuple(one for one in failing if one.base and one.base.standing != "unknown"),
        tuple(one for one in failing if one.base is None),
    )


def next_runs(
    doubts: Suspects, base: Runs, head: Runs, gate: Gate, quarantined: frozenset[CaseKey]
) -> tuple[Fresh, ...] | Mapping[SuspectId, Confirmation]:
    """The fresh runs to make now; where there are none left to make, what they all came to.

    A function of the runs made so far and of nothing else: a killed job that reads them back
    from its journal goes on exactly where it was.
    """
    found = settle(
        [_suspect(one, base, head, one.pair.key in quarantined) for one in doubts.suspects],
        alpha=gate.alpha,
        confirm_runs=gate.confirm_runs,
    )
    wanted = list(found) if isinstance(found, tuple) else []
    settled = {} if isinstance(found, tuple) else cast("dict[SuspectId, Confirmation]", dict(found))
    for one in doubts.newcomers:
        key = (one.pair.key, one.criterion)
        screened = _screened(fresh(head.get(one.pair.key, ()), one.criterion, Role.SCREEN))
        if isinstance(screened, int):
            wanted.append(Wanted(key, "screen", 0, screened))
        else:
            settled[key] = screened
    if wanted:
        return _merged(wanted)
    return settled


def _suspect(one: PairedResult, base: Runs, head: Runs, quarantined: bool) -> Suspect:  # noqa: FBT001 - a fact of the case
    key, name = one.pair.key, one.criterion
    before, after = base.get(key, ()), head.get(key, ())
    return Suspect(
        id=(key, name),
        failed_on_both=one.base is not None and one.base.standing == "failed",
        quarantined=quarantined,
        recheck=fresh(before, name, Role.RECHECK),
        screen=fresh(after, name, Role.SCREEN),
        base=fresh(before, name, Role.CONFIRM),
        head=fresh(after, name, Role.CONFIRM),
    )


def _screened(runs: Sequence[bool | None]) -> int | Confirmation:
    """How many more runs to make of a newcomer, or what they came to."""
    passed, failed = runs.count(True), runs.count(False)
    count = Count(passed, passed + failed)
    if failed >= SCREEN_FAILS:
        return Confirmation(Verdict.UNCHANGED, head=count)
    if passed >= SCREEN_PASSES:
        return Confirmation(Verdict.FLAKY, head=count)
    if runs.count(None) > SCREEN_FAILS:
        return Confirmation(Verdict.UNCERTAIN, head=count)
    return min(SCREEN_FAILS - failed, SCREEN_PASSES - passed)


def _merged(wanted: Iterable[Wanted]) -> tuple[Fresh, ...]:
    """One run of a case serves all of its criteria, so the largest wish is enough."""
    most: dict[tuple[CaseKey, Role], tuple[int, int]] = {}
    for one in wanted:
        place = (cast("SuspectId", one.id)[0], Role(one.role))
        known = most.get(place, (0, 0))
        most[place] = (max(known[0], one.base), max(known[1], one.head))
    return tuple(Fresh(key, role, *counts) for (key, role), counts in sorted(most.items()))
