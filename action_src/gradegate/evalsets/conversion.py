"""An eval set of ADK's as an EvaluationDataset, and the other way round.

What both can say is carried over; what only one can say is listed, case by case.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradegate.criteria.rubric_based import RUBRIC_TYPES
from gradegate.evalsets.config import ConfigFile
from gradegate.evalsets.dataset_config import COUNTERPARTS, CUSTOM, METRICS, THRESHOLD
from gradegate.evalsets.formats import EvalSetFile, PlacedCase
from gradegate.files.json_document import Key
from gradegate.model.base import AdkValue
from gradegate.model.evalset import EvalCase, Invocation, Rubric

_METRIC_OF = {criterion: metric for metric, criterion in reversed(list(COUNTERPARTS.items()))}
_GROUP_OF = {RUBRIC_TYPES[name]: _METRIC_OF[name] for name in RUBRIC_TYPES if name in _METRIC_OF}


@dataclass
class Converted:
    """The other format's set and config, and what they cannot say."""

    eval_set: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)


def to_dataset(source: EvalSetFile, config: ConfigFile) -> Converted:
    """An EvaluationDataset with its eval_config."""
    made = Converted()
    own = _own_rubrics(config)
    cases = [_dataset_case(case, own, _Losses(source, case, made.lost)) for case in source.cases]
    made.eval_set = {"eval_cases": cases}
    made.config = _dataset_config(config, made.lost)
    return made


def to_eval_set(source: EvalSetFile, config: ConfigFile) -> Converted:
    """An eval set of ADK's with its EvalConfig; `source` has its rubrics by type."""
    made = Converted()
    cases = [_adk_case(case, config, _Losses(source, case, made.lost)) for case in source.cases]
    made.eval_set = {"eval_set_id": source.eval_set_id, "eval_cases": cases}
    criteria = dict(config.config.criteria)
    for name in config.config.custom_metrics:
        criteria.pop(name, None)
        made.lost.append(_of_config(config, name, "a function that google-adk cannot call"))
    made.config = {"criteria": criteria}
    return made


@dataclass(frozen=True)
class _Losses:
    """Where to note what a case says and the other format cannot."""

    source: EvalSetFile
    case: PlacedCase
    into: list[str]

    def note(self, what: str) -> None:
        place = f"{self.source.document.path}:{self.case.line}"
        self.into.append(f"{place}: {self.case.definition.eval_id}: {what}")


def _dataset_case(
    case: PlacedCase, own: Mapping[str, Sequence[Rubric]], losses: _Losses
) -> dict[str, Any]:
    definition = case.definition
    made: dict[str, Any] = {"eval_case_id": definition.eval_id}
    if scenario := definition.conversation_scenario:
        made["user_scenario"] = _plain(scenario, "starting_prompt", "conversation_plan")
        if scenario.user_persona:
            losses.note("`user_persona` has no place in a dataset")
    elif turns := definition.conversation:
        made |= _asked(turns, losses)
    if session := definition.session_input:
        made["session_inputs"] = _session(_plain(session), losses)
    if groups := dict(_groups(definition, own, losses)):
        made["rubric_groups"] = groups
    return made


def _asked(turns: Sequence[Invocation], losses: _Losses) -> dict[str, Any]:
    *before, last = turns
    made: dict[str, Any] = {}
    if last.final_response:
        made["reference"] = {"response": _plain(last.final_response)}
    for number, turn in enumerate(turns, start=1):
        if turn.tool_calls:
            losses.note(f"turn {number}: the expected tool calls have no place in a dataset")
        if turn.rubrics:
            losses.note(f"turn {number}: rubrics of a turn have no place in a dataset")
    if not before:
        return {"prompt": _plain(last.user_content), **made}
    losses.note("what is said before the last message becomes history: it is not evaluated")
    events = [list(_events(turn)) for turn in before]
    events.append([{"author": "user", "content": _plain(last.user_content)}])
    listed = [{"turn_index": index, "events": each} for index, each in enumerate(events)]
    return {"agent_data": {"turns": listed}, **made}


def _events(turn: Invocation) -> Iterator[dict[str, Any]]:
    yield {"author": "user", "content": _plain(turn.user_content)}
    if turn.final_response:
        yield {"author": "agent", "content": _plain(turn.final_response)}


def _session(session: dict[str, Any], losses: _Losses) -> dict[str, Any]:
    """A dataset's state holds texts alone."""
    state = session.get("state") or {}
    texts = {key: value for key, value in state.items() if isinstance(value, str)}
    for key in state.keys() - texts.keys():
        losses.note(f"`{key}` of the session's state is no text")
    for key in session.keys() - {"app_name", "user_id", "state"}:
        losses.note(f"`{key}` of the session has no place in a dataset")
    named = {key: session[key] for key in ("app_name", "user_id") if session.get(key)}
    return {**named, "state": texts}


def _groups(
    case: EvalCase, own: Mapping[str, Sequence[Rubric]], losses: _Losses
) -> Iterator[tuple[str, dict[str, Any]]]:
    known = {kind.upper() for kind in _GROUP_OF}
    for rubric in case.rubrics or ():
        if (rubric.type or "").upper() not in known:
            losses.note(f"the rubric `{rubric.rubric_id}` has a type that no metric asks about")
    for kind, group in _GROUP_OF.items():
        listed = [one for one in case.rubrics or () if (one.type or "").upper() == kind]
        if rubrics := [*own.get(kind, ()), *listed]:
            yield group, {"rubrics": [_dataset_rubric(one) for one in rubrics]}


def _dataset_rubric(rubric: Rubric) -> dict[str, Any]:
    text = rubric.rubric_content.text_property or rubric.description or ""
    return {"rubric_id": rubric.rubric_id, "content": {"property": {"description": text}}}


def _own_rubrics(config: ConfigFile) -> dict[str, list[Rubric]]:
    """Rubrics of the config, which a dataset has in each case, by type."""
    found: dict[str, list[Rubric]] = {}
    for name, kind in RUBRIC_TYPES.items():
        entry = config.config.criteria.get(name)
        listed = entry.get("rubrics") if isinstance(entry, dict) else None
        found[kind] = [Rubric.model_validate(one) for one in listed or ()]
    return found


def _dataset_config(config: ConfigFile, lost: list[str]) -> dict[str, Any]:
    metrics: list[str] = []
    entries: list[dict[str, Any]] = []
    for name, written in config.config.criteria.items():
        metric = _METRIC_OF.get(name)
        if metric is None or name in config.config.custom_metrics:
            lost.append(_of_config(config, name, "no metric of a dataset means the same"))
            continue
        metrics.append(metric)
        options = written if isinstance(written, dict) else {"threshold": written}
        entry = {"name": metric, "threshold": options.get("threshold", THRESHOLD)}
        if name in RUBRIC_TYPES:
            entry["metric_spec_parameters"] = {"rubric_group_key": metric}
        entries.append(entry)
        lost.extend(
            _of_config(config, f"{name}.{key}", "has no place in a dataset's config")
            for key in sorted(options.keys() - {"threshold", "rubrics"})
        )
    return {METRICS: metrics, CUSTOM: entries}


def _adk_case(case: PlacedCase, config: ConfigFile, losses: _Losses) -> dict[str, Any]:
    definition, own = case.definition, case.dataset
    made: dict[str, Any] = {"eval_id": definition.eval_id}
    if own and own.history:
        losses.note("what was said before the last message has no place in an eval set")
    for name in own.fields if own else ():
        losses.note(f"`{name}` has no place in an eval set")
    asked = {key for key in config.rubric_groups.values() if key}
    for name in own.rubric_groups if own and asked else ():
        if name not in asked:
            losses.note(f"no metric asks about the rubric group `{name}`")
    if definition.conversation_scenario:
        made["conversation_scenario"] = _plain(definition.conversation_scenario)
    else:
        made["conversation"] = [_adk_turn(turn) for turn in definition.conversation or ()]
    if definition.session_input:
        session = _plain(definition.session_input)
        made["session_input"] = {"app_name": "", "user_id": "", **session}
    if definition.rubrics:
        made["rubrics"] = [_plain(rubric) for rubric in definition.rubrics]
    return made


def _adk_turn(turn: Invocation) -> dict[str, Any]:
    return _plain(turn, "invocation_id", "user_content", "final_response")


def _of_config(config: ConfigFile, name: str, what: str) -> str:
    path: tuple[Key, ...] = ("criteria", name.partition(".")[0])
    place = ""
    if config.document:
        place = f"{config.document.path}:{config.document.position(*path)[0]}: "
    return f"{place}{name}: {what}"


def _plain(value: AdkValue, *names: str) -> dict[str, Any]:
    """As JSON, in snake_case, without what is not set; only these fields, where any is named."""
    include = set(names) if names else None
    return value.model_dump(mode="json", exclude_none=True, exclude_unset=True, include=include)
