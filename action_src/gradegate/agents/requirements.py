"""What an agent's environment is to be made of, and a key that is the same only for the same.

uv is shown the files that are in the key and no others. Mostly these are few, so that base and
head share an environment; where one of them leads to another file of the side, uv may read and
build anything, and all of the side's files are in the key.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from gradegate.agents.declared import declared_needs, needs_files, pinned, wanted_python
from gradegate.files.settings_toml import load_toml, table
from gradegate.model.errors import FileError
from gradegate.model.notice import Notice, notice

DEFAULT_ADK = "google-adk==2.13.0"
"""For an agent that says nothing of what it needs."""

_FORMAT = "3"
"""Part of every key; another number makes all environments anew."""
POETRY_LOCK = "poetry.lock"
_INCLUDED = re.compile(r"^\s*(?:-r|-c|--requirements?|--constraints?)(?:\s+|=)(\S+)")
_ELSEWHERE = re.compile(r"^[a-z]+(?:\+[a-z]+)?://")
_WORD_ENDS = re.compile(r"[\s\"'=,;\[\](){}]+|@\s+")
_COMMENT = re.compile(r"(^|\s)#.*")
_SETTINGS = ("pyproject.toml", "uv.toml", ".python-version", ".python-versions")
"""What uv looks for in the folder that it is called in, and in those above."""


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
    root: Path | None = None
    """The side's top, above which there is nothing to read; None: the folder."""

    @property
    def top(self) -> Path:
        """The side's top."""
        return self.root or self.folder

    @property
    def import_from(self) -> tuple[Path, ...]:
        """Where a project's own modules are: it is not installed, as its files change too often."""
        if self.kind not in (Kind.LOCKED, Kind.PROJECT):
            return ()
        return tuple(p for p in (self.folder / "src", self.folder) if p.is_dir())

    def within(self, copy: Path) -> "Recipe":
        """The same in a copy of the side's files."""
        file = self.file and copy / self.file.relative_to(self.top)
        return Recipe(self.kind, copy / self.folder.relative_to(self.top), file, copy)

    def read_needs(self) -> list[str] | None:
        """What it needs, where it takes us to read that, so that nothing is built to be told."""
        if self.kind is not Kind.PROJECT:
            return None
        return declared_needs(self._project(), self.folder)

    def pins(self) -> list[str]:
        """The versions that a poetry.lock settles."""
        lock = self.folder / POETRY_LOCK
        return pinned(_toml(lock)) if self.kind is Kind.PROJECT and lock.is_file() else []

    def files(self) -> frozenset[str]:
        """All that uv is to see, by their paths from the top."""
        few = _Few(self)
        seen = _all_below(self.top) if few.lead_elsewhere() else few.found
        return frozenset(path.relative_to(self.top).as_posix() for path in seen)

    def key(self, python: str) -> str:
        """Equal for equal needs and interpreters, wherever the top lies."""
        digest = hashlib.sha256()
        where = [self.folder.relative_to(self.top).as_posix()]
        where += [self.file.relative_to(self.top).as_posix()] if self.file else []
        for part in (_FORMAT, DEFAULT_ADK, python, self.kind, *where, *self._contents()):
            raw = part if isinstance(part, bytes) else os.fsencode(part)
            digest.update(len(raw).to_bytes(8) + raw)
        return digest.hexdigest()[:32]

    def described(self) -> Notice:
        """Where the needs are written down, and which Python is asked for."""
        if self.kind is Kind.NOTHING:
            return notice("environment.nothing", adk=DEFAULT_ADK)
        file = self.file or self.folder / (POETRY_LOCK if self.pins() else self.kind)
        where = file.relative_to(self.top).as_posix()
        wanted = self._pinned() or wanted_python(self._project())
        told = notice("environment.file", file=where)
        if wanted is not None:
            told = notice("environment.file_and_python", file=where, python=wanted)
        return (
            told if self.read_needs() is None else notice("environment.not_built", environment=told)
        )

    @property
    def python(self) -> str | None:
        """The Python that Poetry's table asks for, of which uv knows nothing."""
        if self.kind is not Kind.PROJECT or "project" in self._project() or self._pinned():
            return None
        return wanted_python(self._project())

    def _pinned(self) -> str | None:
        for folder in (self.folder, *self.folder.parents):
            if not folder.is_relative_to(self.top):
                break
            if (pinned := folder / ".python-version").is_file():
                return _text(pinned).strip() or None
        return None

    def _project(self) -> dict[str, Any]:
        project = self.folder / "pyproject.toml"
        return _toml(project) if project.is_file() else {}

    def _contents(self) -> Iterator[str | bytes]:
        for name in sorted(self.files()):
            path = self.top / name
            yield name
            if path.is_symlink():
                yield "link"
                yield str(path.readlink())
            else:
                yield "program" if path.stat().st_mode & stat.S_IXUSR else "file"
                yield hashlib.sha256(path.read_bytes()).digest()


class _Few:
    """The few files that uv reads by itself, and whether they lead it to others."""

    def __init__(self, recipe: Recipe) -> None:
        self.found: set[Path] = set()
        self._recipe = recipe
        self._elsewhere = False

    def lead_elsewhere(self) -> bool:
        """Whether uv may read more than `found`, which is whole afterwards."""
        recipe = self._recipe
        for folder in (recipe.folder, *recipe.folder.parents):
            if not folder.is_relative_to(recipe.top):
                break
            for name in _SETTINGS:
                self._add_settings(folder / name)
        if recipe.kind is Kind.LOCKED:
            self._add_lock(recipe.folder / "uv.lock")
        if recipe.kind is Kind.PROJECT:
            self._add(recipe.folder / POETRY_LOCK)
        if recipe.file:
            self._add_requirements(recipe.file)
        return self._elsewhere

    def _add(self, file: Path) -> bool:
        """Whether there is something to read in it."""
        if not os.path.lexists(file) or file in self.found:
            return False
        if not _is_below(file, self._recipe.top):
            self._elsewhere = True
            return False
        self.found.add(file)
        return True

    def _add_settings(self, file: Path) -> None:
        if not self._add(file):
            return
        if file.name != "pyproject.toml":
            self._elsewhere |= _names_a_file(file.parent, _text(file))
            return
        content = _toml(file)
        uvs = table(content, "tool", "uv")
        told: list[Any] = [uvs]
        if file.parent == self._recipe.folder and self._recipe.file is None:
            project = table(content, "project")
            told += [project.get("dependencies"), project.get("optional-dependencies")]
            told.append(content.get("dependency-groups"))
            # Such needs are found out by having the project's own code tell them.
            told_by_code = {"dependencies", "optional-dependencies"} & {
                *_strings(project.get("dynamic"))
            }
            if self._recipe.read_needs() is None:
                self._elsewhere |= not project or bool(told_by_code)
            else:
                told.append(table(content, "tool", "poetry", "dependencies"))
                for name in needs_files(content):
                    self._add_requirements(Path(os.path.normpath(file.parent / name)))
        self._elsewhere |= "workspace" in uvs or any(
            _names_a_file(file.parent, text) for text in _strings(told)
        )

    def _add_lock(self, file: Path) -> None:
        if self._add(file):
            self._elsewhere |= any(map(_is_local, _packages(file)))

    def _add_requirements(self, file: Path) -> None:
        if not self._add(file):
            return
        for line in _text(file).splitlines():
            included = _INCLUDED.match(line)
            if included is None:
                self._elsewhere |= _names_a_file(file.parent, _COMMENT.sub("", line))
            elif not _ELSEWHERE.match(included[1]):
                other = Path(os.path.normpath(file.parent / included[1]))
                self._elsewhere |= not other.is_relative_to(self._recipe.top)
                self._add_requirements(other)


def find_recipe(
    root: Path, agent: Path, requirements: str | None = None, top: Path | None = None
) -> Recipe | Notice:
    """What the suite names, or the nearest needs at or above the agent; or what is wrong.

    Args:
        root: the project's files; nothing above them is looked at.
        agent: the agent's folder or module.
        requirements: a requirements file, or the folder of a project; None to look for them.
        top: the side's files, of which the project is a part; None where it is the whole.
    """
    found = _find_recipe(root, agent, requirements)
    return found if isinstance(found, Notice) else replace(found, root=top or root)


def _find_recipe(root: Path, agent: Path, requirements: str | None) -> Recipe | Notice:
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
    if is_project and (folder / POETRY_LOCK).is_file():
        return Recipe(Kind.PROJECT, folder)
    if file.is_file():
        return Recipe(Kind.REQUIREMENTS, folder, file)
    return Recipe(Kind.PROJECT, folder) if is_project else None


def _declares_needs(project: Path) -> bool:
    """Many a pyproject.toml only configures tools."""
    content = _toml(project)
    return "project" in content or "poetry" in table(content, "tool")


def _toml(file: Path) -> dict[str, Any]:
    """The file's content; one that cannot be read is left for uv to complain about."""
    try:
        return load_toml(file.name, file.read_text(encoding="utf-8"))
    except (FileError, UnicodeDecodeError):
        return {"project": {}, "package": []}


def _packages(lock: Path) -> list[dict[str, Any]]:
    listed = _toml(lock).get("package")
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _is_local(package: dict[str, Any]) -> bool:
    """Whether a locked package is made from files that the lock knows no hash of."""
    source = table(package, "source")
    places = {source.get(kind, ".") for kind in ("editable", "directory", "virtual", "path")}
    return places != {"."}


def _is_below(file: Path, top: Path) -> bool:
    """Whether it is a file where it says, and not by way of a link."""
    return file.is_file() and file.resolve() == top.resolve() / file.relative_to(top)


def _text(file: Path) -> str:
    return file.read_bytes().decode(errors="replace")


def _strings(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        for value in content.values():
            yield from _strings(value)
    elif isinstance(content, list):
        for value in content:
            yield from _strings(value)


def _names_a_file(folder: Path, text: str) -> bool:
    """Whether a word in it may be the path of something that is there."""
    return any(_is_path(folder, word) for word in _WORD_ENDS.split(text) if word)


def _is_path(folder: Path, word: str) -> bool:
    if _ELSEWHERE.match(word) and "file:" not in word:
        return False
    if word.startswith(("/", "~/", ".")) or "file:" in word or "$" in word:
        return True
    try:
        return os.path.lexists(folder / word)
    except ValueError:  # no name that a file can have
        return False


def _all_below(place: Path) -> Iterator[Path]:
    """All files and links, but for what Python leaves behind."""
    for folder, folders, files in os.walk(place):
        folders[:] = [name for name in folders if name != "__pycache__"]
        linked = [name for name in folders if Path(folder, name).is_symlink()]
        yield from (Path(folder, name) for name in (*files, *linked))
