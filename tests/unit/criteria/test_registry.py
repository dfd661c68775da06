import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gradegate import criteria
from gradegate.criteria import registry
from gradegate.criteria.registry import INFORMATIONAL
from gradegate.model.result import Scale

FILES = sorted(Path(criteria.__path__[0]).glob("*.py"))


def names_written_in(file: Path) -> Iterator[str]:
    """The names that classes of a file give themselves."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        for statement in node.body if isinstance(node, ast.ClassDef) else ():
            match statement:
                case ast.AnnAssign(ast.Name("name"), value=ast.Constant(str(name))):
                    yield name


def test_every_file_with_a_criterion_is_found() -> None:
    """A new criterion is a new file in the folder, and nothing else."""
    written = [name for file in FILES for name in names_written_in(file)]

    assert sorted(written) == sorted(registry.built())
    assert {"tool_trajectory_avg_score", "response_match_score"} <= set(written)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_holds_one_criterion_or_one_family(file: Path) -> None:
    """Several in one file have a base class there, and differ in what it asks of them."""
    names = list(names_written_in(file))
    if len(names) > 1:
        here = f"{criteria.__name__}.{file.stem}"
        bases = [set(registry.built()[name].__mro__[1:]) for name in names]
        assert any(base.__module__ == here for base in set.intersection(*bases))


@pytest.mark.parametrize("name", sorted(registry.built()))
def test_a_criterion_says_what_it_is(name: str) -> None:
    """It can be scored, and it has one line of explanation."""
    cls = registry.built()[name]

    assert cls.name == name
    assert callable(getattr(cls, "score", None))
    assert cls.summary
    assert "\n" not in cls.summary


def test_all_of_adks_names_are_known() -> None:
    """Those that are scored, and those that only inform."""
    assert set(registry.known()) == INFORMATIONAL | registry.built().keys()
    assert not INFORMATIONAL & registry.built().keys()


def test_a_criterion_moves_between_its_own_bounds() -> None:
    """Nearly all from 0 to 1; what only informs is better low."""
    assert registry.scale_of("response_evaluation_score") == Scale(low=1, high=5)
    assert registry.scale_of("safety_v1") == registry.scale_of("of_a_user") == Scale()
    assert registry.scale_of("token_usage_v1").lower_is_better


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("response_match", "response_match_score"),
        ("tool_trajectory_score", "tool_trajectory_avg_score"),
        ("toolTrajectoryAvgScore", "tool_trajectory_avg_score"),
        ("RESPONSE_MATCH_SCORE", "response_match_score"),
        ("hallucination_v1", "hallucinations_v1"),
        ("final_response_match_v1", "final_response_match_v2"),
        ("token_usage", "token_usage_v1"),
    ],
)
def test_an_unknown_name_suggests_the_nearest(written: str, meant: str) -> None:
    """A slip in a name is answered with the name that was probably meant."""
    with pytest.raises(registry.UnknownCriterionError) as caught:
        registry.parse(written, 0.5)

    assert str(caught.value) == f"unknown criterion `{written}`: did you mean `{meant}`?"


def test_a_name_that_is_near_nothing_lists_all() -> None:
    """Where nothing is near, everything known is named."""
    with pytest.raises(registry.UnknownCriterionError, match="unknown criterion `xyz`: known are"):
        registry.parse("xyz", 0.5)


@pytest.mark.parametrize("name", sorted(INFORMATIONAL))
@pytest.mark.parametrize("entry", [100, {"threshold": 100}])
def test_what_only_informs_takes_no_threshold(name: str, entry: float | dict[str, Any]) -> None:
    """The message says where a budget goes instead."""
    with pytest.raises(registry.NoThresholdError, match="takes no threshold") as caught:
        registry.parse(name, entry)

    assert f'{name} = "+20%" under [gate.budget]' in str(caught.value)


@pytest.mark.parametrize("entry", [0.25, {"threshold": 0.25}, {"threshold": 0.25, "new": 1}])
def test_an_entry_is_a_threshold_or_an_object(entry: float | dict[str, Any]) -> None:
    """Both say the same, and a field of a newer ADK does no harm."""
    assert registry.parse("response_match_score", entry).threshold == 0.25


@pytest.mark.parametrize("entry", [{}, {"threshold": "high"}, float("nan"), float("inf")])
def test_an_entry_without_a_usable_threshold_is_refused(entry: float | dict[str, Any]) -> None:
    """A threshold is a finite number, and there is no default for it."""
    with pytest.raises(ValidationError, match="threshold"):
        registry.parse("response_match_score", entry)


@pytest.mark.parametrize(
    ("entry", "unknown"),
    [
        (1.0, []),
        ({"threshold": 1, "match_type": "EXACT", "ignoreArgs": True}, []),
        ({"threshold": 1, "include_intermediate_responses_in_final": True}, []),
        ({"threshold": 1, "matchTypes": "EXACT", "ignore": True}, ["matchTypes", "ignore"]),
    ],
)
def test_fields_nobody_knows_are_named(entry: float | dict[str, Any], unknown: list[str]) -> None:
    """In the order written, in snake_case or camelCase, without those ADK gives to all."""
    assert registry.unknown_fields("tool_trajectory_avg_score", entry) == unknown
