"""The house in figures: `python docs/tools/figures.py [FOLDER]`, a folder of sources at any commit.

What is counted: modules (packages' own files and the demo's repository left out), lines of files
and functions, names that stand for two things, and modules that only one other imports.
"""

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles

PACKAGE = "gradegate"
LEFT_OUT = ("demo/base",)
LONG = 350


def main() -> None:
    """Print the figures."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else "action_src") / PACKAGE
    trees = {_name(root, path): ast.parse(path.read_text()) for path in _modules(root)}
    files = [len(path.read_text().splitlines()) for path in _modules(root)]
    functions = [length for tree in trees.values() for length in _functions(tree)]
    importers = _importers(trees)
    once = [name for name in importers if len(importers[name]) == 1]
    print(f"modules                       {len(trees)}")
    print(f"lines of a file               {_spread(files)}")
    print(f"files over {LONG} lines          {sum(length > LONG for length in files)}")
    print(f"lines of a function           {_spread(functions)}")
    print(f"modules with one importer     {len(once)}")
    print(f"module names used twice       {_twice(name.rpartition('.')[2] for name in trees)}")
    print(f"class names used twice        {_twice(_classes(trees))}")
    stdlib = sorted(name for name in trees if name.rpartition(".")[2] in sys.stdlib_module_names)
    print(f"named like the library's own  {', '.join(stdlib) or 0}")


def _modules(root: Path) -> list[Path]:
    found = sorted(root.rglob("*.py"))
    inside = [path for path in found if not any(part in str(path) for part in LEFT_OUT)]
    return [path for path in inside if path.name != "__init__.py"]


def _name(root: Path, path: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts)


def _functions(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def _classes(trees: dict[str, ast.Module]) -> Iterator[str]:
    for tree in trees.values():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name


def _twice(names: Iterator[str]) -> str:
    found = sorted(name for name, times in Counter(names).items() if times > 1)
    return ", ".join(found) or "0"


def _spread(lengths: list[int]) -> str:
    tenths = quantiles(lengths, n=10)
    return f"p50 {tenths[4]:.0f}, p90 {tenths[8]:.0f}, max {max(lengths)}"


def _importers(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(PACKAGE):
                continue
            module = (node.module or "")[len(PACKAGE) + 1 :]
            for alias in node.names:
                inner = f"{module}.{alias.name}".strip(".")
                target = inner if inner in trees else module
                if target in trees and target != name:
                    found[target].add(name)
    return found


if __name__ == "__main__":
    main()
