"""Whether a config and the cases it is for can work together."""

from collections import Counter
from collections.abc import Iterator

from gradegate.criteria import registry
from gradegate.criteria.rubrics import RUBRIC_TYPES, of_type
from gradegate.evalsets.config import ConfigFile, rubric_ids
from gradegate.evalsets.finding import Finding
from gradegate.evalsets.formats import EvalSetFile, PlacedCase
from gradegate.model.evalset import EvalCase, Rubric
from gradegate.ports import Needs


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
    """No expected tool calls is an expectation too; no expected answer is none."""
    wanting = [name for name in _reference_criteria(config) if name != "tool_trajectory_avg_score"]
    for case in eval_set.cases:
        if wanting and _has_turn_without_reference(case):
            names = ", ".join(f"`{name}`" for name in wanting)
            message = f"`{case.definition.eval_id}` has a turn without `final_response`"
            hint = f"{names} has nothing to go by there"
            yield eval_set.document.finding(f"{message}: {hint}", *case.path, level="warning")


def _has_turn_without_reference(case: PlacedCase) -> bool:
    return any(turn.final_response is None for turn in case.definition.conversation or ())


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
        message = f"`{name}` needs a reference, which simulated conversations have not"
        hint = f"it will not be evaluated on {len(simulated)} of {len(eval_set.cases)} cases"
        yield eval_set.document.finding(f"{message}: {hint}", *simulated[0].path, level="warning")


def _reference_criteria(config: ConfigFile) -> list[str]:
    return [name for name in config.config.criteria if _needs(name, config).reference]


def _needs(name: str, config: ConfigFile) -> Needs:
    """What a criterion needs; a custom metric of the same name keeps its needs to itself."""
    if name in config.config.custom_metrics:
        return Needs()
    cls = registry.criterion_class(name)
    return cls.needs if cls else Needs()
