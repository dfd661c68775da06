"""Texts compared before they are clipped."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradegate.compare.clipping import ELIDED, clip_together

TEXTS = st.text(alphabet="ab .\n", max_size=3_000)


def test_short_texts_stay_as_they_are() -> None:
    """Nothing is left out of what fits."""
    assert clip_together("one", "two", 3) == ("one", "two")


@pytest.mark.parametrize("place", [0, 2_500, 5_000])
def test_one_changed_letter_in_a_text_without_words_is_found(place: int) -> None:
    """As in what is encoded, which has no sentences and no lines."""
    old = "x" * 5_000
    new = f"{old[:place]}y{old[place:]}"
    left, right = clip_together(old, new, 2_000)
    assert right.replace("y", "", 1) == left
    assert max(len(left), len(right)) <= 2_000


def test_two_changes_far_apart_are_both_kept() -> None:
    """With what stands around them, and a mark for what is left out."""
    old = "".join(f"Sentence {number}. " for number in range(2_000))
    new = old.replace("Sentence 100. ", "First! ").replace("Sentence 1900. ", "Last! ")
    left, right = clip_together(old, new, 4_000)
    assert "First! " in right
    assert "Last! " in right
    assert "Sentence 100. " in left
    assert left.count(ELIDED) == right.count(ELIDED) == 3


@given(before=TEXTS, after=TEXTS)
@settings(max_examples=50)
def test_texts_that_differ_still_differ(before: str, after: str) -> None:
    """And those that do not still do not."""
    left, right = clip_together(before, after, 1_000)
    assert (left == right) is (before == after)
    assert max(len(left), len(right)) <= 1_001
