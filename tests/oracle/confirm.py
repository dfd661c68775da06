"""The screen and the exact test as they were when runs were asked for in rounds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, NamedTuple

from gradegate.compare.screening import Confirmation, Outcomes, SuspectId
from gradegate.compare.stats.exact import Count, benjamini_hochberg, worse
from gradegate.model.report import Verdict

CASE_SHARE = 0.25
"""What part of a gate run's alpha goes to single cases; the rest watches whole criteria."""
SCREEN_FAILS, SCREEN_PASSES = 3, 2
MOST_LOST = 4
"""So many runs of a suspect may end without a score, in each role, before it is given up."""
HOPELESS_ODD, HOPELESS_PAIRS = 3, 3
"""Three runs on the wrong side (base failed, head passed) among the first three pairs: out.

A broken case hardly ever does that; one that is merely flaky does it two times in three.
"""
EARLY_COST, FULL_COST = 5.0, 1.25
"""Two looks share the level: one fifth for the early one, four fifths for the full one."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A case and criterion that looks worse on head, with every fresh run made for it so far."""

    id: SuspectId
    failed_on_both: bool = False
    quarantined: bool = False
    recheck: Outcomes = ()
    """Of base."""
    screen: Outcomes = ()
    """Of head."""
    base: Outcomes = ()
    head: Outcomes = ()


class Wanted(NamedTuple):
    """How many more fresh runs of each side are certain to be needed, whatever they show."""

    id: SuspectId
    role: Literal["recheck", "screen", "confirm"]
    base: int
    head: int


Settled = Mapping[SuspectId, Confirmation]


def settle(
    suspects: Iterable[Suspect], *, alpha: float, confirm_runs: int
) -> Settled | tuple[Wanted, ...]:
    """The runs to make next, or, where nothing is left to ask, what became of each suspect."""
    settled, wanted = _walk(tuple(suspects), alpha * CASE_SHARE, confirm_runs)
    return wanted or settled


def _walk(
    suspects: tuple[Suspect, ...], level: float, most: int
) -> tuple[Settled, tuple[Wanted, ...]]:
    told = [(suspect, screened(suspect)) for suspect in suspects]
    wanted = tuple(found for _, found in told if isinstance(found, Wanted))
    if wanted:
        return {}, wanted
    settled = {s.id: found for s, found in told if isinstance(found, Confirmation)}
    for family in _families([suspect for suspect, found in told if found is None]):
        test = _Test(family, _design(level, len(family), most))
        wanted += tuple(test.wanted())
        settled |= test.outcomes()
    return MappingProxyType(settled), wanted


def _families(suspects: Sequence[Suspect]) -> Iterator[list[Suspect]]:
    """What is tested together. A quarantined case cannot block, and dilutes no one's level."""
    blocking = [suspect for suspect in suspects if not suspect.quarantined]
    if blocking:
        yield blocking
    yield from ([suspect] for suspect in suspects if suspect.quarantined)


def screened(suspect: Suspect) -> Confirmation | Wanted | None:
    """None for a suspect that goes on to be confirmed."""
    if suspect.failed_on_both:
        again = _evaluated(suspect.recheck)
        if not again:
            return _more_or_lost(suspect, "recheck", suspect.recheck, 1)
        if not again[0]:
            return Confirmation(Verdict.UNCHANGED, base=Count(0, 1))
    passed = failed = 0
    for run in _evaluated(suspect.screen):
        passed += run
        failed += not run
        if passed == SCREEN_PASSES:
            return Confirmation(Verdict.FLAKY, head=Count(passed, passed + failed))
        if failed == SCREEN_FAILS:
            return None
    certain = min(SCREEN_PASSES - passed, SCREEN_FAILS - failed)
    return _more_or_lost(suspect, "screen", suspect.screen, certain)


def _more_or_lost(
    suspect: Suspect, role: Literal["recheck", "screen"], runs: Outcomes, more: int
) -> Confirmation | Wanted:
    lost = runs.count(None)
    if lost > MOST_LOST:
        return Confirmation(Verdict.UNCERTAIN, head=Count.of(_evaluated(suspect.screen)), lost=lost)
    on_base = role == "recheck"
    return Wanted(suspect.id, role, base=more * on_base, head=more * (not on_base))


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
        base, head = _evaluated(suspect.base), _evaluated(suspect.head)
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

    def wanted(self) -> Iterator[Wanted]:
        """Runs that are certain to be needed: fewer could settle nothing."""
        limit = self.design.level * sum(self.still_in) / len(self.family)
        for suspect, found, alive in zip(self.family, self.evidence, self.still_in, strict=True):
            if alive and not found.done:
                until = found.base.runs + _pairs_to_settle(found, self.design, limit)
                base, head = (until - len(_evaluated(r)) for r in (suspect.base, suspect.head))
                yield Wanted(suspect.id, "confirm", max(0, base), max(0, head))

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


def _evaluated(runs: Outcomes) -> Sequence[bool]:
    return [run for run in runs if run is not None]


def _confirm_lost(suspect: Suspect) -> int:
    return suspect.base.count(None) + suspect.head.count(None)
