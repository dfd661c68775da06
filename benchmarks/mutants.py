"""Do the tests notice when a rule is wrong? Hand-made mistakes, one at a time.

    make mutants                                       in a copy of this tree
    python -m benchmarks.mutants --tree ../another     the same mistakes in another one

A mistake is found by its text alone, so that files may move. Prints what the tests killed and
what survived; exits 1 where a text does not stand in the sources exactly once.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_suffix(".toml")
LEFT_OUT = (".git", ".venv", ".parity-venv", "node_modules", "build", "__pycache__", ".hypothesis")
PATIENCE = 10
"""A mutant that never ends is noticed after so many times what its tests take without it."""


class Mutant(NamedTuple):
    """A text of the sources, what to write instead, and the tests that should mind."""

    text: str
    instead: str
    tests: tuple[str, ...]


class Mutated(NamedTuple):
    """A copy of a tree to make mistakes in, with an environment of its own."""

    root: Path

    @classmethod
    def copy(cls, tree: Path, folder: Path) -> "Mutated":
        root = folder / "tree"
        shutil.copytree(tree, root, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)  # some tests ask git
        subprocess.run(["make", "--silent", ".venv/.ready"], cwd=root, check=True)
        return cls(root)

    def places(self, text: str) -> list[Path]:
        """The files that a text stands in, each as often as it does."""
        files = sorted((self.root / "action_src").rglob("*.py"))
        return [file for file in files for _ in range(file.read_text("utf-8").count(text))]

    def tests(self, names: tuple[str, ...]) -> list[str]:
        """Where the tests with these names are now."""
        folders = [self.root / "tests" / name for name in ("unit", "integration")]
        found = [path for name in names for folder in folders for path in folder.rglob(name)]
        assert len(found) == len(names), f"{names}: {len(found)} files have these names"
        return [str(path.relative_to(self.root)) for path in found]

    def passes(self, names: tuple[str, ...], limit: float | None = None) -> bool:
        """Whether these tests pass as the sources are now, within so many seconds."""
        for cache in [*(self.root / "action_src").rglob("__pycache__")]:
            shutil.rmtree(cache)  # it knows files by second and size, which a mutant may share
        command = [".venv/bin/python", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        try:
            done = subprocess.run(
                [*command, "--hypothesis-seed=0", *self.tests(names)],
                cwd=self.root,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                check=False,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def survives(self, mutant: Mutant, limit: float) -> bool:
        """Whether no test minds."""
        (place,) = self.places(mutant.text)
        right = place.read_text("utf-8")
        place.write_text(right.replace(mutant.text, mutant.instead), "utf-8")
        try:
            return self.passes(mutant.tests, limit)
        finally:
            place.write_text(right, "utf-8")


def mutants() -> Iterator[Mutant]:
    """All of them, in the order of the list."""
    for area in tomllib.loads(LIST.read_text("utf-8"))["area"]:
        for text, instead in area["mutants"]:
            yield Mutant(text, instead, tuple(area["tests"]))


def main() -> int:
    """Try those that were asked for."""
    parser = argparse.ArgumentParser(description="make mistakes, and see whether tests notice")
    parser.add_argument("--tree", type=Path, default=ROOT, help="default: this one")
    parser.add_argument("--only", default="", help="mutants whose text contains this")
    options = parser.parse_args()
    chosen = [one for one in mutants() if options.only in one.text]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        os.chmod(folder, 0o755)  # noqa: PTH101, S103 - agents of tests get through to the copy
        return judge(Mutated.copy(options.tree.resolve(), Path(folder)), chosen)


def judge(tree: Mutated, chosen: list[Mutant]) -> int:
    """Try each, and tell."""
    lost = [one for one in chosen if len(tree.places(one.text)) != 1]
    for one in lost:
        print(f"not once in the sources: {one.text!r}", flush=True)
    limits = {}
    for names in {one.tests: None for one in chosen}:
        began = time.monotonic()
        assert tree.passes(names), f"{names} fail without any mutant"
        limits[names] = PATIENCE * (time.monotonic() - began)
    survivors = 0
    for one in (one for one in chosen if one not in lost):
        alive = tree.survives(one, limits[one.tests])
        survivors += alive
        print(f"{'SURVIVED' if alive else 'killed  '} {one.text!r} -> {one.instead!r}", flush=True)
    tried = len(chosen) - len(lost)
    print(f"{tried - survivors} of {tried} killed, {len(lost)} not found")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
