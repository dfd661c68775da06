"""Where the marks of the page's charts stand; the templates draw them as SVG."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradegate import locales
from gradegate.locales import Locale
from gradegate.model.report import CaseCriterion, CriterionComparison, Report, Verdict
from gradegate.report.escape import clip, one_line
from gradegate.report.links import case_fragment

WIDTH, MARGIN = 112.0, 6.0
PLOT_WIDTH, PLOT_HEIGHT = 220.0, 56.0
BINS_A_SIDE = 10
"""Of a histogram: a tenth of the scale each, falls on the left and rises on the right."""
MOST_FLAKY = 10
FLAKY_WIDTH = 120.0
LONGEST_NAME = 80
_STYLES = {Verdict.REGRESSED: "after worse", Verdict.IMPROVED: "after improved"}


@dataclass(frozen=True)
class Dumbbell:
    """A criterion's mean on base and on head, and where head's may truly be, on one scale."""

    base: float | None
    head: float | None
    interval: tuple[float, float] | None
    style: str
    width: float = WIDTH
    start: float = MARGIN
    end: float = WIDTH - MARGIN


@dataclass(frozen=True)
class Bar:
    """One bar of a histogram."""

    x: float
    y: float
    width: float
    height: float
    style: str


@dataclass(frozen=True)
class Histogram:
    """How a criterion's scores changed, case by case; cases that did not move are said."""

    name: str
    bars: tuple[Bar, ...]
    said: str


@dataclass(frozen=True)
class Flaky:
    """A case that passes and fails without a change."""

    case: str
    link: str
    criterion: str
    width: float
    """The share of runs passed, as a length."""
    runs: str


@dataclass(frozen=True)
class Charts:
    """All of them; a criterion without a scale has none."""

    criteria: tuple[Dumbbell | None, ...]
    histograms: tuple[Histogram, ...]
    flaky: tuple[Flaky, ...]


def charts_of(report: Report, words: Locale) -> Charts:
    """The charts of the overview."""
    gated = [one for one in report.criteria if not one.informational]
    return Charts(
        criteria=tuple(dumbbell(one) for one in gated),
        histograms=tuple(_histograms(gated, report, words)),
        flaky=worst_flaky(report),
    )


def dumbbell(one: CriterionComparison) -> Dumbbell | None:
    """The criterion on its own scale; None where it has none, or no score."""
    low, high = one.range or (0.0, 1.0)
    scores = [score for score in (one.base, one.head) if score is not None]
    if not scores or high <= low or min(scores) < low or max(scores) > high:
        return None

    def at(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    interval = None
    if one.interval is not None and one.base is not None:
        interval = (at(one.base + one.interval[0]), at(one.base + one.interval[1]))
    return Dumbbell(
        base=None if one.base is None else at(one.base),
        head=None if one.head is None else at(one.head),
        interval=interval,
        style=_STYLES.get(one.verdict, "after"),
    )


def _histograms(
    criteria: Sequence[CriterionComparison], report: Report, words: Locale
) -> Iterator[Histogram]:
    for one in criteria:
        if one.range not in (None, (0.0, 1.0)):
            continue
        deltas = [
            case.criteria[one.name].delta for case in report.cases if one.name in case.criteria
        ]
        found = histogram(one, [delta for delta in deltas if delta is not None], words)
        if found is not None:
            yield found


def histogram(one: CriterionComparison, deltas: Sequence[float], words: Locale) -> Histogram | None:
    """The changes of one criterion; None where no case moved."""
    moved = [delta for delta in deltas if delta]
    if not moved:
        return None
    fell, rose = sum(delta < 0 for delta in moved), sum(delta > 0 for delta in moved)
    bins = [0] * (2 * BINS_A_SIDE)
    for delta in moved:
        bins[_bin(delta)] += 1
    return Histogram(
        name=clip(one_line(one.name), LONGEST_NAME),
        bars=tuple(_bars(bins, worse_is_left=not one.lower_is_better)),
        said=words(
            "page.histogram",
            lower=locales.count(fell),
            same=locales.count(len(deltas) - len(moved)),
            higher=locales.count(rose),
        ),
    )


def _bin(delta: float) -> int:
    """A change of nothing is none; the outermost bins hold whole steps of the scale."""
    steps = min(int(abs(delta) * BINS_A_SIDE - 1e-9), BINS_A_SIDE - 1)
    return BINS_A_SIDE + steps if delta > 0 else BINS_A_SIDE - 1 - steps


def _bars(bins: Sequence[int], *, worse_is_left: bool) -> Iterator[Bar]:
    width, most = PLOT_WIDTH / len(bins), max(bins)
    for place, number in enumerate(bins):
        if number:
            height = max(round(PLOT_HEIGHT * number / most, 1), 2.0)
            worse = (place < BINS_A_SIDE) is worse_is_left
            yield Bar(
                x=round(place * width + 1, 1),
                y=round(PLOT_HEIGHT - height, 1),
                width=round(width - 2, 1),
                height=height,
                style="worse" if worse else "improved",
            )


def worst_flaky(report: Report) -> tuple[Flaky, ...]:
    """The cases that pass and fail most evenly over all their runs."""
    found = [
        (abs(_share(one) - 0.5), case, name, one)
        for case in report.cases
        for name, one in case.criteria.items()
        if one.verdict is Verdict.FLAKY and any(one.runs)
    ]
    found.sort(key=lambda row: (row[0], row[1].key, row[2]))
    return tuple(
        Flaky(
            case=clip(one_line(case.eval_id), LONGEST_NAME),
            link=case_fragment(case.key),
            criterion=clip(one_line(name), LONGEST_NAME),
            width=round(FLAKY_WIDTH * _share(one), 1),
            runs=locales.ratio(sum(one.passed), sum(one.runs)),
        )
        for _, case, name, one in found[:MOST_FLAKY]
    )


def _share(one: CaseCriterion) -> float:
    return sum(one.passed) / sum(one.runs)
