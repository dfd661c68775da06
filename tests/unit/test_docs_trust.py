"""The table of attacks in docs/trust.md: its rows name real tests, and every attack is in it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def rows() -> list[list[str]]:
    """The table's rows, but for its head and the names of its groups."""
    table = PAGE.partition("## Attacks")[2]
    cells = [line.strip().strip("|").split(" | ") for line in table.splitlines() if "|" in line]
    _, _, *listed = cells
    return [[cell.strip() for cell in row] for row in listed if not row[0].startswith(" **")]


def attacks(file: Path) -> Iterator[str]:
    """The tests of a file that are marked `trust`, by themselves or all together."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    marks = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign)]
    all_of_them = any(m.startswith("pytestmark") and "mark.trust" in m for m in marks)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[:5] == "test_":
            own = any("mark.trust" in ast.unparse(one) for one in node.decorator_list)
            if all_of_them or own:
                yield node.name


def test_each_row_names_tests_that_are_carried_out() -> None:
    """By `make test-trust`: they exist, and are marked as attacks."""
    assert len(rows()) > 30
    for row in rows():
        threat, _, shown_by, *_ = row
        named = _TEST.findall(shown_by)
        assert named, threat
        for file, test in named:
            assert (ROOT / file).is_file(), (threat, file)
            assert test in set(attacks(ROOT / file)), (threat, test)


def test_each_row_says_what_is_done_about_it() -> None:
    """Four cells, of which only the last may be empty."""
    for row in rows():
        threat, done, shown_by, *left = row
        assert all((threat, done, shown_by)), row
        assert len(left) <= 1, row


def test_each_file_of_attacks_is_in_the_table() -> None:
    """Whoever adds one adds a row."""
    named = {file for file, _ in _TEST.findall(PAGE)}
    files = (file for file in (ROOT / "tests").rglob("test_*.py") if any(attacks(file)))
    assert {str(file.relative_to(ROOT)) for file in files} - named == set()
