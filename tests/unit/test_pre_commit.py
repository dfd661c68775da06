"""The hook for pre-commit: it runs our command, when a file that it reads has changed."""

import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.project import SETTINGS, Project, case, eval_set, turn

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def hook() -> dict[str, Any]:
    """The only one there is."""
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (found,) = YAML(typ="safe").load(text)
    return dict(found)


def test_it_checks_as_the_command_does(hook: dict[str, Any], tmp_path: Path) -> None:
    """Nothing to complain about, and then a file that is no JSON."""
    project = Project.create(tmp_path / "repo")
    project.put("evals/a.evalset.json", eval_set(case("a", turn("hello", "hi"))))
    project.put("gradegate.toml", SETTINGS)
    program, *words = hook["entry"].split()
    assert (program, hook["pass_filenames"]) == ("gradegate", False)
    assert project.gradegate(*words).returncode == 0
    project.put("evals/a.evalset.json", "{")
    done = project.gradegate(*words)
    assert done.returncode == 2
    assert "evals/a.evalset.json:1" in done.stdout


@pytest.mark.parametrize(
    ("path", "starts"),
    [
        ("evals/a.evalset.json", True),
        ("a.test.json", True),
        ("tests/eval/datasets/basic-dataset.json", True),
        ("evals/test_config.json", True),
        ("eval_config.yaml", True),
        ("gradegate.toml", True),
        ("services/desk/pyproject.toml", True),
        ("package.json", False),
        ("my_test_config.json", False),
        ("gradegate.toml.orig", False),
    ],
)
def test_it_starts_where_something_it_reads_has_changed(
    hook: dict[str, Any],
    path: str,
    starts: bool,  # noqa: FBT001 - a table's column
) -> None:
    """And not with every commit; pre-commit searches for the expression in each path."""
    assert bool(re.search(hook["files"], path)) is starts
