"""Cases whose agent cannot be run again: the recordings are all there is.

One run a side leaves only the rule of every test runner: what passed and now fails blocks.
Several runs a side carry a real test, over **all** cases: to pick those that look bad and test
them on the very runs they were picked by would block up to a third of unchanged pull requests.
Which of the two it is was settled when the runs were planned: several of which but one was
evaluated are not single runs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gradegate.compare.confirm import CASE_SHARE
from gradegate.compare.screening import Confirmation, Outcomes, SuspectId
from gradegate.compare.stats.exact import Count, benjamini_hochberg, worse
from gradegate.model.report import Verdict


@dataclass(frozen=True, slots=True)
class FixedRuns:
    """A case and criterion with the runs planned for it; None is a run without a score."""

    id: SuspectId
    base: Outcomes
    head: Outcomes
    quarantined: bool = False


def judge_fixed(cases: Iterable[FixedRuns], *, alpha: float) -> Mapping[SuspectId, Confirmation]:
    """What the recordings say of each case.

    `regressed` with a p-value is confirmed by a test; without one it is a flip between two
    single runs. `uncertain`: nothing was scored on a side, or every run on base passed and every
    one on head failed but there are too few of them to tell.
    """
    outcomes: dict[SuspectId, Confirmation] = {}
    several: list[FixedRuns] = []
    for case in cases:
        base, head = _counts(case)
        if base.runs == 0 or head.runs == 0:
            outcomes[case.id] = _outcome(case, Verdict.UNCERTAIN)
        elif len(case.base) <= 1 and len(case.head) <= 1:
            outcomes[case.id] = _outcome(case, _flip(base, head))
        else:
            several.append(case)
    return outcomes | _tested(several, alpha * CASE_SHARE)


def _tested(cases: list[FixedRuns], level: float) -> dict[SuspectId, Confirmation]:
    drops = {case.id: worse(*_counts(case)) for case in cases}
    gains = {case.id: worse(*reversed(_counts(case))) for case in cases}
    worsened, bettered = (_held(cases, p_values, level) for p_values in (drops, gains))
    outcomes = {}
    for case in cases:
        if case.id in worsened:
            outcomes[case.id] = _outcome(case, Verdict.REGRESSED, drops[case.id])
        elif case.id in bettered:
            outcomes[case.id] = _outcome(case, Verdict.IMPROVED, gains[case.id])
        else:
            outcomes[case.id] = _outcome(case, _untold(*_counts(case)), drops[case.id])
    return outcomes


def _held(
    cases: list[FixedRuns], p_values: Mapping[SuspectId, float], level: float
) -> set[SuspectId]:
    """Quarantined cases cannot block: each is a family of its own, outside the others'."""
    families = [[case.id for case in cases if not case.quarantined]]
    families += [[case.id] for case in cases if case.quarantined]
    return {
        found
        for family in families
        for found, held in zip(
            family, benjamini_hochberg([p_values[i] for i in family], level), strict=True
        )
        if held
    }


def _untold(base: Count, head: Count) -> Verdict:
    """For what no test bears out."""
    if 0 < base.passed < base.runs or 0 < head.passed < head.runs:
        return Verdict.FLAKY
    turned = _flip(base, head)
    return Verdict.UNCERTAIN if turned is Verdict.REGRESSED else turned


def _flip(base: Count, head: Count) -> Verdict:
    if bool(base.passed) == bool(head.passed):
        return Verdict.UNCHANGED
    return Verdict.REGRESSED if base.passed else Verdict.IMPROVED


def _counts(case: FixedRuns) -> tuple[Count, Count]:
    base, head = ([run for run in runs if run is not None] for runs in (case.base, case.head))
    return Count.of(base), Count.of(head)


def _outcome(case: FixedRuns, verdict: Verdict, p_value: float | None = None) -> Confirmation:
    base, head = _counts(case)
    lost = case.base.count(None) + case.head.count(None)
    return Confirmation(verdict, p_value, base, head, lost)
