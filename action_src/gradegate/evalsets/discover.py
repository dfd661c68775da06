"""Where the eval sets are, and which agent each of them is for."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath

from gradegate.evalsets.formats import is_eval_set_name
from gradegate.files.json_document import refuse_outside
from gradegate.model.errors import FileError, InputError
from gradegate.model.settings import Suite

IsAgent = Callable[[Path], bool]

EVAL_FOLDERS = frozenset({"eval", "evals", "evaluation", "test", "tests"})
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv"})
_NEVER_SETS = ("test_config.json", ".session.json", ".evalset_result.json", ".tools.json")
_WILDCARD = re.compile(r"[*?\[]")
_BINDS_AGENT = re.compile(
    r"\broot_agent\b"
    r"|\bget_agent_async\b"
    r"|^app\s*[:=]"
    r"|^from\s[^\n]*\bimport\b[^\n]*(\bapp\b|\*)",
    re.MULTILINE,
)


def find(root: Path, patterns: Iterable[str]) -> list[str]:
    """Files that the patterns name, as sorted paths from `root` with forward slashes.

    A pattern is a file, a folder (all its eval sets), or a glob in which `**` stands for any
    number of folders. Hidden folders are searched only where a pattern names them.
    """
    found: set[str] = set()
    for pattern in patterns:
        found.update(_matching(root, pattern))
    for name in found:
        _refuse_what_is_not_utf8(name)
    return sorted(found)


def _refuse_what_is_not_utf8(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise FileError(repr(name)[1:-1], "its name is not UTF-8: rename the file") from error


def discover_suites(root: Path) -> tuple[Suite, ...]:
    """A suite for every agent that has eval sets; sets without one make agentless suites."""
    sets_of: dict[tuple[str | None, str], list[str]] = {}
    is_agent = cache(is_agent_folder)
    for name in find(root, (".",)):
        agent = _agent_of(root, PurePosixPath(name), is_agent)
        folder = agent if agent is not None else PurePosixPath(name).parent.as_posix()
        sets_of.setdefault((agent, folder), []).append(name)
    names = Counter(_name_of(*key) for key in sets_of)
    return tuple(
        Suite(
            name=_name_of(agent, folder) if names[_name_of(agent, folder)] == 1 else folder,
            agent=agent,
            evals=tuple(files),
        )
        for (agent, folder), files in sorted(sets_of.items(), key=lambda item: item[0][1])
    )


def is_agent_folder(folder: Path) -> bool:
    """Whether ADK would find an agent here, judged by the text alone: nothing is imported."""
    if (folder / "root_agent.yaml").is_file():
        return True
    sources = [folder / "agent.py", folder / "__init__.py"]
    return any(
        _BINDS_AGENT.search(source.read_text(encoding="utf-8", errors="replace"))
        for source in sources
        if source.is_file()
    )


def agent_folders(root: Path) -> list[str]:
    """Every folder in which ADK would find an agent, sorted."""
    marks = {"agent.py", "__init__.py", "root_agent.yaml"}
    files = (PurePosixPath(name) for name in files_below(root, ()))
    folders = {file.parent.as_posix() for file in files if file.name in marks}
    return sorted(folder for folder in folders if is_agent_folder(root / folder))


def _matching(root: Path, pattern: str) -> Iterator[str]:
    parts = _parts(pattern)
    place = root.joinpath(*parts)
    if place.is_file():
        yield "/".join(parts)
        return
    if place.is_dir():
        yield from (n for n in files_below(root, parts) if is_eval_set_name(root / n))
        return
    fixed = [i for i, part in enumerate(parts) if _WILDCARD.search(part)]
    if not fixed:
        return
    for name in files_below(root, parts[: fixed[0]]):
        if not name.endswith(_NEVER_SETS) and _matches(name.split("/"), parts):
            yield name


def _parts(pattern: str) -> list[str]:
    """The pattern's folders; one that would leave the repository is the user's mistake."""
    path = PurePosixPath(pattern)
    if path.is_absolute() or ".." in path.parts:
        raise InputError(f"`{pattern}` leads outside the repository: write a path within it")
    parts: list[str] = []
    for part in path.parts:
        if not (part == "**" and parts[-1:] == ["**"]):
            parts.append(part)
    return parts


def _matches(path: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the pattern fits, in one go through the path however many `**` there are."""
    pattern = [*pattern, "*"] if pattern[-1:] == ["**"] else pattern
    places = _with_what_follows({0}, pattern)
    for part in path:
        stay = {at for at in places if pattern[at : at + 1] == ["**"]}
        go_on = {at + 1 for at in places - stay if fnmatchcase(part, "".join(pattern[at : at + 1]))}
        places = _with_what_follows(stay | go_on, pattern)
    return len(pattern) in places


def _with_what_follows(places: set[int], pattern: Sequence[str]) -> set[int]:
    """`**` may stand for no folder at all."""
    return places | {at + 1 for at in places if pattern[at : at + 1] == ["**"]}


def files_below(root: Path, below: Sequence[str]) -> Iterator[str]:
    """Every file in a folder, as a path from `root`; what nobody wrote by hand is skipped."""
    refuse_outside(root, "/".join(below))
    for folder, folders, files in os.walk(root.joinpath(*below)):
        folders[:] = [f for f in folders if not _is_skipped(Path(folder, f))]
        for file in files:
            yield Path(folder, file).relative_to(root).as_posix()


def _is_skipped(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name in _SKIPPED
    return hidden or (folder / "pyvenv.cfg").is_file()


def _agent_of(root: Path, file: PurePosixPath, is_agent: IsAgent) -> str | None:
    """The nearest agent at or above the set, or beside the eval folder it is in."""
    for folder in file.parents:
        if is_agent(root / folder):
            return folder.as_posix()
        if folder.name in EVAL_FOLDERS and not is_agent(root / folder.parent):
            beside = _agents_beside(root, folder, is_agent)
            named = [agent for agent in beside if agent.name in file.parts]
            for choice in (named, beside):
                if len(choice) == 1:
                    return choice[0].as_posix()
    return None


def _agents_beside(root: Path, folder: PurePosixPath, is_agent: IsAgent) -> list[PurePosixPath]:
    around = sorted((root / folder).parent.iterdir())
    return [
        folder.parent / place.name
        for place in around
        if place.is_dir() and not _is_skipped(place) and is_agent(place)
    ]


def _name_of(agent: str | None, folder: str) -> str:
    """The folder's name; the repository's own differs from checkout to checkout."""
    return PurePosixPath(folder).name or ("evals" if agent is None else "agent")
