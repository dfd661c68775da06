"""The code of users' own metrics, as far as imports tell: whether a pull request changes it.

A metric is head's code on both sides, so a changed one could pass anything.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pydantic import ValidationError

from gradegate.compare.pairing import Pair
from gradegate.criteria.custom import CustomConfig
from gradegate.model.evalset import EvalConfig
from gradegate.model.notice import notice
from gradegate.model.report import Reason, ReasonKind
from gradegate.model.settings import Suite

_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class MetricPlace(NamedTuple):
    """Where a side's own modules may be."""

    root: Path
    suites: Sequence[Suite]

    def roots_of(self, suite: str) -> tuple[Path, ...]:
        """The project's folder, and what lies on the way to the suite's agent."""
        agent = next((one.agent for one in self.suites if one.name == suite), None) or "."
        names = (PurePosixPath(agent), *PurePosixPath(agent).parents)
        folders = [self.root / name for name in names]
        return tuple(dict.fromkeys(place for f in folders for place in (f / "src", f)))


def changed_metrics(
    pairs: Iterable[Pair], base: MetricPlace, head: MetricPlace
) -> tuple[Reason, ...]:
    """A reason for each eval set and metric whose code is another one, whichever way it goes."""
    found: dict[tuple[str, str], bool] = {}
    for pair in pairs:
        if pair.base is None or pair.head is None:
            continue
        was, now = pair.base, pair.head
        own = was.config.custom_metrics.keys() | now.config.custom_metrics.keys()
        for name in sorted(own & was.config.criteria.keys() & now.config.criteria.keys()):
            if (now.eval_set, name) not in found:
                before = _code(was.config, name, base.roots_of(was.suite))
                after = _code(now.config, name, head.roots_of(now.suite))
                found[now.eval_set, name] = before != after
    return tuple(
        Reason.of(
            ReasonKind.LOOSENED,
            notice("loosened.code", eval_set=eval_set, criterion=name),
            eval_set=eval_set,
            criterion=name,
        )
        for (eval_set, name), changed in found.items()
        if changed
    )


def _code(config: EvalConfig, name: str, roots: Sequence[Path]) -> list[tuple[str, str]]:
    """Everything that has a say in the score, by module; nothing for a criterion of ours."""
    try:
        told = CustomConfig.model_validate(config.custom_metrics.get(name, {}))
    except ValidationError:
        return []
    if told.code_config is None:
        return [("", told.custom_function or "")]
    module, _, _ = told.code_config.name.rpartition(".")
    return [("", told.code_config.name), *sorted(_modules(module, roots))]


def _modules(first: str, roots: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """The repository's modules that importing one leads to, each with its content's digest.

    One that lies in several places is all of them: which is taken depends on the environment.
    """
    waiting, seen = [first], {first}
    while waiting:
        module = waiting.pop()
        imported = {module.rpartition(".")[0]}
        for file in _files(module, roots):
            content = file.read_bytes()
            yield module, hashlib.sha256(content).hexdigest()
            package = module if file.name == "__init__.py" else module.rpartition(".")[0]
            imported.update(_imports(content, package))
        new = imported - seen - {""}
        seen |= new
        waiting += new


def _files(module: str, roots: Sequence[Path]) -> Iterator[Path]:
    for root in roots:
        place = root.joinpath(*module.split("."))
        for file in (place / "__init__.py", place.parent / f"{place.name}.py"):
            if file.is_file() and file.resolve().is_relative_to(roots[-1].resolve()):
                yield file


def _imports(source: bytes, package: str) -> Iterator[str]:
    """The modules that a source names, and what could be modules among the names it takes."""
    tree = ast.Module(body=[], type_ignores=[])
    with suppress(*_UNREADABLE):
        tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: -(node.level - 1) or None] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
