"""The paths at which two values differ."""

from typing import Any

import pytest

from gradegate.model.differences import around_difference, path_changes


def told(before: Any, after: Any, room: int = 60) -> list[str]:
    """Each change as one would read it."""
    return [" ".join((one.path, *one.shown(room))).strip() for one in path_changes(before, after)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {"a": 2}, ["a 1 2"]),
        ({"a": 1}, {"b": 1}, ["a 1", "b  1"]),
        ({"a": None}, {}, ["a null"]),
        ({"a b": {"c": "x"}}, {"a b": {"c": "y"}}, ['["a b"].c "x" "y"']),
        ({"a": [1, 2, 3]}, {"a": [1, 3]}, ["a[1] 2"]),
        ({"a": [1, 3]}, {"a": [1, 2, 3]}, ["a[1]  2"]),
        ({"a": [{"kg": 1}]}, {"a": {"kg": 1}}, ['a [{"kg": 1}] {"kg": 1}']),
        ({"都市": "パリ"}, {"都市": "ローマ"}, ['都市 "パリ" "ローマ"']),
    ],
)  # fmt: skip
def test_a_change_is_named_by_its_path(before: Any, after: Any, expected: list[str]) -> None:
    """The innermost place that tells."""
    assert told(before, after) == expected


def test_one_number_deep_in_the_arguments() -> None:
    """Everything around it is the same and is not shown."""

    def order(kg: float) -> dict[str, Any]:
        packages = [{"id": 1, "kg": 2.5}, {"id": 2, "kg": kg}]
        return {"to": "Paris", "note": "x" * 900, "options": {"packages": packages}}

    assert told(order(0.4), order(4.0)) == ["options.packages[1].kg 0.4 4.0"]


@pytest.mark.parametrize("place", [0, 700, 2_999])
def test_of_a_long_text_the_neighbourhood_of_the_difference_is_shown(place: int) -> None:
    """Compared first, then cut: the two never look alike."""
    text = "abcdefghij" * 300
    changed = text[:place] + "Z" + text[place + 1 :]
    was, now = around_difference(text, changed, 60)
    assert max(len(was), len(now)) <= 60
    assert was != now
    assert "Z" in now
    assert was == now.replace("Z", text[place])


def test_texts_that_share_nothing_show_how_they_begin() -> None:
    """There is no neighbourhood."""
    assert around_difference("a" * 100, "b" * 100, 10) == ("aaaaaaaaa…", "bbbbbbbbb…")
