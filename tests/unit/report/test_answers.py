"""Answers word by word: a change is never lost, however long what surrounds it is."""

import pytest

from gradegate.locales import locale_of
from gradegate.report.answers import Line, answer_lines

EN = locale_of("en")
LONG = " ".join(f"word{n}" for n in range(400))


def changed(before: str, after: str, limit: int | None = 700) -> list[str]:
    """The lines that differ."""
    return [str(line) for line in answer_lines(before, after, limit, EN) if line.sign != " "]


@pytest.mark.parametrize("place", [0, 50, 200, 399])
@pytest.mark.parametrize("limit", [700, None])
def test_one_word_of_a_long_answer_is_found(place: int, limit: int | None) -> None:
    """Also after what there is room for: compared first, then cut."""
    after = LONG.replace(f"word{place} ", "Changed ") if place < 399 else LONG[:-7] + "Changed"
    assert changed(LONG, after, limit) == [f"- word{place}", "+ Changed"]


def test_what_surrounds_a_change_is_a_few_words() -> None:
    """Twelve on each side."""
    lines = answer_lines(LONG, LONG.replace("word200 ", "Changed "), 700, EN)
    before, *_, after = (line.text for line in lines)
    assert before.split()[0] == "…"
    assert before.split()[-1] == "word199"
    assert after.split()[0] == "word201"
    assert len(before.split()) == len(after.split()) == 13


def test_the_lines_of_an_answer_stay_lines() -> None:
    """Markdown is quoted as it was written."""
    before = "# Weather\n\n- Paris: sunny\n- Rome: rain\n"
    after = "# Weather\n\n- Paris: cloudy\n- Rome: rain\n"
    assert answer_lines(before, after, 700, EN) == (
        Line(" ", "# Weather"),
        Line(" ", ""),
        Line(" ", "- Paris:"),
        Line("-", "sunny"),
        Line("+", "cloudy"),
        Line(" ", "- Rome: rain"),
    )


def test_a_line_break_that_goes_is_a_change() -> None:
    """A list that became a paragraph reads differently."""
    assert changed("- a\n- b", "- a - b") == ["- a ⏎", "+ a"]


def test_what_there_is_no_room_for_is_counted() -> None:
    """The first change is always shown."""
    before = ". ".join(f"this is the sentence with the number {n} of them all" for n in range(40))
    lines = answer_lines(before, before.replace("number", "figure"), 300, EN)
    assert lines[-1].text.endswith("more changes")
    assert Line("+", "figure") in lines
    assert sum(len(line.text) for line in lines) < 500


@pytest.mark.parametrize("place", [10, 4_000, 7_990])
def test_of_very_long_answers_the_sentences_are_compared_first(place: int) -> None:
    """Eight thousand words, one of them changed in the midst of others that moved."""
    words = [f"w{n}." if n % 9 == 0 else f"w{n}" for n in range(8_000)]
    before = " ".join(words)
    words[place] = "Changed"
    words.insert(0, "Hello there.")
    lines = changed(before, " ".join(words), None)
    assert "+ Hello there." in lines
    assert "+ Changed" in lines
    assert f"- w{place}" in lines
    assert len(lines) == 3


def test_answers_with_nothing_in_common_are_both_shown() -> None:
    """Each within half of the room."""
    lines = answer_lines("a " * 800, "b " * 800, 600, EN)
    assert [line.sign for line in lines] == ["-", "+"]
    assert all(250 <= len(line.text) <= 300 for line in lines)
