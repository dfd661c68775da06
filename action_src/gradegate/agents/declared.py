"""What a project declares that it needs, where that can be read without building the project.

uv reads `[project]` by itself. For all else it has the project's own build tell, which fails in
many a project that is never built: Poetry's with `package-mode = false`, or one whose readme lies
elsewhere.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gradegate.files.settings_toml import table

_SPACE_IN_PART = re.compile(r"([<>=!~^]+)\s+")
_RELEASE = re.compile(r"\d+(?:\.\d+)*")
_GIT = ("rev", "tag", "branch")


class _UntranslatableError(Exception):
    """Poetry has a word for it, and pip has none."""


def is_poetry(project: Mapping[str, Any]) -> bool:
    """Whether Poetry's own table says what a pyproject.toml needs."""
    listed = table(project, "project").get("dependencies")
    return bool(table(project, "tool", "poetry", "dependencies")) and not isinstance(listed, list)


def declared_needs(project: Mapping[str, Any], folder: Path) -> list[str] | None:
    """The lines of a requirements file; None where uv reads them, or only a build can tell.

    Args:
        project: the content of pyproject.toml.
        folder: where it is, which its paths start from.
    """
    if is_poetry(project):
        try:
            return list(_of_poetry(table(project, "tool", "poetry", "dependencies"), folder))
        except (_UntranslatableError, ValueError):  # numbers and paths that no system can use
            return None
    files = needs_files(project)
    return [f"-r {folder / name}" for name in files] or None


def needs_files(project: Mapping[str, Any]) -> list[str]:
    """The requirements files that setuptools is told to read."""
    dynamic = table(project, "project").get("dynamic")
    if not isinstance(dynamic, list) or "dependencies" not in dynamic:
        return []
    named = table(project, "tool", "setuptools", "dynamic", "dependencies").get("file")
    listed = named if isinstance(named, list) else [named]
    return [name for name in listed if isinstance(name, str)]


def wanted_python(project: Mapping[str, Any]) -> str | None:
    """The versions of Python that it is for."""
    wanted = table(project, "project").get("requires-python")
    if isinstance(wanted, str):
        return wanted
    python = table(project, "tool", "poetry", "dependencies").get("python")
    try:
        return (_versions(python) or None) if isinstance(python, str) else None
    except (_UntranslatableError, ValueError):
        return None


def pinned(lock: Mapping[str, Any]) -> list[str]:
    """The versions that a poetry.lock settles, as constraints.

    What comes from elsewhere than an index is left to the need that says so, and so is what is
    locked more than once, for different machines.
    """
    listed = lock.get("package")
    packages = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    names = [one.get("name") for one in packages]
    return [
        f"{one['name']}=={one['version']}"
        for one in packages
        if isinstance(one.get("name"), str)
        and isinstance(one.get("version"), str)
        and names.count(one["name"]) == 1
        and table(one, "source").get("type", "legacy") == "legacy"
    ]


def _of_poetry(needs: Mapping[str, Any], folder: Path) -> Iterator[str]:
    for name, said in needs.items():
        if name == "python":
            continue
        for one in said if isinstance(said, list) else [said]:
            how = one if isinstance(one, dict) else {"version": one}
            if how.get("optional") is not True:
                yield _need(name, how, folder)


def _need(name: str, how: Mapping[str, Any], folder: Path) -> str:
    extras = how.get("extras")
    named = f"{name}[{','.join(map(str, extras))}]" if isinstance(extras, list) else name
    markers = [f"({how['markers']})"] if "markers" in how else []
    if "python" in how:
        markers += [_of_python(part) for part in _versions(how["python"]).split(",") if part]
    if "platform" in how:
        markers.append(f'sys_platform == "{how["platform"]}"')
    return f"{named}{_place(how, folder)}" + (f" ; {' and '.join(markers)}" if markers else "")


def _place(how: Mapping[str, Any], folder: Path) -> str:
    """Which versions, or from where it comes."""
    if "git" in how:
        revision = next((f"@{how[key]}" for key in _GIT if key in how), "")
        within = f"#subdirectory={how['subdirectory']}" if "subdirectory" in how else ""
        return f" @ git+{how['git']}{revision}{within}"
    if "url" in how:
        return f" @ {how['url']}"
    if "path" in how:
        return f" @ {(folder / str(how['path'])).resolve().as_uri()}"
    return _versions(how.get("version", "*"))


def _of_python(part: str) -> str:
    version = part.lstrip("<>=!~")
    return f'python_full_version {part.removesuffix(version)} "{version}"'


def _versions(constraint: Any) -> str:
    """Poetry's word on versions, in pip's words."""
    if not isinstance(constraint, str) or "|" in constraint:
        raise _UntranslatableError
    parts = _SPACE_IN_PART.sub(r"\1", constraint).replace(",", " ").split()
    return ",".join(_part(part) for part in parts if part != "*")


def _part(part: str) -> str:
    if part.startswith(("~=", ">", "<", "==", "!=")):
        return part
    version = part.lstrip("^~=v")
    release = _RELEASE.match(version)
    if release is None:
        raise _UntranslatableError
    numbers = [int(number) for number in release[0].split(".")]
    if part.startswith("^"):
        last = next((n for n, number in enumerate(numbers) if number), len(numbers) - 1)
        return f">={version},<{_next(numbers, last)}"
    if part.startswith("~"):
        return f">={version},<{_next(numbers, min(1, len(numbers) - 1))}"
    return f"=={version}"


def _next(numbers: list[int], place: int) -> str:
    return ".".join(map(str, [*numbers[:place], numbers[place] + 1]))
