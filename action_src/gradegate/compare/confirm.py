"""Suspects that the screen left: fresh pairs of runs, and an exact test over them.

Two looks at the pairs of each: an early one where all is clear, else one after all of them. The
suspects are corrected for being several; one that can no longer reach the level costs no more.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import comb
from types import MappingProxyType
from typing import NamedTuple

from gradegate.compare.screening import (
    MOST_LOST,
    Confirmation,
    Suspect,
    SuspectId,
    evaluated,
    screen,
)
from gradegate.compare.stats.exact import Count, benjamini_hochberg, worse
from gradegate.model.report import Verdict
from gradegate.model.runs import SIDES, Role, RunRequest

CASE_SHARE = 0.25
"""What part of a gate run's alpha goes to single cases; the rest watches whole criteria."""
HOPELESS_ODD, HOPELESS_PAIRS = 3, 3
"""Three runs on the wrong side (base failed, head passed) among the first three pairs: out.

A broken case hardly ever does that; one that is merely flaky does it two times in three.
"""
EARLY_COST, FULL_COST = 5.0, 1.25
"""Two looks share the level: one fifth for the early one, four fifths for the full one."""


class Settled(NamedTuple):
    """What became of suspects, as far as it is known."""

    confirmations: Mapping[SuspectId, Confirmation]
    """Final where nothing is wanted."""
    wanted: tuple[RunRequest, ...]
    """Fresh runs that are certain to be needed, whatever they show."""


def settle(
    suspects: Iterable[Suspect], *, alpha: float, confirm_runs: int, parts: int = 1
) -> Settled:
    """What became of each suspect, and the runs to have before that can be said.

    `parts` share alpha: 2 where critical cases are decided apart from the others.
    """
    return _walk(tuple(suspects), alpha * CASE_SHARE / parts, confirm_runs)


def smallest_confirm_runs(alpha: float, suspects: int = 1) -> int:
    """The fewest runs a side that can confirm one broken case among so many suspects."""
    level = alpha * CASE_SHARE / suspects
    return next(runs for runs in range(1, 1_000) if FULL_COST * 0.25**runs <= level)


def chance_confirmed(rate: float, alpha: float, confirm_runs: int) -> float:
    """How likely a lone suspect is confirmed that always passes on base, and so often on head."""
    level = alpha * CASE_SHARE
    _, early, full = _design(level, 1, confirm_runs)
    most = max((k for k in range(full + 1) if _full_p(full, k, full) <= level), default=-1)
    found = _at_most(most, full, rate)
    if full >= HOPELESS_PAIRS:
        found -= rate**HOPELESS_PAIRS * _at_most(most - HOPELESS_PAIRS, full - HOPELESS_PAIRS, rate)
    if early < full:
        found += (1 - rate) ** early * (1 - _at_most(most, full - early, rate))
    return found


def _at_most(passed: int, runs: int, rate: float) -> float:
    return sum(
        comb(runs, k) * rate**k * (1 - rate) ** (runs - k) for k in range(min(passed, runs) + 1)
    )


def _walk(suspects: Sequence[Suspect], level: float, most: int) -> Settled:
    screened = [(suspect, screen(suspect)) for suspect in suspects]
    settled = {s.id: found for s, found in screened if isinstance(found, Confirmation)}
    wanted = tuple(found for _, found in screened if isinstance(found, RunRequest))
    if any(isinstance(found, RunRequest) and not suspect.is_new for suspect, found in screened):
        return Settled(settled, wanted)  # the test needs to know how many suspects are left
    for family in families([suspect for suspect, found in screened if found is None]):
        test = _Test(family, _design(level, len(family), most))
        wanted += tuple(test.wanted())
        settled |= test.outcomes()
    return Settled(MappingProxyType(settled), wanted)


def families(suspects: Sequence[Suspect]) -> Iterator[list[Suspect]]:
    """What is decided together. A quarantined case cannot block, and dilutes no one's level."""
    for critical in (True, False):
        blocking = [s for s in suspects if not s.quarantined and s.critical is critical]
        if blocking:
            yield blocking
    yield from ([suspect] for suspect in suspects if suspect.quarantined)


class _Design(NamedTuple):
    """How a family is tested: after `early` runs a side where all is clear, else after `full`."""

    level: float
    early: int
    full: int


@lru_cache(maxsize=4_096)
def _design(level: float, family: int, most: int) -> _Design:
    """The least numbers that can hold for one suspect alone, two odd runs a side forgiven."""
    each = level / family
    early = next(k for k in range(1, 1_000) if EARLY_COST * 0.25**k <= each)
    wide_enough = (k for k in range(4, most) if _full_p(k - 2, 2, k) <= each)
    return _Design(level, early, next(wide_enough, most))


def _full_p(base_passed: int, head_passed: int, runs: int) -> float:
    return min(1.0, FULL_COST * worse(Count(base_passed, runs), Count(head_passed, runs)))


class _Evidence(NamedTuple):
    """What a suspect's fresh runs say so far."""

    base: Count
    head: Count
    p_value: float
    """Where not `done`: the least it can still become."""
    done: bool
    clean: bool
    """Every run on base passed, every run on head failed."""

    @classmethod
    def of(cls, suspect: Suspect, design: _Design) -> "_Evidence":
        base, head = evaluated(suspect.base), evaluated(suspect.head)
        pairs = min(len(base), len(head), design.full)
        early = design.early
        if early < design.full and pairs >= early and all(base[:early]) and not any(head[:early]):
            counts = Count(early, early), Count(0, early)
            return cls(*counts, EARLY_COST * 0.25**early, done=True, clean=True)
        counts = Count.of(base[:pairs]), Count.of(head[:pairs])
        if _odd(base, head) >= HOPELESS_ODD:
            return cls(*counts, 1.0, done=False, clean=False)
        left = design.full - pairs
        best = _full_p(counts[0].passed + left, counts[1].passed, design.full)
        clean = counts[0].passed == pairs and counts[1].passed == 0
        return cls(*counts, best, done=not left, clean=clean)


class _Test:
    """A family of suspects under their correction.

    Each suspect stands at the best p-value it can still reach. Those that Benjamini-Hochberg
    would let go even so are out, and are asked for nothing more; when every one still in is
    done, the p-values are final and those still in are the regressions.
    """

    def __init__(self, family: list[Suspect], design: _Design) -> None:
        self.family = family
        self.design = design
        self.evidence = [_Evidence.of(suspect, design) for suspect in family]
        self.given_up = [
            not found.done and _confirm_lost(suspect) > MOST_LOST
            for suspect, found in zip(family, self.evidence, strict=True)
        ]
        at_best = [found.p_value for found in self.evidence]
        known = [1.0 if up else p for p, up in zip(at_best, self.given_up, strict=True)]
        self.still_in = benjamini_hochberg(known, design.level)
        self.could_be_in = benjamini_hochberg(at_best, design.level)

    def wanted(self) -> Iterator[RunRequest]:
        """Outcomes that are certain to be needed: fewer could settle nothing."""
        limit = self.design.level * sum(self.still_in) / len(self.family)
        for suspect, found, alive in zip(self.family, self.evidence, self.still_in, strict=True):
            if alive and not found.done:
                until = found.base.runs + _pairs_to_settle(found, self.design, limit)
                for side, runs in zip(SIDES, (suspect.base, suspect.head), strict=True):
                    more = until - len(evaluated(runs))
                    if more > 0:
                        yield suspect.request(side, Role.CONFIRM, len(runs) + more)

    def outcomes(self) -> dict[SuspectId, Confirmation]:
        """Meaningful once nothing is wanted."""
        return {
            suspect.id: Confirmation(
                verdict=self._verdict(at),
                p_value=found.p_value if found.done else None,
                base=found.base,
                head=found.head,
                lost=_confirm_lost(suspect),
            )
            for at, (suspect, found) in enumerate(zip(self.family, self.evidence, strict=True))
        }

    def _verdict(self, at: int) -> Verdict:
        if self.still_in[at]:
            return Verdict.REGRESSED
        return Verdict.UNCERTAIN if self.could_be_in[at] else Verdict.FLAKY


def _pairs_to_settle(found: _Evidence, design: _Design, limit: float) -> int:
    """After how many more pairs the suspect could first be out, or done."""
    runs = found.base.runs
    ends = design.early if found.clean and runs < design.early < design.full else design.full
    odd = runs - found.base.passed + found.head.passed
    for bad in range(1, ends - runs):
        if runs + bad <= HOPELESS_PAIRS and odd + 2 * bad >= HOPELESS_ODD:
            return bad
        base_passed = found.base.passed + design.full - runs - bad
        if _full_p(base_passed, found.head.passed + bad, design.full) > limit:
            return bad
    return ends - runs


def _odd(base: Sequence[bool], head: Sequence[bool]) -> int:
    first = zip(base[:HOPELESS_PAIRS], head[:HOPELESS_PAIRS], strict=False)
    return sum((not on_base) + on_head for on_base, on_head in first)


def _confirm_lost(suspect: Suspect) -> int:
    return suspect.base.count(None) + suspect.head.count(None)
