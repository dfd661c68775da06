"""Recorded runs and scored results, in our own format or in ADK's."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import Field, ValidationError, field_validator

from gradegate.files.findings import Finding, refuse_errors
from gradegate.files.json_document import Document, parse, read_text
from gradegate.files.schema_errors import schema_findings
from gradegate.model.base import AdkValue, Value
from gradegate.model.errors import FileError
from gradegate.model.evalset import Invocation
from gradegate.model.result import (
    RESULTS_SCHEMA,
    CaseResult,
    CriterionResult,
    InvocationResult,
    Results,
    RubricScore,
    Status,
)
from gradegate.model.runs import TRACES_SCHEMA, Trace, Traces

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


T = TypeVar("T", bound=Value)


@dataclass(frozen=True)
class _Format(Generic[T]):
    model: type[T]
    schema: str
    from_adk: Callable[[AdkResult], T]
    cases: Callable[[T], Sequence[Trace | CaseResult]]


_TRACES = _Format(Traces, TRACES_SCHEMA, traces_of, lambda traces: traces.cases)
_RESULTS = _Format(Results, RESULTS_SCHEMA, results_of, lambda results: results.cases)


def read_traces(path: Path) -> Traces:
    """Recorded runs, from a traces file or from ADK's `*.evalset_result.json`."""
    return _read(path, _TRACES)


def read_results(path: Path) -> Results:
    """Scores of one side, from a results file or from ADK's `*.evalset_result.json`."""
    return _read(path, _RESULTS)


def examine_traces(document: Document) -> tuple[Traces, tuple[Finding, ...]]:
    """The traces in a document, and all that is wrong with them."""
    return _examine(document, _TRACES)


def _read(path: Path, wanted: _Format[T]) -> T:
    """A file of ours is read straight; only one that is not fine is gone through for the place."""
    text = read_text(path, str(path))
    straight = _straight(text, wanted)
    if straight is not None:
        return straight
    document = parse(str(path), text)
    if isinstance(document.value, str):
        document = _unwrapped(document)
    value, findings = _examine(document, wanted)
    refuse_errors(findings)
    return value


def _straight(text: str, wanted: _Format[T]) -> T | None:
    try:
        value = wanted.model.model_validate_json(text)
    except ValidationError:
        return None
    keys = [(case.key, case.run) for case in wanted.cases(value)]
    is_fine = "schema_" in value.model_fields_set and len(keys) == len(set(keys))
    return value if is_fine else None


def _unwrapped(document: Document) -> Document:
    """What older versions of ADK wrote: a JSON text that holds the JSON."""
    try:
        inner = parse(document.path, document.value)
    except FileError as error:
        message = f"a text that should hold JSON: {error.message}"
        raise document.error(message) from error
    return Document(document.path, document.text, inner.value)


def _examine(document: Document, wanted: _Format[T]) -> tuple[T, tuple[Finding, ...]]:
    nothing = wanted.model()
    value = document.value
    if not isinstance(value, dict):
        return nothing, (document.finding(f'must be an object with "schema": "{wanted.schema}"'),)
    if not is_adk_result(value) and value.get("schema") != wanted.schema:
        message = f'`schema` must be "{wanted.schema}", not {value.get("schema", "nothing")!r}'
        return nothing, (document.finding(message, "schema"),)
    try:
        if is_adk_result(value):
            return wanted.from_adk(AdkResult.model_validate(value)), document.warnings
        ours = wanted.model.model_validate(value)
    except ValidationError as error:
        return nothing, (*document.warnings, *schema_findings(document, error))
    return ours, (*document.warnings, *_repeated(document, wanted.cases(ours)))


def is_adk_result(value: dict[str, Any]) -> bool:
    """Whether this looks like a file of ADK's rather than one of ours."""
    return "schema" not in value and bool({"eval_case_results", "evalCaseResults"} & value.keys())


def _repeated(document: Document, cases: Sequence[Trace | CaseResult]) -> list[Finding]:
    seen: set[tuple[object, ...]] = set()
    findings = []
    for index, case in enumerate(cases):
        if (case.key, case.run) in seen:
            message = f"run {case.run} of `{case.eval_id}` in {case.eval_set} is here twice"
            findings.append(document.finding(f"{message}: number the runs from 1", "cases", index))
        seen.add((case.key, case.run))
    return findings
