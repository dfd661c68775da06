"""Suspects weighed against what base did before: a Bayes factor after every run.

One run at a time goes to base or to head. After each, how much likelier is what head did if the
case broke than if nothing changed (`stats.bayes`)? Little: it is flaky, and costs no more. Very
much, the more so the more suspects there are: it is broken. In between: another run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from gradegate.compare.confirm import Settled, families
from gradegate.compare.screening import (
    MOST_LOST,
    NO_RUNS,
    Confirmation,
    Suspect,
    SuspectId,
    evaluated,
    recheck,
    screen,
)
from gradegate.compare.stats.bayes import (
    ORDINARY,
    Day,
    bayes_factor,
    chance_of_failures,
)
from gradegate.compare.stats.exact import Count
from gradegate.model.history import LEAST
from gradegate.model.report import Verdict
from gradegate.model.runs import SIDES, Role, RunRequest, SideName

RARE = 0.05
"""Head passed as often as this rarely happens where base hardly ever did: it was repaired."""
SUSPICIOUS = 0.3
"""Head failed as often as this rarely happens where nothing changed: worth a closer look."""
LEAST_FAILED, LEAST_ON_BASE = 3, 2
"""Nothing is called broken on fewer fresh failures of head, or fresh runs of base."""
WITHOUT_HISTORY = 250.0
WITH_LONG_HISTORY, WITH_ANY_HISTORY = 60.0, 1_200.0
"""What the Bayes factor of a lone suspect must reach at an alpha of 0.02: 250 without a history,
else 60 and 1,200 divided by its length (120 for 20 runs)."""
USUAL_ALPHA = 0.02
SETTLED_WITHOUT, SETTLED_WITH = 1 / 4, 1 / 7
"""At so small a factor, without and with a history, a suspect is flaky and costs no more."""
BASE_IS_ANOTHER = 0.02
"""Where base's own fresh runs are as bad as this rarely happens, its history is set aside."""
BAD_DAY = 0.9
"""How sure it must be that the service is worse today, for base's history to be set aside."""
PROBABLY = 5.0
"""From this factor on a case is worth telling of, though it does not block."""
MOST_RUNS_SUGGESTED = 60


def is_suspicious(earlier: Count, head: Count, day: Day) -> bool:
    """Whether head's first runs are worse than base's earlier ones let expect."""
    return head.passed < head.runs and chance_of_failures(earlier, head, day) <= SUSPICIOUS


def told_by_a_pass(earlier: Count, head: Count) -> Verdict:
    """Of a case that passes now and did not always: one pass is no repair."""
    failed = Count(earlier.runs - earlier.passed, earlier.runs)
    passed = Count(head.runs - head.passed, head.runs)
    is_rare = chance_of_failures(failed, passed) <= RARE
    return Verdict.IMPROVED if is_rare else Verdict.UNCHANGED


@dataclass(frozen=True)
class Rule:
    """What holds for all suspects of a pull request."""

    alpha: float
    most: int
    """Fresh runs of head."""
    day: Day = ORDINARY
    is_another_day: bool = False
    """Whether base is known to do otherwise today, so that what it did before says nothing."""

    def earlier(self, suspect: Suspect) -> Count:
        """What base did before, where that counts."""
        is_bad = self.is_another_day or 1.0 - self.day[0] >= BAD_DAY
        return NO_RUNS if is_bad else suspect.earlier

    def needed(self, earlier: Count) -> float:
        """The factor that a lone suspect must reach."""
        if earlier.runs < LEAST:
            usual = WITHOUT_HISTORY
        else:
            usual = WITH_LONG_HISTORY + WITH_ANY_HISTORY / earlier.runs
        return usual * USUAL_ALPHA / self.alpha


class _Evidence(NamedTuple):
    """What a suspect's runs say so far."""

    base: Count
    head: Count
    factor: float
    done: bool
    aside: bool
    """Whether base's history was set aside, because base does not do any more what it did."""
    assumed: Mapping[SideName, int]
    """Runs that were made up, to see when it would be done."""

    @property
    def is_enough(self) -> bool:
        """Whether there are as many runs as it takes to call a case broken."""
        failed = self.head.runs - self.head.passed
        return failed >= LEAST_FAILED and self.base.runs >= LEAST_ON_BASE


def weigh(suspects: Iterable[Suspect], rule: Rule) -> Settled:
    """What became of each suspect, and the runs to have before that can be said."""
    screened = [(one, screen(one) if one.is_new else recheck(one)) for one in suspects]
    settled = {one.id: found for one, found in screened if isinstance(found, Confirmation)}
    wanted = tuple(found for _, found in screened if isinstance(found, RunRequest))
    if any(isinstance(found, RunRequest) and not one.is_new for one, found in screened):
        return Settled(settled, wanted)  # how many are left says how much is asked of each
    for family in families([one for one, found in screened if found is None]):
        weighed = _Family(family, rule)
        wanted += tuple(weighed.wanted())
        settled |= weighed.confirmations()
    return Settled(MappingProxyType(settled), wanted)


class _Family:
    """Suspects that make each other less remarkable."""

    def __init__(self, suspects: Sequence[Suspect], rule: Rule) -> None:
        self.suspects = suspects
        self.rule = rule
        self.evidence = [self._walk(one) for one in suspects]
        self.broken = _largest(
            [
                found.factor / rule.needed(rule.earlier(one)) if found.is_enough else 0.0
                for one, found in zip(suspects, self.evidence, strict=True)
            ]
        )

    def wanted(self) -> Iterator[RunRequest]:
        """Runs without which nothing can be settled: until all fail, or all pass, on head."""
        for suspect, found in zip(self.suspects, self.evidence, strict=True):
            if found.done or _lost(suspect) > MOST_LOST:
                continue
            ends = [self._walk(suspect, head_passes=passes).assumed for passes in (True, False)]
            soonest = min(ends, key=lambda assumed: sum(assumed.values()))
            for side, runs in zip(SIDES, (suspect.base, suspect.head), strict=True):
                if side in soonest:
                    yield suspect.request(side, Role.CONFIRM, len(runs) + soonest[side])

    def confirmations(self) -> dict[SuspectId, Confirmation]:
        """Meaningful once nothing is wanted."""
        return {
            suspect.id: self._confirmation(suspect, found, is_broken=broken)
            for suspect, found, broken in zip(
                self.suspects, self.evidence, self.broken, strict=True
            )
        }

    def _confirmation(self, suspect: Suspect, found: _Evidence, *, is_broken: bool) -> Confirmation:
        is_bad_day = bool(suspect.earlier.runs) and not self.rule.earlier(suspect).runs
        unsteady = not is_broken and is_bad_day and _base_failed(found) and found.factor > 1.0
        is_open = not is_broken and (unsteady or not found.done)
        is_worse = not is_broken and not is_open and found.factor >= PROBABLY
        undecided = Verdict.UNCERTAIN if is_open else Verdict.FLAKY
        return Confirmation(
            verdict=Verdict.REGRESSED if is_broken else undecided,
            base=found.base,
            head=found.head,
            lost=_lost(suspect),
            unsteady=unsteady,
            earlier=NO_RUNS if found.aside else self.rule.earlier(suspect),
            bayes_factor=found.factor,
            probably_worse=is_worse,
            more_runs=self._more_runs(suspect, found) if is_worse else None,
        )

    def _walk(self, suspect: Suspect, *, head_passes: bool | None = None) -> _Evidence:
        """Takes the runs in as they were made, until nothing more is to be learnt.

        Where they end, it goes on as if head did what is said, and base passed.
        """
        made = {"base": iter(evaluated(suspect.base)), "head": iter(evaluated(suspect.head))}
        seen: dict[SideName, Count] = {"base": NO_RUNS, "head": NO_RUNS}
        assumed: dict[SideName, int] = {}
        earlier, day, aside = self.rule.earlier(suspect), self.rule.day, False
        if not earlier.runs:
            day = ORDINARY
        while True:
            side = _next_side(earlier, seen["base"], seen["head"])
            passes = next(made[side], None)
            done = passes is not None or head_passes is not None
            if passes is None:
                passes = side == "base" or bool(head_passes)
                assumed[side] = assumed.get(side, 0) + 1
            if done:
                seen[side] = Count(seen[side].passed + passes, seen[side].runs + 1)
            base, head = seen["base"], seen["head"]
            if earlier.runs and _is_another(earlier, base, day):
                earlier, day, aside = NO_RUNS, ORDINARY, True
            factor = bayes_factor(earlier, base, head, day)
            found = _Evidence(base, head, factor, done, aside, assumed)
            if not done or self._ends(suspect, found):
                return found

    def _ends(self, suspect: Suspect, found: _Evidence) -> bool:
        """Whether more runs would be wasted."""
        if found.head.runs >= self.rule.most:
            return True
        earlier = self.rule.earlier(suspect)
        if found.factor <= (SETTLED_WITH if earlier.runs else SETTLED_WITHOUT):
            return True
        needed = self.rule.needed(earlier) * len(self.suspects)
        return found.is_enough and found.factor >= needed

    def _more_runs(self, suspect: Suspect, found: _Evidence) -> int | None:
        """About how many more runs would decide, if both sides go on as they did."""
        earlier = self.rule.earlier(suspect)
        needed = self.rule.needed(earlier)
        earlier = NO_RUNS if found.aside else earlier
        for more in range(1, MOST_RUNS_SUGGESTED + 1):
            on_base = more // 4
            sides = _stretched(found.base, on_base), _stretched(found.head, more - on_base)
            day = self.rule.day if earlier.runs else ORDINARY
            if bayes_factor(earlier, *sides, day) >= needed:
                return more
        return None


def _base_failed(found: _Evidence) -> bool:
    return found.base.passed < found.base.runs


def _stretched(seen: Count, more: int) -> Count:
    """The same share of passes over more runs."""
    runs = seen.runs + more
    return Count(round(runs * seen.passed / seen.runs) if seen.runs else runs, runs)


def _next_side(earlier: Count, base: Count, head: Count) -> SideName:
    """To base while less is known of it, and for one run in four all the same."""
    known = earlier.runs + base.runs
    return "base" if known <= head.runs or 3 * base.runs <= head.runs else "head"


def _is_another(earlier: Count, base: Count, day: Day) -> bool:
    """Whether base's own fresh runs are worse than its history, and the day, let expect."""
    return base.passed < base.runs and chance_of_failures(earlier, base, day) < BASE_IS_ANOTHER


def _largest(strengths: Sequence[float]) -> list[bool]:
    """Which hold together: the r largest, where each is at least how many there are by r."""
    ranked = enumerate(sorted(strengths, reverse=True), 1)
    held = max((rank for rank, one in ranked if one * rank >= len(strengths)), default=0)
    return [held > 0 and one * held >= len(strengths) for one in strengths]


def _lost(suspect: Suspect) -> int:
    return suspect.base.count(None) + suspect.head.count(None)
