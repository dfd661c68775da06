"""YAML with its places."""

import pytest

from gradegate.files.yaml_document import parse_config, parse_yaml
from gradegate.model.errors import FileError

TEXT = """\
# metrics
run:
  - a
  - name: b
    when: 2026-01-01
    source: |
      def f():
        return 1
"""


def test_values_are_those_that_json_could_say() -> None:
    """A date stays the text that is written."""
    assert parse_yaml("x.yaml", TEXT).value == {
        "run": ["a", {"name": "b", "when": "2026-01-01", "source": "def f():\n  return 1\n"}]
    }


def test_every_value_has_its_place() -> None:
    """Lines and columns counted from 1; of what is not there, the place of what holds it."""
    document = parse_yaml("x.yaml", TEXT)
    assert document.position("run", 0) == (3, 5)
    assert document.position("run", 1, "when") == (5, 11)
    assert document.position("run", 1, "missing") == (4, 5)
    assert document.resolve(("run", 1, "name", "deeper")) == ("run", 1, "name")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x [1]\nb: *x\n", "x.yaml:1:4: anchors are not read"),
        ("a: [1,\n", "is not YAML"),
        ("a: 1\na: 2\n", "x.yaml:2:1: the key `a` is written twice"),
        ("[a]: 1\n", "x.yaml:1:1: a key must be a text"),
        ("a: .nan\n", "x.yaml:1:4: not a number that JSON has"),
        ("a: " + "[" * 200 + "]" * 200, "nested too deeply"),
        ("a: " + "[" * 5000 + "]" * 5000, ""),
        ("a: !!python/object:os.system x\n", "x.yaml"),
        ("a: \x00", "is not YAML"),
    ],
)
def test_what_json_could_not_say_is_refused(text: str, message: str) -> None:
    """With its place."""
    with pytest.raises(FileError) as error:
        parse_yaml("x.yaml", text)
    assert message in str(error.value)


def test_the_ending_says_what_a_config_is() -> None:
    """JSON elsewhere, with its slips repaired."""
    assert parse_config("a.yml", "criteria: {}").value == {"criteria": {}}
    assert parse_config("a.json", '{"criteria": {},}', repair=True).value == {"criteria": {}}


def test_an_empty_file_is_nothing() -> None:
    """Not an error of its own: whoever reads it says what is missing."""
    assert parse_yaml("x.yaml", "").value is None
