"""Which criteria there are. A new one is a new file in this folder, and nothing else."""

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import chain

from gradegate import criteria
from gradegate.criteria import custom
from gradegate.criteria.base.criterion import Criterion, Entry, entry_fields
from gradegate.criteria.base.judged import Judged, judged_answer, judged_rubrics
from gradegate.criteria.base.prompts import Prompt
from gradegate.criteria.efficiency import METRICS
from gradegate.model.errors import InputError, did_you_mean
from gradegate.model.evalset import EvalConfig
from gradegate.model.notice import Notice
from gradegate.model.result import InvocationResult, Scale

INFORMATIONAL = frozenset(METRICS)
"""Always reported, never given a threshold: they get budgets instead."""


class UnknownCriterionError(InputError):
    """A name that is no criterion's."""

    def __init__(self, name: str) -> None:
        near = did_you_mean(name.lower(), known())
        hint = f"did you mean `{near}`?" if near else f"known are {', '.join(known())}"
        super().__init__(f"unknown criterion `{name}`: {hint}")


class NoThresholdError(InputError):
    """A threshold for a criterion that only informs."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"`{name}` only informs and takes no threshold: "
            f'write {name} = "+20%" under [gate.budget] in gradegate.toml'
        )


@cache
def built() -> Mapping[str, type[Criterion]]:
    """Every criterion that can be scored, by name."""
    for module in pkgutil.iter_modules(criteria.__path__):
        import_module(f"{criteria.__name__}.{module.name}")
    all_of_them = _subclasses(Criterion)  # type: ignore[type-abstract] # only looked up
    return {cls.name: cls for cls in all_of_them if hasattr(cls, "name")}


def _subclasses(cls: type[Criterion]) -> list[type[Criterion]]:
    return [sub for direct in cls.__subclasses__() for sub in (direct, *_subclasses(direct))]


def known() -> tuple[str, ...]:
    """Every criterion's name, also of those that take no threshold."""
    return tuple(sorted(INFORMATIONAL | built().keys()))


def criterion_class(name: str) -> type[Criterion] | None:
    """The class behind a name; None where there is no such criterion."""
    return built().get(name)


@cache
def scale_of(name: str) -> Scale:
    """Between which scores a criterion moves."""
    if name in INFORMATIONAL:
        return Scale(lower_is_better=True)
    cls = criterion_class(name)
    return Scale(low=cls.range[0], high=cls.range[1]) if cls else Scale()


def prompt_versions(name: str) -> tuple[str, ...]:
    """What a criterion asks its judge with: a new version is another question."""
    cls = criterion_class(name)
    there = vars(import_module(cls.__module__)).values() if cls else ()
    prompts = (one for one in there if isinstance(one, Prompt))
    return tuple(sorted(f"{one.template} {one.version}" for one in prompts))


def evidence(name: str, turn: InvocationResult) -> Iterator[Judged]:
    """What a criterion, or a user's own metric, has to show of a turn."""
    cls = criterion_class(name)
    return cls.evidence(turn) if cls else chain(judged_rubrics(turn), judged_answer(turn))


def loosened(name: str, base: EvalConfig, head: EvalConfig) -> Iterator[Notice]:
    """What head asks less of the agent in the entry of a criterion that both sides have."""
    was, now = base.criteria[name], head.criteria[name]
    cls = criterion_class(name)
    if cls is None or name in base.custom_metrics:
        return custom.loosened(base.custom_metrics.get(name, {}), was, now)
    return cls.loosened(was, now)


def parse(name: str, entry: Entry) -> Criterion:
    """An `EvalConfig` entry as the criterion it configures.

    Raises UnknownCriterionError, NoThresholdError for one that only informs, or pydantic's
    ValidationError for a wrong field.
    """
    if name in INFORMATIONAL:
        raise NoThresholdError(name)
    cls = criterion_class(name)
    if cls is None:
        raise UnknownCriterionError(name)
    return cls.model_validate(entry_fields(entry))


def unknown_fields(name: str, entry: Entry) -> list[str]:
    """Fields that the criterion does not know, in the order written."""
    cls = criterion_class(name)
    if cls is None or not isinstance(entry, Mapping):
        return []
    fields = cls.model_fields
    taken = set(fields) | {field.alias for field in fields.values()} | COMMON_FIELDS
    return [key for key in entry if key not in taken]


COMMON_FIELDS = frozenset(
    {"include_intermediate_responses_in_final", "includeIntermediateResponsesInFinal"}
)
"""ADK's base criterion has these, whether a criterion reads them or not."""
