"""What is compared and by which rules: settled before the first run."""

from collections.abc import Mapping
from dataclasses import dataclass

from gradegate.compare.pairing import Pair
from gradegate.model.evalset import CaseKey
from gradegate.model.runs import SIDES, SideName
from gradegate.model.settings import Gate


@dataclass(frozen=True)
class Terms:
    """The pairs, what each side can run of them, and the rules of proof."""

    pairs: tuple[Pair, ...]
    gate: Gate
    runs: Mapping[str, int]
    """Runs that one full pass makes of a case, by head's suites."""
    first_pass: Mapping[tuple[SideName, CaseKey], int]
    """How many runs the first pass makes of a case on a side; without one, it is not run there."""
    base_suites: frozenset[str] = frozenset()
    """Suites whose agent base can run as well; of the others thresholds alone decide."""
    rerunnable: frozenset[tuple[SideName, str]] = frozenset()
    """Suites whose agent can be run again on a side; a recording cannot."""
    quarantined: frozenset[CaseKey] = frozenset()

    @property
    def thresholds_only(self) -> frozenset[str]:
        """Suites with nothing to compare with: there every score below its threshold blocks."""
        return frozenset(self.runs) - self.base_suites

    @property
    def passes_can_be_bought(self) -> bool:
        """Whether every agent of both sides can run again, so that there can be another pass."""
        wanted = {(side, suite) for side in SIDES for suite in self.runs}
        return wanted <= self.rerunnable

    def sides_of(self, pair: Pair) -> list[SideName]:
        """Who runs a pair: base too, where it has the case and the suite."""
        return [side for side in SIDES if (side, pair.key) in self.first_pass]

    def can_rerun(self, pair: Pair) -> bool:
        """Whether fresh runs of a pair can be had on every side that runs it."""
        return all((side, pair.key.suite) in self.rerunnable for side in self.sides_of(pair))
