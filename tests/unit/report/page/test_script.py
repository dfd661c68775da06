"""The page's script: modules that node can read, joined into one that a browser runs as it is."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gradegate.locales import templates_dir
from gradegate.report.page.script import script

SOURCES = sorted((templates_dir() / "page").glob("*.js"))
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")


def test_every_module_is_joined_once() -> None:
    """Each file's first comment is in it one time, and those a module needs stand before it."""
    text = script()
    firsts = [path.read_text(encoding="utf-8").splitlines()[0] for path in SOURCES]
    assert all(text.count(first) == 1 for first in firsts)
    assert text.index("export" if "export" in text else "// Elements are made") < text.index(
        "// Puts the page together"
    )


def test_nothing_that_makes_words_into_code_is_used() -> None:
    """Texts become text nodes: there is no other way in the sources."""
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function"
    assert not re.search(rf"{forbidden}|https?://(?!www\.w3\.org/2000/svg)|\bimport\b", script())


@needs_node
def test_node_can_parse_it(tmp_path: Path) -> None:
    """No two modules declare one name, as nothing keeps them apart once they are joined."""
    joined = tmp_path / "page.mjs"
    joined.write_text(script(), encoding="utf-8")
    subprocess.run(["node", "--check", str(joined)], check=True)


@needs_node
def test_its_modules_do_what_they_say() -> None:
    """The tests of what needs no browser are in JavaScript, beside this file."""
    tests = Path(__file__).with_name("modules.test.mjs")
    done = subprocess.run(
        ["node", "--test", str(tests)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 0" not in done.stdout
