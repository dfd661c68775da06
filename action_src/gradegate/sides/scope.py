"""The part of a repository that an agent is made of: nothing else makes it another agent.

By default it is the nearest project at or above the agent, with the local packages that it depends
on; the whole repository where there is no such project, or where that is the repository.
"""

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from gradegate.files.settings_toml import load_toml, table
from gradegate.model.errors import FileError, InputError
from gradegate.model.runs import Side
from gradegate.model.settings import Suite

Scope = tuple[str, ...]
"""Paths from the repository's top, sorted."""
PROJECT = "pyproject.toml"
_MARKS = (PROJECT, "uv.lock", "poetry.lock", "setup.py", "setup.cfg", "requirements.txt")
_READ_ABOVE = ("uv.toml", ".python-version", ".python-versions")
"""What tools read in every folder above a project."""
_LOCAL = re.compile(
    r"^\s*(?:-e\s+|--editable[\s=]+|-r\s*|-c\s*|--requirement[\s=]+)?(\.{1,2}/[^\s;#\[]*)"
)
_INCLUDED = re.compile(r"^\s*-(?:r|c)\s*([^\s;#]+)")
_FILE_URL = re.compile(r"@\s*file:(?://)?(\.[^\s;]*)")


def scope_of(suite: Suite, side: Side) -> Scope | None:
    """What a suite's agent is made of on a side; None: the whole repository.

    Raises:
        InputError: `paths` names what is not there.
    """
    own = [path for path in (suite.agent, suite.requirements) if path]
    if suite.paths:
        return _checked(side, [*_written(suite, side), *(side.root / path for path in own)])
    if suite.agent is None or suite.traces is not None:
        return None
    project = _project_above(side.root / suite.agent, side.top)
    if project is None:
        return None
    found = _Projects(side.top)
    found.add(project)
    for path in own:
        found.add(side.root / path)
    return _checked(side, found.paths)


def export_scope(side: Side, scope: Scope, into: Path) -> Side:
    """The same side with nothing in it but the scope."""
    for path in scope:
        place, there = into / path, side.top / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if there.is_dir():
            shutil.copytree(there, place, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy2(there, place, follow_symlinks=False)
    root = into / side.root.relative_to(side.top)
    root.mkdir(parents=True, exist_ok=True)
    left = _left_out(side.top, scope)
    return Side(side.commit, into, root, side.recordings, left)


def _written(suite: Suite, side: Side) -> Iterator[Path]:
    for path in suite.paths:
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise InputError(
                f"`paths` of suite `{suite.name}`: `{path}` leads outside the project: write "
                "folders and files within it"
            )
        if not (side.root / path).exists():
            raise InputError(
                f"`paths` of suite `{suite.name}`: there is no `{path}`: correct the path"
            )
        yield side.root / path


def _checked(side: Side, places: Iterable[Path]) -> Scope | None:
    """From the top, each once; None where one is the top, or is not where it seems to be."""
    top = side.top.resolve()
    names = set()
    for given in places:
        place = given if given.exists() else given.with_suffix(".py")  # an agent may be a module
        if not place.exists():
            continue
        real, plain = place.resolve(), Path(os.path.normpath(place))
        if real == top or not real.is_relative_to(top) or real != top / plain.relative_to(side.top):
            return None
        names.add(real.relative_to(top).as_posix())
    return tuple(sorted(name for name in names if not _parents(name) & names)) or None


def _parents(name: str) -> set[str]:
    return {parent.as_posix() for parent in PurePosixPath(name).parents}


def _project_above(place: Path, top: Path) -> Path | None:
    """The nearest folder that is a project, at or above the agent."""
    for folder in (place, *place.parents):
        if not folder.is_relative_to(top):
            return None
        if any((folder / mark).is_file() for mark in _MARKS):
            return folder
    return None


class _Projects:
    """Projects with the local ones that they depend on."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.paths: list[Path] = []
        self._seen: set[Path] = set()

    def add(self, place: Path) -> None:
        """A project's folder, a requirements file, or a package's folder."""
        place = Path(os.path.normpath(place))
        if place in self._seen:
            return
        self._seen.add(place)
        self.paths.append(place)
        if place.is_file():
            self._requirements(place)
            return
        for file in sorted(place.glob("requirements*.txt")):
            self._requirements(file)
        project = _toml(place / PROJECT)
        for path in _local_paths(project):
            self.add(place / path)
        self._above(place, project)

    def _requirements(self, file: Path) -> None:
        if not file.is_file():
            return
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            for pattern in (_LOCAL, _INCLUDED, _FILE_URL):
                if found := pattern.search(line):
                    self.add(file.parent / found[1])
                    break

    def _above(self, place: Path, project: Mapping[str, Any]) -> None:
        """What is read in the folders above, and the members of a workspace that are needed."""
        for folder in place.parents:
            if not folder.is_relative_to(self.top):
                return
            self.paths += [folder / name for name in _READ_ABOVE if (folder / name).is_file()]
            workspace = table(_toml(folder / PROJECT), "tool", "uv", "workspace")
            if workspace:
                self._workspace(folder, workspace, project)

    def _workspace(
        self, root: Path, workspace: Mapping[str, Any], project: Mapping[str, Any]
    ) -> None:
        self.paths += [root / name for name in (PROJECT, "uv.lock") if (root / name).is_file()]
        globs = [one for one in workspace.get("members", ()) if isinstance(one, str)]
        members = {folder for one in globs for folder in root.glob(one)}
        files = sorted(m / PROJECT for m in members if (m / PROJECT).is_file())
        self.paths += files
        names = {_normal(table(_toml(file), "project").get("name", "")): file for file in files}
        for name, source in table(project, "tool", "uv", "sources").items():
            if isinstance(source, dict) and source.get("workspace") and _normal(name) in names:
                self.add(names[_normal(name)].parent)


def _local_paths(project: Mapping[str, Any]) -> Iterator[str]:
    """Paths of packages that a pyproject.toml names."""
    poetry = table(project, "tool", "poetry")
    tables = [table(project, "tool", "uv", "sources"), table(poetry, "dependencies")]
    groups = table(poetry, "group").values()
    tables += [table(group, "dependencies") for group in groups if isinstance(group, dict)]
    for listed in tables:
        for entry in listed.values():
            for one in entry if isinstance(entry, list) else [entry]:
                if isinstance(one, dict) and isinstance(one.get("path"), str):
                    yield one["path"]
    for written in table(project, "project").get("dependencies", ()):
        if found := _FILE_URL.search(str(written)):
            yield found[1]


def _toml(path: Path) -> Mapping[str, Any]:
    """A file's content; one that is wrong is somebody else's to complain about."""
    with suppress(FileError):
        if path.is_file():
            return load_toml(path.name, path.read_text(encoding="utf-8", errors="replace"))
    return {}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _left_out(top: Path, scope: Sequence[str]) -> dict[str, str]:
    """Files, and modules by their names, that are not in the scope: what an agent may miss."""
    inside = set(scope)
    found: dict[str, str] = {}
    for folder, folders, files in os.walk(top):
        below = Path(folder).relative_to(top).as_posix()
        prefix = "" if below == "." else f"{below}/"
        folders[:] = sorted(name for name in folders if f"{prefix}{name}" not in inside)
        for name in sorted(name for name in files if f"{prefix}{name}" not in inside):
            found.setdefault(name, f"{prefix}{name}")
            if name.endswith(".py"):
                found.setdefault(name.removesuffix(".py"), f"{prefix}{name}")
                if below != ".":
                    found.setdefault(Path(folder).name, below)
    return found
