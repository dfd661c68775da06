"""An `EvalConfig` file: read, checked by itself, and checked against the cases it is for."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from gradegate import locales
from gradegate.criteria import registry
from gradegate.criteria.base.criterion import Criterion
from gradegate.criteria.custom import CustomConfig
from gradegate.criteria.rubric_based import RUBRIC_TYPES, of_type, rubric_ids
from gradegate.evalsets import keys
from gradegate.evalsets.formats import EvalSetFile, PlacedCase
from gradegate.files.findings import Finding
from gradegate.files.json_document import Document, Key
from gradegate.files.schema_errors import nearest, schema_findings
from gradegate.model.evalset import DEFAULT_EVAL_CONFIG, EvalCase, EvalConfig, Rubric
from gradegate.model.notice import notice
from gradegate.ports import Needs


@dataclass(frozen=True)
class ConfigFile:
    """Which criteria apply, where that is written (None: nowhere, the default), and remarks."""

    config: EvalConfig = DEFAULT_EVAL_CONFIG
    document: Document | None = None
    findings: tuple[Finding, ...] = ()
    rubric_groups: Mapping[str, str | None] = field(default_factory=dict)
    """Of an EvaluationDataset's config: a type of rubrics → the group of a case that has them."""


def read_config(document: Document) -> ConfigFile:
    """Read a parsed EvalConfig file, with everything that is wrong with it."""
    value = document.value
    noted = (*document.warnings, *keys.KeyReader(document).unknown(value, keys.CONFIG))
    if isinstance(value, dict):
        value = {key: entry for key, entry in value.items() if entry is not None}
    try:
        config = EvalConfig.model_validate(value)
    except ValidationError as error:
        findings = (*noted, *schema_findings(document, error))
        return ConfigFile(document=document, findings=findings)
    read = ConfigFile(config, document)
    return replace(read, findings=(*noted, *_criteria_findings(document, config)))


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
            told = notice("config.never_scored", criterion=name)
            yield document.finding(told, *path, level="warning")


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
        told = notice("config.unknown_field", criterion=name, field=unknown)
        yield document.finding(told, *path, unknown, level="warning")
    for rubric_id, count in Counter(rubric_ids(entry)).items():
        if count > 1:
            message = f"two rubrics of `{name}` have the id `{rubric_id}`: give each its own"
            yield document.finding(message, *path, "rubrics")


def fit_findings(eval_set: EvalSetFile, config: ConfigFile) -> tuple[Finding, ...]:
    """What a set and its config, each fine by itself, do not have for each other."""
    return (
        *_rubrics(eval_set, config),
        *_references(eval_set, config),
        *_simulated(eval_set, config),
    )


def _rubrics(eval_set: EvalSetFile, config: ConfigFile) -> Iterator[Finding]:
    for name in [name for name in config.config.criteria if name in RUBRIC_TYPES]:
        own = rubric_ids(config.config.criteria[name])
        theirs = [_case_rubrics(case.definition, name) for case in eval_set.cases]
        if config.document and eval_set.cases and not own and not any(theirs):
            message = f"`{name}` has no rubrics, and no case of {eval_set.document.path} has any"
            path = config.document.resolve(("criteria", name))
            hint = f"add `rubrics` here, or to the cases with type {RUBRIC_TYPES[name]}"
            yield config.document.finding(f"{message}: {hint}", *path)
        for case, ids in zip(eval_set.cases, theirs, strict=True):
            twice = [i for turn in ids for i, n in Counter([*own, *turn]).items() if n > 1]
            if twice and len(own) == len(set(own)):
                message = f"`{case.definition.eval_id}` has two rubrics with the id `{twice[0]}`"
                hint = f"for `{name}`: give each its own"
                yield eval_set.document.finding(f"{message} {hint}", *case.path)


def _case_rubrics(case: EvalCase, name: str) -> tuple[tuple[str, ...], ...]:
    """The ids that apply to each turn; empty where no turn has any."""

    def ids(rubrics: tuple[Rubric, ...] | None) -> tuple[str, ...]:
        return tuple(rubric.rubric_id for rubric in of_type(rubrics, name))

    whole = ids(case.rubrics)
    turns = tuple((*whole, *ids(turn.rubrics)) for turn in case.conversation or ())
    every = turns or (whole,)
    return every if any(every) else ()


def _references(eval_set: EvalSetFile, config: ConfigFile) -> Iterator[Finding]:
    """A warning a criterion: for the cases it is not evaluated on, and for partly scored ones."""
    for name in _reference_criteria(config):
        cls = registry.criterion_class(name)
        cases = [case for case in eval_set.cases if case.definition.turns]
        left = [(case, len(case.definition.turns) - _referenced(cls, case)) for case in cases]
        without = [case for case, lacking in left if lacking == len(case.definition.turns)]
        if cls and without:
            told = notice(
                "config.no_reference",
                criterion=name,
                n=locales.count(len(without)),
                total=locales.count(len(eval_set.cases)),
                why=cls.no_reference,
            )
            yield eval_set.document.finding(told, *without[0].path, level="warning")
        for case, lacking in left:
            if lacking and case not in without:
                yield _partly(eval_set, name, case, lacking)


def _referenced(cls: type[Criterion] | None, case: PlacedCase) -> int:
    return cls.turns_with_reference(case.definition) if cls else 0


def _partly(eval_set: EvalSetFile, name: str, case: PlacedCase, lacking: int) -> Finding:
    """The whole case is scored, as google-adk does."""
    told = notice(
        "config.partly_referenced",
        criterion=name,
        case=case.definition.eval_id,
        n=locales.count(lacking),
        total=locales.count(len(case.definition.turns)),
    )
    return eval_set.document.finding(told, *case.path, level="warning")


def _simulated(eval_set: EvalSetFile, config: ConfigFile) -> Iterator[Finding]:
    simulated = [case for case in eval_set.cases if case.definition.is_simulated]
    if not simulated:
        return
    simulator = config.config.user_simulator_config
    for case in simulated if simulator and not simulator.mentions_persona else ():
        scenario = case.definition.conversation_scenario
        if scenario and scenario.user_persona:
            message = f"`{case.definition.eval_id}` has a `user_persona`"
            hint = "which `custom_instructions` do not mention: add {{ persona.description }}"
            yield eval_set.document.finding(f"{message}, {hint}", *case.path)
    for name in _reference_criteria(config):
        told = notice(
            "config.simulated",
            criterion=name,
            simulated=locales.count(len(simulated)),
            total=locales.count(len(eval_set.cases)),
        )
        yield eval_set.document.finding(told, *simulated[0].path, level="warning")


def _reference_criteria(config: ConfigFile) -> list[str]:
    return [name for name in config.config.criteria if _needs(name, config).reference]


def _needs(name: str, config: ConfigFile) -> Needs:
    """What a criterion needs; a custom metric of the same name keeps its needs to itself."""
    if name in config.config.custom_metrics:
        return Needs()
    cls = registry.criterion_class(name)
    return cls.needs if cls else Needs()
