"""`eval_config.yaml` of google-agents-cli: which metrics apply to an `EvaluationDataset`.

Its built-in metrics become the criteria that mean the same. What has no counterpart is refused by
its name. The file knows no thresholds; `threshold`, `lower_is_better` and `range` in an entry of
`custom_metrics` are ours, and agents-cli passes them over for functions.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gradegate.criteria.rubric_based import RUBRIC_TYPES
from gradegate.evalsets.config import ConfigFile
from gradegate.evalsets.formats import EvalSetFile, PlacedCase
from gradegate.evalsets.keys import KeyReader
from gradegate.files.findings import Finding
from gradegate.files.json_document import Document, Key
from gradegate.files.schema_errors import nearest
from gradegate.model.errors import FileError
from gradegate.model.evalset import EvalConfig, Rubric
from gradegate.model.notice import notice

DATASET_CONFIGS = ("eval_config.yaml", "eval_config.yml", "eval_config.json")
METRICS, CUSTOM = "metrics_to_run", "custom_metrics"
THRESHOLD = 0.5
"""Of a built-in metric whose entry says none: all of these go from 0 to 1."""

COUNTERPARTS: Mapping[str, str] = {
    "final_response_match": "final_response_match_v2",
    "final_response_quality": "rubric_based_final_response_quality_v1",
    "final_response_reference_free": "rubric_based_final_response_quality_v1",
    "hallucination": "hallucinations_v1",
    "multi_turn_task_success": "multi_turn_task_success_v1",
    "multi_turn_tool_use_quality": "multi_turn_tool_use_quality_v1",
    "multi_turn_trajectory_quality": "multi_turn_trajectory_quality_v1",
    "safety": "safety_v1",
    "tool_use_quality": "rubric_based_tool_use_quality_v1",
}
"""A built-in metric, and the criterion that means the same."""

_INSTEAD: Mapping[str, str] = {
    "general_quality": "rubrics of your own with `final_response_quality`",
    "text_quality": "rubrics of your own with `final_response_quality`",
    "instruction_following": "rubrics of your own with `final_response_quality`",
    "grounding": "`hallucination`, which goes by what the agent saw",
    "exact_match": "`final_response_match`, or a `custom_function`",
    "bleu": "`final_response_match`, or a `custom_function`",
    "rouge": "`final_response_match`, or a `custom_function`",
}
_VERSION = re.compile(r"_v\d+$")
_FUNCTION, _FUNCTION_FILE = "custom_function", "custom_function_file"
_OURS = ("threshold", "lower_is_better", "range")
_KNOWN = frozenset(
    {"name", _FUNCTION, _FUNCTION_FILE, "execution", "metric_spec_parameters", *_OURS}
)


def is_dataset_config(value: Any) -> bool:
    """Whether a config is agents-cli's and not ADK's."""
    if not isinstance(value, dict) or "criteria" in value:
        return False
    return METRICS in value or isinstance(value.get(CUSTOM), list)


def read_dataset_config(document: Document, text_of: Callable[[str], str]) -> ConfigFile:
    """Read the file; `text_of` gives the text of a file that is named from the config's folder."""
    return _Reader(document, text_of).read()


class _Reader:
    def __init__(self, document: Document, text_of: Callable[[str], str]) -> None:
        self.document = document
        self.text_of = text_of
        unknown = KeyReader(document).unknown(document.value, frozenset({METRICS, CUSTOM}))
        self.findings: list[Finding] = [*document.warnings, *unknown]
        self.criteria: dict[str, float | dict[str, Any]] = {}
        self.custom: dict[str, dict[str, Any]] = {}
        self.groups: dict[str, str | None] = {}

    def read(self) -> ConfigFile:
        wanted = self.document.value.get(METRICS) or []
        if not isinstance(wanted, list):
            self.remark(f"`{METRICS}` must be a list of names", METRICS)
            wanted = []
        entries = dict(self._entries())
        for index, name in enumerate(wanted):
            self._metric(name, entries, (METRICS, index))
        if not wanted:
            self.remark(f"`{METRICS}` names no metric: add one", METRICS)
        config = EvalConfig(criteria=self.criteria, custom_metrics=self.custom)
        return ConfigFile(config, self.document, tuple(self.findings), self.groups)

    def remark(self, message: str, *path: Key) -> None:
        self.findings.append(self.document.finding(message, *path))

    def _entries(self) -> Iterator[tuple[str, tuple[int, dict[str, Any]]]]:
        entries = self.document.value.get(CUSTOM) or []
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict) and isinstance(entry.get("name"), str):
                yield entry["name"], (index, entry)
            else:
                self.remark("must be an object with a `name`", CUSTOM, index)

    def _metric(
        self, name: Any, entries: Mapping[str, tuple[int, dict[str, Any]]], path: tuple[Key, ...]
    ) -> None:
        if not isinstance(name, str):
            self.remark("must be the name of a metric", *path)
            return
        index, entry = entries.get(name, (0, {}))
        if _FUNCTION in entry or _FUNCTION_FILE in entry:
            self._function(name, entry, (CUSTOM, index))
        elif "prompt_template" in entry:
            hint = "write rubrics for `final_response_quality`, or a `custom_function`"
            message = f"`{name}` is a prompt of its own, which is not supported: {hint}"
            self.remark(message, CUSTOM, index, "prompt_template")
        else:
            self._built_in(name, entry, path)

    def _built_in(self, name: str, entry: Mapping[str, Any], path: tuple[Key, ...]) -> None:
        base = _VERSION.sub("", name.lower())
        criterion = COUNTERPARTS.get(base)
        if criterion is None:
            instead = next((text for key, text in _INSTEAD.items() if base.startswith(key)), None)
            hint = f"use {instead}" if instead else nearest(base, COUNTERPARTS)
            self.remark(f"`{name}` has no counterpart among the criteria: {hint}", *path)
            return
        self.criteria[criterion] = {"threshold": entry.get("threshold", THRESHOLD)}
        if criterion in RUBRIC_TYPES:
            parameters = entry.get("metric_spec_parameters") or {}
            self.groups[RUBRIC_TYPES[criterion]] = parameters.get("rubric_group_key")

    def _function(self, name: str, entry: dict[str, Any], path: tuple[Key, ...]) -> None:
        source = self._source(entry, path)
        if source is None:
            return
        for key in entry.keys() - _KNOWN:
            told = notice("config.unknown_field", criterion=name, field=key)
            self.findings.append(self.document.finding(told, *path, key, level="warning"))
        if entry.get("execution", "local") != "local":
            told = notice("dataset.run_here", metric=name)
            self.findings.append(self.document.finding(told, *path, "execution", level="warning"))
        if "threshold" not in entry:
            told = notice("dataset.no_threshold", metric=name)
            self.findings.append(self.document.finding(told, *path, level="warning"))
        self.criteria[name] = {key: entry[key] for key in ("threshold",) if key in entry}
        ours: dict[str, Any] = {k: entry[k] for k in ("lower_is_better", "range") if k in entry}
        self.custom[name] = {_FUNCTION: source, **ours}

    def _source(self, entry: dict[str, Any], path: tuple[Key, ...]) -> str | None:
        inline, file = entry.get(_FUNCTION), entry.get(_FUNCTION_FILE)
        if inline is not None and file is not None:
            self.remark(f"has both `{_FUNCTION}` and `{_FUNCTION_FILE}`: keep one", *path)
            return None
        if file is None:
            if isinstance(inline, str):
                return inline
            self.remark("must be Python source in a text", *path, _FUNCTION)
            return None
        try:
            return self.text_of(str(file))
        except FileError as error:
            self.remark(f"{file}: {error.message}", *path, _FUNCTION_FILE)
            return None


def with_rubrics(eval_set: EvalSetFile, config: ConfigFile) -> EvalSetFile:
    """The set with each case's rubric groups as rubrics of the criteria that ask about them."""
    cases: list[PlacedCase] = []
    findings = list(eval_set.findings)
    for case in eval_set.cases:
        try:
            rubrics = tuple(_rubrics(case, config.rubric_groups))
        except _SeveralGroupsError as error:
            findings.append(eval_set.document.finding(str(error), *case.path))
            rubrics = ()
        definition = case.definition
        if rubrics:
            definition = definition.model_copy(update={"rubrics": rubrics})
        cases.append(replace(case, definition=definition))
    return replace(eval_set, cases=tuple(cases), findings=tuple(findings))


class _SeveralGroupsError(ValueError):
    """Nobody says which of a case's groups is meant."""


def _rubrics(case: PlacedCase, asked: Mapping[str, str | None]) -> Iterator[Rubric]:
    groups = case.dataset.rubric_groups if case.dataset else {}
    if groups and not asked:  # a config of ADK's: rubrics go by their own type
        for group in groups.values():
            usual = RUBRIC_TYPES["rubric_based_final_response_quality_v1"]
            yield from (one.model_copy(update={"type": one.type or usual}) for one in group.rubrics)
    for kind, key in asked.items():
        if key is None and len(groups) > 1:
            named = ", ".join(f"`{name}`" for name in groups)
            message = (
                f"has the rubric groups {named}: name one with `rubric_group_key` in the config"
            )
            raise _SeveralGroupsError(message)
        chosen = groups.values() if key is None else [groups[key]] if key in groups else []
        for group in chosen:
            yield from (one.model_copy(update={"type": kind}) for one in group.rubrics)
