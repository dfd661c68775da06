"""Which case of head is which case of base."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic.alias_generators import to_snake

from gradegate.model.evalset import Case, CaseKey
from gradegate.model.report import Change

_HOW_A_JUDGE_JUDGES = ("judge_model", "judge_model_config")


@dataclass(frozen=True)
class Pair:
    """A case on both sides, or on one. At least one of the two is there."""

    base: Case | None
    head: Case | None

    @property
    def case(self) -> Case:
        """Head's, or base's where head has none."""
        case = self.head or self.base
        assert case is not None  # noqa: S101 - one of the two is there
        return case

    @cached_property
    def key(self) -> CaseKey:
        """Head's name for it, or base's where head has none."""
        return self.case.key

    @property
    def line(self) -> int:
        """Where it begins in its file."""
        return self.case.line

    @cached_property
    def change(self) -> Change:
        """What the pull request did to the definition."""
        if self.base is None:
            return Change.ADDED
        if self.head is None:
            return Change.REMOVED
        return Change.SAME if _text(self.base) == _text(self.head) else Change.EDITED

    @property
    def moved_from(self) -> str | None:
        """The set's path on base, where that is another."""
        if self.base is None or self.head is None or self.base.eval_set == self.head.eval_set:
            return None
        return self.base.eval_set


def pair(base: Sequence[Case], head: Sequence[Case]) -> tuple[Pair, ...]:
    """Pair by path and id; what is left over by the set's own id, as a file that moved is."""
    by_path = _matches(base, head, lambda case: (case.suite, case.eval_set, case.eval_id))
    paired = {id(case) for match in by_path for case in match}
    rest_base = [case for case in base if id(case) not in paired]
    rest_head = [case for case in head if id(case) not in paired]
    by_set = _matches(rest_base, rest_head, lambda case: (case.eval_set_id, case.eval_id))
    paired |= {id(case) for match in by_set for case in match}
    pairs = [
        *(Pair(*match) for match in (*by_path, *by_set)),
        *(Pair(case, None) for case in base if id(case) not in paired),
        *(Pair(None, case) for case in head if id(case) not in paired),
    ]
    return tuple(sorted(pairs, key=lambda one: one.key))


def without_base(head: Iterable[Case]) -> tuple[Pair, ...]:
    """Head's cases where there is nothing to compare with: none of them is new for that."""
    return tuple(Pair(case, case) for case in sorted(head, key=lambda one: one.key))


def _matches(
    base: Sequence[Case], head: Sequence[Case], name: Callable[[Case], Hashable]
) -> list[tuple[Case, Case]]:
    """Cases whose name is the same on both sides, and nobody else's there."""
    counts = Counter(map(name, base)), Counter(map(name, head))
    known = {name(case): case for case in base if counts[0][name(case)] == 1}
    return [
        (known[name(case)], case)
        for case in head
        if name(case) in known and counts[1][name(case)] == 1
    ]


def _text(case: Case) -> tuple[Any, ...]:
    """What a person would call the definition: the case, and what it is judged by and how."""
    config = case.config
    entries = {name: one for name, one in config.criteria.items() if isinstance(one, dict)}
    rubrics = {
        name: [_rubric_text(rubric) for rubric in entry["rubrics"]]
        for name, entry in entries.items()
        if entry.get("rubrics")
    }
    judges = {name: judge for name, entry in entries.items() if (judge := _judge(entry))}
    user = config.user_simulator_config if case.definition.is_simulated else None
    return case.digest, rubrics, judges, config.custom_metrics, user, case.recording


def _judge(entry: dict[str, Any]) -> dict[str, Any]:
    """Which model judges, and what it is told: instructions of its own could sway it."""
    written = {to_snake(key): value for key, value in entry.items()}
    options = written.get("judge_model_options")
    if not isinstance(options, dict):
        return {}
    said = {to_snake(key): value for key, value in options.items()}
    return {key: said[key] for key in _HOW_A_JUDGE_JUDGES if said.get(key)}


def _rubric_text(rubric: Any) -> Any:
    """Its id and words, under either spelling of their names."""
    if not isinstance(rubric, dict):
        return rubric
    written = {to_snake(key): value for key, value in rubric.items()}
    content = written.get("rubric_content")
    if isinstance(content, dict):
        content = {to_snake(key): value for key, value in content.items()}
    return written.get("rubric_id"), content
