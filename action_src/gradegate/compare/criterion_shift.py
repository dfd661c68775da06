"""The slow leak: many cases each a little worse, which no single case shows.

Per criterion, over the cases scored on both sides: the mean difference, the chance of one at
least as bad if nothing changed (see `permutation`), and an interval for it. The criteria are
corrected for being several. Only full passes count here, never the runs that confirm a suspect:
those were chosen for how their case had done.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, log, sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple

from gradegate.compare.stats.exact import holm
from gradegate.compare.stats.permutation import Group, tails
from gradegate.compare.stats.special import special
from gradegate.model.report import Verdict
from gradegate.model.result import UNIT, Scale
from gradegate.model.settings import GateRule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Scores: TypeAlias = Sequence[Sequence[float]]

LEAK_SHARE: dict[GateRule, float] = {"exact": 0.75, "memory": 0.5}
"""What part of a gate run's alpha goes to whole criteria; the rest goes to single cases."""
LOOK_SHARES: dict[GateRule, tuple[float, ...]] = {
    "exact": (0.10, 0.15, 0.50),
    "memory": (0.10, 0.15, 0.25),
}
"""How that part is spent where passes can be bought: after the first, second, third pass."""
MOST_PASSES = 3
WORTH_A_PASS = 2.0
"""Another pass is bought where an adjusted p-value is at most so many times alpha."""
CONFIDENCE = 0.95
MOST_PASSES_SUGGESTED = 50
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class CriterionShift:
    """One criterion on both sides, over the cases that were scored on both."""

    n: int
    """Cases compared."""
    runs: int
    """Full passes of head."""
    mean_base: float | None = None
    mean_head: float | None = None
    delta: float | None = None
    """Head less base, as scored."""
    interval: tuple[float, float] | None = None
    """Around `delta`; None for fewer than two cases."""
    p_value: float | None = None
    """Of a change for the worse at least as large, if nothing changed."""
    p_better: float | None = None
    method: Literal["exact", "drawn", "normal"] | None = None
    scale: Scale = UNIT
    noise: float = 0.0
    """The standard deviation of one run of a case on a side, as the differences tell it."""
    all_or_nothing: bool = False
    """Whether every score is the best or the worst."""

    @property
    def drop(self) -> float:
        """How much worse head is; negative where it is better."""
        delta = self.delta or 0.0
        return delta if self.scale.lower_is_better else -delta

    @property
    def drop_at_worst(self) -> float:
        """The largest drop that the interval leaves open."""
        if self.interval is None:
            return self.drop
        return self.interval[1] if self.scale.lower_is_better else -self.interval[0]


class ShiftVerdict(NamedTuple):
    """What is to be said of a criterion."""

    verdict: Verdict
    p_value: float | None = None
    """Adjusted for the number of criteria."""
    more_passes: int | None = None
    """For `uncertain`: about so many more passes would settle it. None: more than is sensible."""


def compare_criterion(base: Scores, head: Scores, *, scale: Scale = UNIT) -> CriterionShift:
    """Compares a criterion's scores: cases outside, full-pass runs inside, in the same order.

    A case without any score on a side (an empty sequence) is left out; an agent's failed run
    must come in as the worst score, or failing would raise the mean.
    """
    import numpy as np

    groups = _grouped(base, head)
    n = sum(len(group.base) for group in groups)
    if not n:
        return CriterionShift(n=0, runs=0, scale=scale)
    means = [np.concatenate([getattr(g, s).mean(axis=1) for g in groups]) for s in ("base", "head")]
    differences = np.concatenate([group.differences() for group in groups])
    chance = tails(groups)
    worse, better = chance.down, chance.up
    if scale.lower_is_better:
        worse, better = better, worse
    return CriterionShift(
        n=n,
        runs=max(group.shape[1] for group in groups),
        mean_base=float(means[0].mean()),
        mean_head=float(means[1].mean()),
        delta=float(differences.mean()),
        interval=t_interval(differences),
        p_value=worse,
        p_better=better,
        method=chance.method,
        scale=scale,
        noise=_noise(groups),
        all_or_nothing=all(
            bool(np.isin(side, (scale.low, scale.high)).all())
            for group in groups
            for side in (group.base, group.head)
        ),
    )


def _noise(groups: Sequence[Group]) -> float:
    """How much one run differs from the next; a mean over several runs differs less."""
    import numpy as np

    each = [g.differences() / sqrt(1 / g.shape[0] + 1 / g.shape[1]) for g in groups]
    every = np.concatenate(each)
    return float(every.std(ddof=1)) if len(every) > 1 else 0.0


def t_interval(differences: NDArray[np.float64]) -> tuple[float, float] | None:
    """Student's interval for a mean; where all are equal that value, for fewer than two none."""
    import numpy as np

    n = len(differences)
    if n <= 1:
        return None
    mean = float(differences.mean())
    if float(np.ptp(differences)) <= ROUNDING * float(abs(differences).max()):
        return mean, mean
    error = float(differences.std(ddof=1)) / sqrt(n)
    half = float(special().stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * error
    return mean - half, mean + half


def level_at(alpha: float, look: int | None, rule: GateRule = "exact") -> float:
    """What an adjusted p-value must not exceed, after so many full passes.

    None: there is only this one look, because no pass can be bought.
    """
    return alpha * (LEAK_SHARE[rule] if look is None else LOOK_SHARES[rule][look - 1])


def verdicts(
    leaks: Mapping[str, CriterionShift],
    tolerance_of: Callable[[str], float],
    *,
    alpha: float,
    look: int | None = None,
    rule: GateRule = "exact",
) -> dict[str, ShiftVerdict]:
    """What is to be said of each criterion, all of them taken together.

    A tolerance is a share of the criterion's own range.
    """
    level = level_at(alpha, look, rule)
    worse = _adjusted(leaks, lambda leak: leak.p_value)
    better = _adjusted(leaks, lambda leak: leak.p_better)
    found = {}
    for name, leak in leaks.items():
        tolerance = tolerance_of(name) * leak.scale.width
        if not leak.n:
            found[name] = ShiftVerdict(Verdict.UNCERTAIN)
        elif worse[name] <= level and _more(leak.drop, tolerance):
            found[name] = ShiftVerdict(Verdict.REGRESSED, worse[name])
        elif better[name] <= level and _more(-leak.drop, tolerance):
            found[name] = ShiftVerdict(Verdict.IMPROVED, better[name])
        elif _more(leak.drop_at_worst, tolerance):
            more = _passes_to_settle(leak, tolerance, level / len(leaks))
            found[name] = ShiftVerdict(Verdict.UNCERTAIN, worse[name], more)
        else:
            found[name] = ShiftVerdict(Verdict.UNCHANGED, worse[name])
    return found


def another_pass_wanted(
    leaks: Mapping[str, CriterionShift],
    tolerance_of: Callable[[str], float],
    *,
    alpha: float,
    look: int,
    rule: GateRule = "exact",
) -> bool:
    """Whether it looks close enough, after so many full passes, to buy one more of both sides.

    Not where a criterion has regressed already: the gate's answer would stay the same.
    """
    if look >= MOST_PASSES:
        return False
    told = verdicts(leaks, tolerance_of, alpha=alpha, look=look, rule=rule)
    if any(found.verdict is Verdict.REGRESSED for found in told.values()):
        return False
    return looks_close(leaks, tolerance_of, alpha=alpha)


def looks_close(
    leaks: Mapping[str, CriterionShift], tolerance_of: Callable[[str], float], *, alpha: float
) -> bool:
    """Whether a criterion fell by more than its tolerance, and perhaps not by chance."""
    worse = _adjusted(leaks, lambda leak: leak.p_value)
    return any(
        worse[name] <= WORTH_A_PASS * alpha
        and _more(leak.drop, tolerance_of(name) * leak.scale.width)
        for name, leak in leaks.items()
        if leak.n
    )


def _adjusted(
    leaks: Mapping[str, CriterionShift], p_of: Callable[[CriterionShift], float | None]
) -> dict[str, float]:
    p_values = {name: p for name, leak in leaks.items() if (p := p_of(leak)) is not None}
    return dict(zip(p_values, holm(tuple(p_values.values())), strict=True))


def _more(drop: float, tolerance: float) -> bool:
    return drop > tolerance + ROUNDING


def _passes_to_settle(leak: CriterionShift, tolerance: float, level: float) -> int | None:
    """How many passes would do, if the difference stays and its error shrinks as 1/√passes.

    A drop within the tolerance is settled once the interval leaves no larger one open; a larger
    drop once it is significant, which few cases can be only with enough ways to deal the names.
    """
    half = leak.drop_at_worst - leak.drop
    room, ways = tolerance - leak.drop, 0.0
    if _more(leak.drop, tolerance):
        room, ways = leak.drop, -log(level) / leak.n
        ndtri = special().ndtri
        half *= -float(ndtri(level)) / float(ndtri((1 + CONFIDENCE) / 2))
    if room <= ROUNDING:
        return None
    least = max(leak.runs + 1, leak.runs * (half / room) ** 2)
    sensible = range(leak.runs + 1, MOST_PASSES_SUGGESTED + 1)
    enough = (k for k in sensible if k >= least and log(comb(2 * k, k)) >= ways)
    found = next(enough, None)
    return None if found is None else found - leak.runs


def _grouped(base: Scores, head: Scores) -> list[Group]:
    """Sorted by numbers of runs, so that equal cases give equal results in any order of sizes."""
    import numpy as np

    rows: dict[tuple[int, int], tuple[list[Sequence[float]], list[Sequence[float]]]] = {}
    for one, other in zip(base, head, strict=True):
        if len(one) and len(other):
            on_base, on_head = rows.setdefault((len(one), len(other)), ([], []))
            on_base.append(one)
            on_head.append(other)
    return [
        Group(np.asarray(on_base, dtype=np.float64), np.asarray(on_head, dtype=np.float64))
        for _, (on_base, on_head) in sorted(rows.items(), key=lambda item: item[0])
    ]
