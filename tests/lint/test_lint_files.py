"""A mistake in action.yml, in a workflow, in the Dockerfile or in what init writes is caught."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COPIED = (
    "Makefile",
    "Dockerfile",
    "action.yml",
    "pyproject.toml",
    "package.json",
    "package-lock.json",
    ".ci",
    ".github",
    "requirements",
    "action_src",
    "templates",
)
LINKED = (".venv", "node_modules")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What lint-files looks at, with the tools it uses."""
    root = tmp_path / "copy"
    root.mkdir()
    for name in COPIED:
        place = ROOT / name
        copied = shutil.copytree if place.is_dir() else shutil.copy2
        copied(place, root / name)
    for name in LINKED:
        (root / name).symlink_to(ROOT / name)
    return root


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    """Run it as a developer would."""
    return subprocess.run(
        ["make", "lint-files"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "action_src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def test_all_is_well(copy: Path) -> None:
    """Without a mistake nothing is found, so that what follows means something."""
    done = lint(copy)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("file", "before", "after", "told"),
    [
        ("action.yml", "  using: docker", "  using: doker", "doker"),
        ("action.yml", "outputs:\n", "outptus:\n", "outptus"),
        ("Dockerfile", "apt-get install --yes", "apt-get install", "DL3014"),
        ("Dockerfile", "FROM ${BASE}\n", "FROM ${BASE}\nMAINTAINER me\n", "DL4000"),
        (".github/workflows/ci.yml", "runs-on: ubuntu-latest", "run-on: ubuntu-latest", "run-on"),
        (".github/workflows/ci.yml", "matrix.python }}", "matrix.pyton }}", "pyton"),
        (
            ".github/workflows/ci.yml",
            "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1",
            "actions/checkout@main",
            "unpinned-uses",
        ),
        (
            ".github/workflows/ci.yml",
            "run: make lint\n",
            "run: echo ${{ github.head_ref }}\n",
            "template-injection",
        ),
        ("templates/init/gradegate.yml", "  push:\n", "  pushed:\n", "pushed"),
        ("templates/init/gradegate.yml", "persist-credentials: false", "clean: true", "artipacked"),
        ("templates/init/gradegate.yml", "steps.gradegate.", "steps.gradgate.", "gradgate"),
        ("templates/init/gradegate-publish.yml", "# zizmor: ", "# ", "dangerous-triggers"),
        ("templates/init/gradegate.toml", "[judge]", "[jugde]", "jugde"),
    ],
)
def test_a_mistake_is_caught(copy: Path, file: str, before: str, after: str, told: str) -> None:
    """By whichever linter it concerns, with a word that leads to it."""
    text = (copy / file).read_text(encoding="utf-8")
    assert before in text
    (copy / file).write_text(text.replace(before, after), encoding="utf-8")
    done = lint(copy)
    assert done.returncode != 0
    assert told in done.stdout
