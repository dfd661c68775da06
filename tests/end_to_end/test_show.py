"""A closer look at a report that is there already."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.project import GRADEGATE

REPORT = Path(__file__).parents[1] / "golden" / "fail" / "report.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a run left its report, the page not among it."""
    shutil.copy(REPORT, tmp_path / "report.json")
    return tmp_path


def gradegate(*words: str) -> subprocess.CompletedProcess[str]:
    """The command, as a user has it."""
    return subprocess.run(
        [str(GRADEGATE), *words], capture_output=True, text=True, check=False, timeout=120
    )


def test_a_case_is_shown_in_full(folder: Path) -> None:
    """By its id or a glob; a quiet one as well."""
    done = gradegate("show", str(folder / "report.json"), "par*")
    assert done.returncode == 0, done.stderr
    assert 'get_weather: city "Paris" → "Pari"' in done.stdout
    assert "packing_advice" not in done.stdout
    assert "❌ regressed" in done.stdout


def test_without_a_case_it_is_the_report(folder: Path) -> None:
    """As `run` prints it; the folder will do."""
    done = gradegate("show", str(folder), "--language", "ja")
    assert done.returncode == 0, done.stderr
    assert "エージェントが悪化しました" in done.stdout


def test_a_case_that_is_not_there_is_named(folder: Path) -> None:
    """With one that is."""
    for command in ("show", "open"):
        done = gradegate(command, str(folder), "nope")
        assert (done.returncode, done.stdout) == (2, "")
        assert "the report has no case `nope`: write an eval id such as `" in done.stderr


def test_the_page_is_made_where_there_is_none_and_opened_at_the_case(folder: Path) -> None:
    """Its address is printed where no browser can be had."""
    done = gradegate("open", str(folder), "paris", "--print")
    assert done.returncode == 0, done.stderr
    page = folder / "report.html"
    assert page.is_file()
    assert done.stdout.startswith(f"{page.as_uri()}#case=")
    assert done.stdout.rstrip().endswith("paris")
