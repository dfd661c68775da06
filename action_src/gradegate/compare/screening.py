"""Is a case that turned red broken, or does it just fail now and then?

A case that passed on base and failed on head is only a *suspect*: agents are not the same
twice. Fresh runs decide, in three roles, and a run made for one role never counts in another:

1. `recheck`: a case that failed on both sides is a suspect only if base passes when run again.
2. `screen`: head is run again until it has failed three times (still a suspect) or passed twice
   (flaky, and cheap to find out).
3. `confirm`: fresh runs of both sides, side by side, and an exact test over them.

A new case that fails is screened as well: it fails for good, or is flaky. The first two are told
here, the third in `confirm`. Everything is worked out anew from the runs made so far, so a killed
job goes on where it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import TypeAlias

from gradegate.compare.stats.exact import Count
from gradegate.model.evalset import CaseKey
from gradegate.model.report import Verdict
from gradegate.model.runs import Role, RunRequest, SideName

NO_RUNS = Count(0, 0)
SCREEN_FAILS, SCREEN_PASSES = 3, 2
MOST_LOST = 4
"""So many runs of a suspect may end without a score, in each role, before it is given up."""

Outcomes: TypeAlias = tuple[bool | None, ...]
"""Runs in order: passed or not. None is a run that could not be evaluated."""
SuspectId: TypeAlias = tuple[CaseKey, str]
"""A case, and the criterion under which it looks worse."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A case and criterion that looks worse on head, with every fresh run made for it so far."""

    id: SuspectId
    is_new: bool = False
    """Whether base has nothing to compare it with, so that it is screened and no more."""
    failed_on_both: bool = False
    quarantined: bool = False
    critical: bool = False
    """Whether it is decided apart from those that are not."""
    earlier: Count = NO_RUNS
    """What base did before, where there is a history of it."""
    recheck: Outcomes = ()
    """Of base."""
    screen: Outcomes = ()
    """Of head."""
    base: Outcomes = ()
    head: Outcomes = ()

    def request(self, side: SideName, role: Role, total: int) -> RunRequest:
        """So many runs of its case, in all."""
        return RunRequest(side, self.id[0], role, total)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What became of a suspect.

    `regressed`: confirmed. `flaky`: fresh runs do not bear it out. `unchanged`: it fails on
    base as well, or is new and fails. `uncertain`: too many runs could not be evaluated to say, or
    base's own were worse than it used to be.
    """

    verdict: Verdict
    p_value: float | None = None
    """None where testing stopped before there was anything to compute."""
    base: Count = NO_RUNS
    head: Count = NO_RUNS
    lost: int = 0
    unsteady: bool = False
    """Whether it is uncertain because base's own runs failed where they did not before."""
    earlier: Count = NO_RUNS
    """What base did before, where that counted."""
    bayes_factor: float | None = None
    """How much likelier the runs are if the case broke than if nothing changed."""
    probably_worse: bool = False
    """Whether that is a good deal, and not enough to block."""
    more_runs: int | None = None
    """For what is probably worse: about so many more would decide. None: too many to say."""

    def on_an_unsteady_day(self) -> "Confirmation":
        """The same where base is known to be worse than it was: its failures prove nothing."""
        if self.bayes_factor is not None:
            return self  # the day was reckoned with
        if self.verdict is Verdict.FLAKY and self.base.passed < self.base.runs:
            return replace(self, verdict=Verdict.UNCERTAIN, unsteady=True)
        return self

    @property
    def confirmed(self) -> bool:
        """Whether fresh runs showed it."""
        return self.verdict is Verdict.REGRESSED


def recheck(suspect: Suspect) -> Confirmation | RunRequest | None:
    """Of what failed on both sides: whether base fails again; None where it does not."""
    if not suspect.failed_on_both:
        return None
    again = evaluated(suspect.recheck)
    if not again:
        request = suspect.request("base", Role.RECHECK, len(suspect.recheck) + 1)
        return _unless_lost(suspect, suspect.recheck, request)
    return None if again[0] else Confirmation(Verdict.UNCHANGED, base=Count(0, 1))


def screen(suspect: Suspect) -> Confirmation | RunRequest | None:
    """What became of it so far, or the runs to have next; None: it goes on to be confirmed."""
    again = recheck(suspect)
    if again is not None:
        return again
    passed = failed = 0
    for run in evaluated(suspect.screen):
        passed += run
        failed += not run
        count = Count(passed, passed + failed)
        if passed == SCREEN_PASSES:
            return Confirmation(Verdict.FLAKY, head=count)
        if failed == SCREEN_FAILS:
            return Confirmation(Verdict.UNCHANGED, head=count) if suspect.is_new else None
    certain = min(SCREEN_PASSES - passed, SCREEN_FAILS - failed)
    request = suspect.request("head", Role.SCREEN, len(suspect.screen) + certain)
    return _unless_lost(suspect, suspect.screen, request)


def chance_stays(rate: float) -> float:
    """How likely a suspect that passes so often on head fails the screen, and stays a suspect."""
    return sum(
        comb(SCREEN_FAILS - 1 + passes, passes) * rate**passes * (1 - rate) ** SCREEN_FAILS
        for passes in range(SCREEN_PASSES)
    )


def _unless_lost(
    suspect: Suspect, runs: Outcomes, request: RunRequest
) -> Confirmation | RunRequest:
    """The request, unless too many of these runs came to nothing."""
    lost = runs.count(None)
    if lost <= MOST_LOST:
        return request
    return Confirmation(Verdict.UNCERTAIN, head=Count.of(evaluated(suspect.screen)), lost=lost)


def evaluated(runs: Outcomes) -> Sequence[bool]:
    """The runs that came to something."""
    return [run for run in runs if run is not None]
