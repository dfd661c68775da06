"""ADK's own `*.evalset_result.json`, read as our traces and results."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import Field, field_validator

from gradegate.model.base import AdkValue
from gradegate.model.evalset import Invocation
from gradegate.model.result import (
    CaseResult,
    CriterionResult,
    InvocationResult,
    Results,
    RubricScore,
    Status,
)
from gradegate.model.trace import Trace, Traces

_STATUSES = (Status.PASSED, Status.FAILED, Status.NOT_EVALUATED, Status.INFORMATIONAL)


class _Status(AdkValue):
    """ADK writes its statuses as numbers from 1; some of its users as names."""

    @field_validator("eval_status", "final_eval_status", mode="before", check_fields=False)
    @classmethod
    def _by_number_or_name(cls, given: object) -> object:
        if isinstance(given, int) and 1 <= given <= len(_STATUSES):
            return _STATUSES[given - 1]
        return given.lower() if isinstance(given, str) else given


class _RubricScore(AdkValue):
    rubric_id: str
    score: float | None = None
    rationale: str | None = None


class _Details(AdkValue):
    rubric_scores: tuple[_RubricScore, ...] | None = None


class _Metric(_Status):
    metric_name: str
    threshold: float | None = None
    criterion: dict[str, Any] | None = None
    score: float | None = None
    eval_status: Status
    details: _Details | None = None

    @property
    def limit(self) -> float | None:
        """The threshold, from whichever of its two places has it."""
        given = (self.criterion or {}).get("threshold") if self.threshold is None else None
        return float(given) if isinstance(given, int | float) else self.threshold

    @property
    def rubrics(self) -> tuple[RubricScore, ...]:
        """The rubrics' scores as ours."""
        scores = (self.details.rubric_scores if self.details else None) or ()
        return tuple(RubricScore.model_validate(score.model_dump()) for score in scores)


class _Turn(AdkValue):
    actual_invocation: Invocation
    eval_metric_results: tuple[_Metric, ...] = ()


class _Case(_Status):
    eval_set_id: str = ""
    eval_id: str = ""
    final_eval_status: Status
    overall_eval_metric_results: tuple[_Metric, ...] = ()
    eval_metric_result_per_invocation: tuple[_Turn, ...] = ()


class AdkResult(AdkValue):
    """One file: what one `adk eval` of one eval set came to."""

    eval_set_id: str
    eval_case_results: tuple[_Case, ...] = Field(default=())


def traces_of(result: AdkResult) -> Traces:
    """What the agent did, case by case; a case that comes again is its next run."""
    return Traces.of(
        Trace(
            eval_set=case.eval_set_id or result.eval_set_id,
            eval_id=case.eval_id,
            run=run,
            invocations=tuple(
                turn.actual_invocation for turn in case.eval_metric_result_per_invocation
            ),
        )
        for run, case in _numbered(result.eval_case_results)
    )


def results_of(result: AdkResult) -> Results:
    """How it was scored there: statuses, scores and thresholds as ADK gave them."""
    cases = [
        CaseResult(
            eval_set=case.eval_set_id or result.eval_set_id,
            eval_id=case.eval_id,
            run=run,
            status=case.final_eval_status,
            criteria={m.metric_name: _criterion(case, m) for m in _in_order(case)},
        )
        for run, case in _numbered(result.eval_case_results)
    ]
    return Results(cases=tuple(sorted(cases, key=lambda c: (*c.key, c.run))))


def _numbered(cases: Iterable[_Case]) -> Iterator[tuple[int, _Case]]:
    runs: Counter[tuple[str, str]] = Counter()
    for case in cases:
        runs[case.eval_set_id, case.eval_id] += 1
        yield runs[case.eval_set_id, case.eval_id], case


def _in_order(case: _Case) -> list[_Metric]:
    return sorted(case.overall_eval_metric_results, key=lambda metric: metric.metric_name)


def _criterion(case: _Case, overall: _Metric) -> CriterionResult:
    turns = [
        metric
        for turn in case.eval_metric_result_per_invocation
        for metric in turn.eval_metric_results
        if metric.metric_name == overall.metric_name
    ]
    return CriterionResult(
        score=overall.score,
        threshold=overall.limit,
        status=overall.eval_status,
        reason=_reason(overall),
        invocations=tuple(
            InvocationResult(
                score=turn.score,
                status=turn.eval_status,
                reason=_reason(turn),
                rubrics=turn.rubrics,
            )
            for turn in turns
        ),
        rubrics=overall.rubrics,
    )


def _reason(metric: _Metric) -> str | None:
    missing = metric.eval_status is Status.NOT_EVALUATED
    return "not evaluated by adk eval, which keeps no reason" if missing else None
