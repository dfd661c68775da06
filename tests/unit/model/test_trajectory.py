"""Calls of three sides, side by side."""

from collections.abc import Sequence

import pytest

from gradegate.model.report import SideAnswer, ToolUse, TurnEvidence
from gradegate.model.trajectory import CallRow, Mark, Step, call_rows, steps


def calls(text: str) -> tuple[ToolUse, ...]:
    """A word a call, `tool` or `tool:argument`."""
    found = (word.partition(":") for word in text.split())
    return tuple(ToolUse(name=name, args={"x": arg} if arg else {}) for name, _, arg in found)


def told(found: Sequence[Step]) -> list[str]:
    """Each step in short: its mark, its tool, and where it is on both sides."""
    return [f"{s.mark} {(s.after or s.before).call.name} {s.numbers}" for s in found]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a b", "a b", ["same a (1, 1)", "same b (2, 2)"]),
        ("a b c", "a c", ["same a (1, 1)", "missing b (2, 0)", "same c (3, 2)"]),
        ("a c", "a b c", ["same a (1, 1)", "added b (0, 2)", "same c (2, 3)"]),
        ("a:1 b", "a:2 b", ["changed a (1, 1)", "same b (2, 2)"]),
        ("a b c", "c a b", ["moved c (3, 1)", "same a (1, 2)", "same b (2, 3)"]),
        ("a b c", "b c a", ["same b (2, 1)", "same c (3, 2)", "moved a (1, 3)"]),
        ("a:1 a:2", "a:2 a:1", ["same a (2, 1)", "moved a (1, 2)"]),
        ("a", "b", ["missing a (1, 0)", "added b (0, 1)"]),
        ("a:1 b c", "b c a:2", ["same b (2, 1)", "same c (3, 2)", "changed a (1, 3)"]),
        ("", "a", ["added a (0, 1)"]),
        ("a", "", ["missing a (1, 0)"]),
    ],
)  # fmt: skip
def test_calls_are_paired(before: str, after: str, expected: list[str]) -> None:
    """What is the same, what has other arguments, what has moved; only then what is missing."""
    assert sorted(told(steps(calls(before), calls(after)))) == sorted(expected)
    made = [s for s in steps(calls(before), calls(after)) if s.after]
    assert [s.numbers[1] for s in made] == list(range(1, len(calls(after)) + 1))


def test_every_call_of_both_sides_is_in_exactly_one_step() -> None:
    """Whatever is compared with whatever."""
    words = ["a", "b", "a:1", "a:2", "c", "b:1"]
    for seed in range(300):
        before = " ".join(words[(seed * 7 + n * n) % 6] for n in range(seed % 8))
        after = " ".join(words[(seed * 5 + n * seed) % 6] for n in range(seed % 7))
        found = steps(calls(before), calls(after))
        for side, given in ((0, calls(before)), (1, calls(after))):
            numbers = sorted(s.numbers[side] for s in found if s.numbers[side])
            assert numbers == list(range(1, len(given) + 1))
        for step in found:
            both = step.before and step.after and step.before.call == step.after.call
            assert bool(both) == (step.mark in {Mark.SAME, Mark.MOVED})


def turn(expected: str | None, base: str | None, head: str | None) -> list[str]:
    """The rows of a turn in short: the tool's number on each side and head's mark."""
    sides = {
        name: None if text is None else SideAnswer(tools=calls(text))
        for name, text in (("expected", expected), ("base", base), ("head", head))
    }
    return [short(row) for row in call_rows(TurnEvidence(asked="", **sides))]


def short(row: CallRow) -> str:
    """A row as its places, and how base and head compare."""
    places = [row.expected, row.base, row.head]
    name = next(place.call.name for place in places if place)
    numbers = "".join(str(place.number) if place else "-" for place in places)
    marks = [step.mark if step else "" for step in (row.base_step, row.head_step)]
    return f"{name} {numbers} {marks[0]}|{marks[1]}"


def test_three_sides_stand_side_by_side() -> None:
    """Base is shown beside what is expected, each of its calls once."""
    assert turn("a b", "a b", "a:1 b") == ["a 111 same|changed", "b 222 same|same"]
    assert turn("a b", "a", "a b") == ["a 111 same|same", "b 2-2 missing|same"]
    assert turn("a", "a x", "a x") == ["a 111 same|same", "x -22 added|added"]
    assert turn("a b", "a x b", "a b") == ["a 111 same|same", "x -2- added|", "b 232 same|same"]


def test_without_an_expectation_head_is_held_against_base() -> None:
    """As where rubrics alone judge a case."""
    assert turn(None, "a b", "b") == ["a -1- |missing", "b -21 |same"]
    assert turn(None, None, "a") == ["a --1 |"]


def test_a_side_that_never_answered_lacks_nothing() -> None:
    """The agent crashed: no call of it is missing, there is none at all."""
    assert turn("a", "a", None) == ["a 11- same|"]


def test_a_very_long_trajectory_is_aligned() -> None:
    """Two thousand calls on each side, one of them gone."""
    names = " ".join(f"t{n}" for n in range(2_000))
    found = [s for s in steps(calls(names), calls(names.replace("t700 ", ""))) if s.mark != "same"]
    assert told(found) == ["missing t700 (701, 0)"]
