"""What an agent's environment is to be made of, and a key that is the same only for the same."""

import hashlib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from gradegate.model.notice import Notice, notice

DEFAULT_ADK = "google-adk==2.13.0"
"""For an agent that says nothing of what it needs."""

_FORMAT = "1"
"""Part of every key; another number makes all environments anew."""
_INCLUDED = re.compile(r"^\s*(?:-r|-c|--requirements?|--constraints?)(?:\s+|=)(\S+)")
_EDITABLE = re.compile(r"^\s*(?:-e|--editable)(?:\s+|=)(\S+)")
_LOCAL = re.compile(r"^\s*(?:[\w.\[\],-]+\s*@\s*)?(?:file:(?://)?)?(\.{0,2}/\S*|\.)(?:\s|\[|$)")
_ELSEWHERE = re.compile(r"^[a-z]+(?:\+[a-z]+)?://")


class Kind(StrEnum):
    """How the needs are written down."""

    LOCKED = "uv.lock"
    REQUIREMENTS = "requirements"
    PROJECT = "pyproject.toml"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Recipe:
    """Where the needs of an agent are written down."""

    kind: Kind
    folder: Path
    file: Path | None = None

    @property
    def import_from(self) -> tuple[Path, ...]:
        """Where a project's own modules are: it is not installed, as its files change too often."""
        if self.kind not in (Kind.LOCKED, Kind.PROJECT):
            return ()
        return tuple(p for p in (self.folder / "src", self.folder) if p.is_dir())

    def key(self, python: str) -> str:
        """Equal for equal needs and interpreters, wherever the files lie."""
        digest = hashlib.sha256()
        for part in (_FORMAT, DEFAULT_ADK, python, self.kind, *self._contents()):
            raw = part if isinstance(part, bytes) else part.encode()
            digest.update(len(raw).to_bytes(8) + raw)
        return digest.hexdigest()[:32]

    def _contents(self) -> Iterator[str | bytes]:
        match self.kind:
            case Kind.LOCKED:
                yield (self.folder / "pyproject.toml").read_bytes()
                yield (self.folder / "uv.lock").read_bytes()
                if any(_is_local(package) for package in _toml(self.folder / "uv.lock")["package"]):
                    yield from _all_files(self.folder)
            case Kind.PROJECT:
                yield (self.folder / "pyproject.toml").read_bytes()
            case Kind.REQUIREMENTS if self.file:
                yield from _requirements(self.file, set())


def find_recipe(root: Path, agent: Path, requirements: str | None = None) -> Recipe | Notice:
    """What the suite names, or the nearest needs at or above the agent; or what is wrong.

    Args:
        root: the side's files; nothing above them is looked at.
        agent: the agent's folder or module.
        requirements: a requirements file, or the folder of a project; None to look for them.
    """
    if requirements is not None:
        named = (root / requirements).resolve()
        if not named.is_relative_to(root.resolve()):
            return notice("requirements.outside", requirements=requirements)
        if named.name in ("pyproject.toml", "uv.lock"):
            named = named.parent
        if named.is_dir():
            found = _in_folder(named)
            return found or notice("requirements.empty", requirements=requirements)
        if named.is_file():
            return Recipe(Kind.REQUIREMENTS, named.parent, named)
        return notice("requirements.missing", requirements=requirements)
    for folder in (agent, *agent.parents):
        if not folder.is_relative_to(root):
            break
        found = _in_folder(folder)
        if found:
            return found
    return Recipe(Kind.NOTHING, root)


def _in_folder(folder: Path) -> Recipe | None:
    file = folder / "requirements.txt"
    project = folder / "pyproject.toml"
    is_project = project.is_file() and _declares_needs(project)
    if is_project and (folder / "uv.lock").is_file():
        return Recipe(Kind.LOCKED, folder)
    if file.is_file():
        return Recipe(Kind.REQUIREMENTS, folder, file)
    return Recipe(Kind.PROJECT, folder) if is_project else None


def _declares_needs(project: Path) -> bool:
    """Many a pyproject.toml only configures tools."""
    content = _toml(project)
    return "project" in content or "poetry" in content.get("tool", {})


def _toml(file: Path) -> dict[str, Any]:
    """The file's content; one that cannot be read is left for uv to complain about."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {"project": {}, "package": []}


def _is_local(package: dict[str, Any]) -> bool:
    """Whether a locked package is made from files that the lock knows no hash of."""
    source = package.get("source", {})
    places = {source.get(kind, ".") for kind in ("editable", "directory", "virtual", "path")}
    return places != {"."}


def _requirements(file: Path, seen: set[Path]) -> Iterator[str | bytes]:
    """The file, what it includes, and whatever it installs from files beside it."""
    file = file.resolve()
    if file in seen or not file.is_file():
        return
    seen.add(file)
    raw = file.read_bytes()
    yield raw
    for line in raw.decode(errors="replace").splitlines():
        included = _INCLUDED.match(line)
        if included and not _ELSEWHERE.match(included[1]):
            yield from _requirements(file.parent / included[1], seen)
        local = _EDITABLE.match(line) or _LOCAL.match(line)
        if local and not _ELSEWHERE.match(local[1]):
            yield from _all_files((file.parent / local[1]).resolve())


def _all_files(place: Path) -> Iterator[str | bytes]:
    """The place and all that is in it: what is installed from there may change with any of it."""
    yield str(place)
    for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if file.is_file() and "__pycache__" not in file.parts:
            yield str(file)
            yield hashlib.sha256(file.read_bytes()).digest()
