"""An `EvalConfig` file: read, checked by itself, and checked against the cases it is for."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from gradegate.criteria import registry
from gradegate.criteria.custom import CustomConfig
from gradegate.evalsets.explain import nearest, schema_findings
from gradegate.evalsets.finding import Finding
from gradegate.evalsets.positions import Document, Key
from gradegate.model.evalset import DEFAULT_EVAL_CONFIG, EvalConfig

CONFIG_FILE = "test_config.json"


@dataclass(frozen=True)
class ConfigFile:
    """Which criteria apply, where that is written (None: nowhere, the default), and remarks."""

    config: EvalConfig = DEFAULT_EVAL_CONFIG
    document: Document | None = None
    findings: tuple[Finding, ...] = ()


def read_config(document: Document) -> ConfigFile:
    """Read a parsed EvalConfig file, with everything that is wrong with it."""
    value = document.value
    if isinstance(value, dict):
        value = {key: entry for key, entry in value.items() if entry is not None}
    try:
        config = EvalConfig.model_validate(value)
    except ValidationError as error:
        findings = (*document.warnings, *schema_findings(document, error))
        return ConfigFile(document=document, findings=findings)
    read = ConfigFile(config, document)
    return replace(read, findings=(*document.warnings, *_criteria_findings(document, config)))


def _criteria_findings(document: Document, config: EvalConfig) -> Iterator[Finding]:
    yield from _custom_findings(document, config)
    for name, entry in config.criteria.items():
        path = document.resolve(("criteria", name))
        if name in config.custom_metrics:
            continue
        if name not in registry.known():
            hint = nearest(name, registry.known())
            yield document.finding(f"unknown criterion `{name}`: {hint}", *path)
        elif name in registry.INFORMATIONAL:
            yield from _informational(document, name, entry, path)
        else:
            yield from _criterion(document, name, entry, path)


def _custom_findings(document: Document, config: EvalConfig) -> Iterator[Finding]:
    for name, entry in config.custom_metrics.items():
        path = document.resolve(("custom_metrics", name))
        try:
            CustomConfig.model_validate(entry)
        except ValidationError as error:
            yield from schema_findings(document, error, *path)
        if name not in config.criteria:
            message = f"`{name}` is never scored: give it a threshold under `criteria`"
            yield document.finding(message, *path, level="warning")


def _informational(
    document: Document, name: str, entry: float | dict[str, Any], path: tuple[Key, ...]
) -> Iterator[Finding]:
    if not isinstance(entry, dict) or "threshold" in entry:
        message = f"`{name}` only informs and takes no threshold: remove it here"
        yield document.finding(
            f'{message}, and write {name} = "+20%" under [gate.budget] in gradegate.toml', *path
        )


def _criterion(
    document: Document, name: str, entry: float | dict[str, Any], path: tuple[Key, ...]
) -> Iterator[Finding]:
    try:
        criterion = registry.parse(name, entry)
    except ValidationError as error:
        yield from schema_findings(document, error, *path)
        return
    scale = registry.scale_of(name)
    low, high = scale.low, scale.high
    if not low <= criterion.threshold <= high:
        place = document.resolve((*path, "threshold"))
        message = f"the threshold {criterion.threshold:g} of `{name}` is out of range"
        yield document.finding(f"{message}: write a number from {low:g} to {high:g}", *place)
    for unknown in registry.unknown_fields(name, entry):
        message = f"`{name}` has no field `{unknown}`: it is ignored"
        yield document.finding(message, *path, unknown, level="warning")
    for rubric_id, count in Counter(rubric_ids(entry)).items():
        if count > 1:
            message = f"two rubrics of `{name}` have the id `{rubric_id}`: give each its own"
            yield document.finding(message, *path, "rubrics")


def rubric_ids(entry: float | dict[str, Any]) -> list[str]:
    """The ids of the rubrics that a criterion's own entry lists."""
    rubrics = entry.get("rubrics") if isinstance(entry, dict) else None
    listed = rubrics if isinstance(rubrics, list) else []
    named = [r.get("rubric_id", r.get("rubricId")) for r in listed if isinstance(r, dict)]
    return [rubric_id for rubric_id in named if isinstance(rubric_id, str)]
