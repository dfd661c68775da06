"""Where the marks of the charts stand."""

from pathlib import Path
from typing import Any

import pytest

from gradegate.locales import locale_of
from gradegate.model.report import CaseComparison, CriterionComparison, Decision, Report, State
from gradegate.report.page.charts import (
    MARGIN,
    PLOT_HEIGHT,
    PLOT_WIDTH,
    WIDTH,
    charts_of,
    dumbbell,
    histogram,
    worst_flaky,
)

GOLDEN = Path(__file__).parents[3] / "golden"
ENGLISH = locale_of("en")


def criterion(**fields: Any) -> CriterionComparison:
    """A criterion over all cases."""
    return CriterionComparison.model_validate({"name": "x", "verdict": "uncertain", **fields})


def test_a_dumbbell_spans_the_scale() -> None:
    """The lowest possible score is at its start, the highest at its end."""
    chart = dumbbell(criterion(base=0, head=1, interval=(0.5, 1.5)))
    assert chart is not None
    assert (chart.base, chart.head) == (MARGIN, WIDTH - MARGIN)
    assert chart.interval == (WIDTH / 2, WIDTH - MARGIN)


def test_a_scale_of_its_own_counts() -> None:
    """Five of one to five is the end, three the middle."""
    chart = dumbbell(criterion(base=3, head=5, range=(1, 5)))
    assert chart is not None
    assert (chart.base, chart.head) == (WIDTH / 2, WIDTH - MARGIN)


@pytest.mark.parametrize("fields", [{}, {"base": 0.5, "head": 7}, {"base": 1, "range": (2, 2)}])
def test_no_chart_where_nothing_could_be_drawn_truly(fields: Any) -> None:
    """No score, a score that is not on the scale, no scale."""
    assert dumbbell(criterion(**fields)) is None


def test_a_histogram_counts_every_change_once() -> None:
    """The fall of a whole step is outermost; what did not move is said, not drawn."""
    made = histogram(criterion(), [-1, -1, -0.1, 0, 0, 0, 0.05, 1], ENGLISH)
    assert made is not None
    assert made.said == "lower in 3, the same in 3, higher in 2"
    tallest, *rest = made.bars
    assert (tallest.x, tallest.height, tallest.style) == (1, PLOT_HEIGHT, "worse")
    assert [bar.style for bar in rest] == ["worse", "improved", "improved"]
    assert {bar.height for bar in rest} == {PLOT_HEIGHT / 2}
    assert rest[0].x < PLOT_WIDTH / 2 < rest[1].x
    assert rest[-1].x + rest[-1].width < PLOT_WIDTH


def test_less_may_be_better() -> None:
    """Then a fall is no harm."""
    made = histogram(criterion(lower_is_better=True), [-0.5], ENGLISH)
    assert made is not None
    assert made.bars[0].style == "improved"


def test_nothing_moved() -> None:
    """No picture of nothing."""
    assert histogram(criterion(), [0, 0.0], ENGLISH) is None


def test_the_worst_flaky_case_is_the_one_nearest_to_a_coin() -> None:
    """Over the runs of both sides; ten at most."""
    cases = tuple(
        CaseComparison.model_validate(
            {
                "suite": "s",
                "eval_set": "f",
                "eval_id": f"{passed}",
                "criteria": {"x": {"passed": (passed, 5), "runs": (10, 10), "verdict": "flaky"}},
            }
        )
        for passed in range(10)
    )
    report = Report(decision=Decision(state=State.PASS), cases=(*cases, *cases[:2]))
    worst = worst_flaky(report)
    assert [one.case for one in worst[:2]] == ["5", "4"]
    assert len(worst) == 10
    assert (worst[0].runs, worst[0].link) == ("10/20", "#case=s%3A%3Af%3A%3A5")


def test_every_criterion_has_its_place() -> None:
    """Charts stand beside the rows of the table, in its order."""
    text = (GOLDEN / "fail" / "report.json").read_text(encoding="utf-8")
    report = Report.model_validate_json(text)
    gated = [one for one in report.criteria if not one.informational]
    made = charts_of(report, ENGLISH)
    assert [chart is not None for chart in made.criteria] == [
        one.head is not None or one.base is not None for one in gated
    ]
    assert [plot.name for plot in made.histograms] == [one.name for one in gated]
