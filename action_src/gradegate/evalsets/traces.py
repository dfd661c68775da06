"""Recorded runs and scored results, in our own format or in ADK's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from gradegate.evalsets.adk_results import AdkResult, results_of, traces_of
from gradegate.evalsets.explain import schema_findings
from gradegate.evalsets.finding import Finding, refuse_errors
from gradegate.evalsets.positions import Document, parse, read_text
from gradegate.model.base import Value
from gradegate.model.errors import FileError
from gradegate.model.result import CaseResult, Results
from gradegate.model.trace import Trace, Traces

TRACES_SCHEMA = "gradegate/traces/v1"
RESULTS_SCHEMA = "gradegate/results/v1"

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
