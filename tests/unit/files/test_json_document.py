import json
import time
from pathlib import Path

import pytest

from gradegate.files.json_document import parse, read_text
from gradegate.model.errors import FileError

TEXT = """{
  "a": [1, {"b": "x"},
        [ ]],
  "c": {"d" : null}
}
"""


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ((), (1, 1)),
        (("a",), (2, 8)),
        (("a", 0), (2, 9)),
        (("a", 1, "b"), (2, 18)),
        (("a", 2), (3, 9)),
        (("c", "d"), (4, 15)),
        (("c", "gone", "further"), (4, 8)),
        (("a", 9), (2, 8)),
    ],
)
def test_every_value_knows_its_line_and_column(
    keys: tuple[str | int, ...], place: tuple[int, int]
) -> None:
    """A path leads to its value, or to the nearest ancestor there is."""
    assert parse("f.json", TEXT).position(*keys) == place


def test_paths_are_resolved_in_either_case() -> None:
    """What pydantic calls evalCases is found where the file writes eval_cases, and back."""
    document = parse("f.json", '{"eval_cases": [{"evalId": 1}]}')
    assert document.resolve(("evalCases", 0, "float", "eval_id")) == ("eval_cases", 0, "evalId")


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ('{"a": 1,\n}', (1, 8), "trailing comma: remove it"),
        ("[1,\n 2,\n]", (2, 3), "trailing comma: remove it"),
        ('{"a": 1}}', (1, 9), "one closing brace too many"),
        ('{"a": 1}}}', (1, 9), "without an opening one"),
        ('{"a": 1} 2', (1, 10), "goes on after its end"),
        ('{"a": 1', (1, 8), "ends too early"),
        ("", (1, 1), "is empty"),
        ("{'a': 1}", (1, 2), "double quotes"),
        ('{"a": True}', (1, 7), "write `true`"),
        ('{\n// why\n"a": 1}', (2, 1), "no comments"),
        ('{"a": 1\n "b": 2}', (2, 2), "comma or a closing bracket is missing"),
        ('{"a" 1}', (1, 6), "colon is missing"),
        ('{"a": "x\ny"}', (1, 9), "line break"),
        ('["x,\n]"]', (1, 5), "line break"),
        ('["x]', (1, 2), "no end"),
        ('["\\x"]', (1, 3), "unknown escape"),
        ('{"a": NaN}', (1, 7), "finite number or null"),
        ('{"a": [0, -Infinity]}', (1, 11), "finite number or null"),
        ('{"a": 1e999}', (1, 7), "too large"),
        ('{"a": "\\ud800"}', (1, 7), "half a character"),
        ("[1,,]", (1, 4), "a value is missing"),
    ],
)
def test_broken_json_is_refused_at_its_place(text: str, place: tuple[int, int], says: str) -> None:
    """The error names line and column, and says what to do."""
    with pytest.raises(FileError, match=says) as caught:
        parse("f.json", text)
    assert (caught.value.line, caught.value.column) == place


def test_a_file_nested_without_end_is_refused() -> None:
    """Depth meant to crash the parser ends in a message."""
    with pytest.raises(FileError, match="nested too deeply"):
        parse("f.json", "[" * 200_000)


def test_what_no_report_could_hold_is_refused_too() -> None:
    """Closed brackets are still too many; a hundred are somebody's data."""
    with pytest.raises(FileError, match="nested too deeply"):
        parse("f.json", "[" * 400 + "]" * 400)
    assert parse("f.json", "[" * 100 + "]" * 100).value


def test_whole_characters_in_escapes_are_let_pass() -> None:
    """Two halves make a character."""
    assert parse("f.json", '"\\ud83d\\ude00"').value == "😀"


def test_a_key_written_twice_is_warned_about() -> None:
    """The last one counts, and the warning stands at it."""
    document = parse("f.json", '{"a": 1,\n "a": 2}')
    assert document.value == {"a": 2}
    assert [(w.line, w.column, w.level) for w in document.warnings] == [(2, 7, "warning")]
    assert "`a` is written twice" in document.warnings[0].message


def test_repair_takes_both_slips_with_a_warning_each() -> None:
    """A trailing comma and a last brace too many are read over, at their lines."""
    document = parse("f.json", '{"a": [1,\n],\n}\n}\n', repair=True)
    assert document.value == {"a": [1]}
    assert [(w.line, w.level) for w in document.warnings] == [
        (1, "warning"),
        (2, "warning"),
        (4, "warning"),
    ]


@pytest.mark.parametrize(
    "text", ['{"a": 1}}}', '{"a": 1}]', "[1,,]", "{,}", "{'a': 1}", '{"a": 1', '["x,\n]"]']
)
def test_repair_takes_nothing_else(text: str) -> None:
    """Any other slip stays an error."""
    with pytest.raises(FileError):
        parse("f.json", text, repair=True)


def test_a_byte_order_mark_is_let_pass_and_another_encoding_is_not(tmp_path: Path) -> None:
    """UTF-8 with or without a mark; anything else is told to be saved anew."""
    file = tmp_path / "f.json"
    file.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert parse("f.json", read_text(file, "f.json")).position("a") == (1, 7)
    file.write_bytes('{\n"a": "é"}'.encode("latin-1"))
    with pytest.raises(FileError, match=r"f\.json:2:7: not UTF-8"):
        read_text(file, "f.json")


def test_ten_megabytes_are_read_in_seconds() -> None:
    """Positions cost nothing until asked for, and little then."""
    case = {"eval_id": "x", "conversation": [{"text": "y" * 900}]}
    text = json.dumps({"eval_cases": [case] * 10_500}, indent=1)
    assert len(text) > 10_000_000
    start = time.process_time()
    document = parse("f.json", text)
    lines = {document.position("eval_cases", index)[0] for index in range(10_500)}
    assert len(lines) == 10_500
    assert time.process_time() - start < 60
