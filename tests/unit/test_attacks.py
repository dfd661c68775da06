"""The list of attacks says what became of each."""

import subprocess
import sys
from pathlib import Path

ATTACKS = '''
import pytest

pytestmark = pytest.mark.trust


@pytest.mark.parametrize("number", [1, 2])
def test_one(number):
    """It holds with all of them.

    And why.
    """


@pytest.mark.parametrize("number", [1, 2])
def test_two(number):
    """It holds with one of them."""
    assert number == 1


@pytest.mark.skip
def test_three():
    """It cannot be tried here."""


@pytest.fixture
def broken():
    raise ValueError


def test_four(broken):
    """It could not even begin."""
'''


def test_each_attack_is_listed_once_with_what_became_of_it(tmp_path: Path) -> None:
    """With reports that come from other processes, as those of `make test-trust` do."""
    (tmp_path / "test_them.py").write_text(ATTACKS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = trust: attacks\n")
    wanted = ["-n", "2", "-p", "tests.attacks", "-m", "trust", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *wanted],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    listed = [line[:35].strip() for line in done.stdout.splitlines() if "test_them.py::" in line]
    for line in (
        "held      It holds with all of them.",
        "NOT HELD  It holds with one of them.",
        "not tried It cannot be tried here.",
        "NOT HELD  It could not even begin.",
    ):
        assert listed.count(line[:35].strip()) == 1, done.stdout + done.stderr
    assert "1 held, 2 NOT HELD, 1 not tried" in done.stdout
    assert done.returncode == 1
