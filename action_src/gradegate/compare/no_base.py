"""A base that fails nearly everything, while head does not, is no base.

Nothing is worse than it, so nothing would block. Whoever repairs a broken main gets through by the
thresholds alone; whoever broke base on purpose has gained nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import comb
from typing import NamedTuple

from gradegate import locales
from gradegate.compare.terms import Terms
from gradegate.model.notice import Notice, notice
from gradegate.model.result import Status
from gradegate.model.runs import SIDES, Role, Runs, SideName

MOST_OF_BASE = 0.1
"""A base that passes more of its runs has something to say."""
LEAST_OF_HEAD = 0.25
"""A head that passes fewer fails just as well, or was lucky once."""
BY_CHANCE = 0.01
"""How likely the difference may be between sides that are alike; unsteady cases all fail at times.
An agent that ends in an error each time is broken without any statistics."""


class _Passed(NamedTuple):
    passed: int
    runs: int
    crashed: int

    @property
    def share(self) -> float:
        return self.passed / self.runs

    @property
    def is_down(self) -> bool:
        """Whether the agent ends in an error (nearly) every time."""
        return self.crashed >= (1 - MOST_OF_BASE) * self.runs


def with_sound_base(terms: Terms, runs: Runs) -> tuple[Terms, Runs]:
    """The same, where suites that base fails nearly all of have no base at all."""
    broken = _broken(terms, runs)
    if not broken:
        return terms, runs
    base = {key: own for key, own in runs.base.items() if key.suite not in broken}
    first_pass = {
        (side, key): total
        for (side, key), total in terms.first_pass.items()
        if side == "head" or key.suite not in broken
    }
    sound = replace(terms, base_suites=terms.base_suites - broken.keys(), first_pass=first_pass)
    return sound, Runs(base, runs.head)


def remarks(terms: Terms, runs: Runs) -> Iterator[Notice]:
    """That there was nothing to compare with, suite by suite."""
    for suite, base in sorted(_broken(terms, runs).items()):
        failed, total = locales.count(base.runs - base.passed), locales.count(base.runs)
        yield notice("base.broken", suite=suite, failed=failed, runs=total)


def _broken(terms: Terms, runs: Runs) -> Mapping[str, _Passed]:
    """The suites of which base passes next to nothing and head a good part."""
    found = {}
    for suite in terms.base_suites:
        base, head = (_passed(terms, runs, side, suite) for side in SIDES)
        if not base.runs or not head.runs:
            continue
        apart = base.share <= MOST_OF_BASE and head.share >= LEAST_OF_HEAD
        if apart and (base.is_down or _alike(base, head) <= BY_CHANCE):
            found[suite] = base
    return found


def _alike(base: _Passed, head: _Passed) -> float:
    """How likely base has so few of all passes, or fewer, where each run is as likely to have one.

    Fisher's exact test.
    """
    passed, runs = base.passed + head.passed, base.runs + head.runs
    fewer = sum(
        comb(base.runs, count) * comb(head.runs, passed - count)
        for count in range(base.passed + 1)
        if passed - count <= head.runs
    )
    return fewer / comb(runs, passed)


def _passed(terms: Terms, runs: Runs, side: SideName, suite: str) -> _Passed:
    """First-pass runs of what both sides have; what could not be evaluated says nothing."""
    statuses = [
        run.result.status
        for pair in terms.pairs
        if pair.base and pair.head and pair.key.suite == suite
        for run in runs.of(side, pair.key, Role.FIRST)
        if run.result.status is not Status.NOT_EVALUATED
    ]
    return _Passed(statuses.count(Status.PASSED), len(statuses), statuses.count(Status.ERRORED))
