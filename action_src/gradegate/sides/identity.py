"""What makes a side what it is, in one line: its files, its agents, all its scores depend on."""

import hashlib
import json
import os
import shutil
import stat
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from gradegate.model.evalset import Case
from gradegate.model.runs import Side
from gradegate.model.settings import Settings, Suite


def tree_digest(
    root: Path, exclude: Collection[str] = (), within: Iterable[str] | None = None
) -> str:
    """SHA-256 over the paths, x bits, link targets and contents of all files below `root`.

    `exclude` holds paths relative to `root`, with forward slashes; a folder's stands for all
    that is in it. `within` names the files and folders that count, where not all do. Empty
    folders, times and owners make no difference.
    """
    digest = hashlib.sha256()
    for path in sorted(_chosen(root, frozenset(exclude), within), key=os.fsencode):
        for field in _fields(root / path):
            digest.update(field)
        name = os.fsencode(path)
        digest.update(len(name).to_bytes(8) + name)
    return digest.hexdigest()


def _chosen(root: Path, exclude: frozenset[str], within: Iterable[str] | None) -> Iterator[str]:
    for path in [""] if within is None else within:
        if path and (path in exclude or not os.path.lexists(root / path)):
            continue
        if (root / path).is_dir():
            yield from _files(root, path, exclude)
        else:
            yield path


def _files(root: Path, below: str, exclude: frozenset[str]) -> Iterator[str]:
    with os.scandir(root / below) as entries:
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            if path in exclude:
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files(root, path, exclude)
            else:
                yield path


def _fields(file: Path) -> Iterator[bytes]:
    """What the file is; kind and size go first, so that no two files can read alike."""
    status = file.lstat()
    if stat.S_ISLNK(status.st_mode):
        target = os.fsencode(file.readlink())
        yield b"link" + len(target).to_bytes(8) + target
    elif stat.S_ISREG(status.st_mode):
        yield b"exec" if status.st_mode & stat.S_IXUSR else b"file"
        with file.open("rb") as content:
            yield hashlib.file_digest(content, "sha256").digest()
    else:
        yield b"else"


_ALWAYS_NAMED = {"agent", "command", "python", "requirements", "env"}
_NOT_HOW_IT_RUNS = {"name", "evals", "eval_config", "traces", "runs"}
"""All else counts, where it is not the default."""
NOT_THE_AGENT = (".github/workflows", ".gradegate", "gradegate.toml")
"""Of `.github` only the workflows: prompts are kept beside them, which agents do read."""


def agent_identity(
    suite: Suite, side: Side, exclude: Collection[str], scope: Sequence[str] | None = None
) -> str:
    """Equal for agents that cannot but behave alike.

    An agent may read any file of its scope (None: the whole repository), so all of them count, but
    for eval sets and settings (`exclude`, from the project's folder): a new case does not make a
    new agent. What does not count is not there when an agent runs.
    """
    if suite.traces is not None:
        recording = side.root / suite.traces
        content = recording.read_bytes() if recording.is_file() else b""
        return _digest(["recorded", hashlib.sha256(content).hexdigest()])
    how = suite.model_dump(mode="json", include=_ALWAYS_NAMED) | suite.model_dump(
        mode="json", exclude=_NOT_HOW_IT_RUNS, exclude_defaults=True
    )
    tree = tree_digest(side.top, _left_out(side, exclude), scope)
    within = [] if scope is None else [scope]
    return _digest([how, _project_of(side), tree, *within, *_tools(suite, side)])


def _tools(suite: Suite, side: Side) -> Iterator[Any]:
    """What the tools answer, where they are not simply called; to record is to call them anew."""
    if suite.tools == "record":
        yield uuid.uuid4().hex
    elif suite.tools == "recorded":
        for name, recording in sorted(side.recordings.items()):
            yield name, recording.model_dump(mode="json")


def leave_what_counts(side: Side, exclude: Collection[str]) -> None:
    """Take out of a side's export whatever its agents' identities leave out.

    A way that leads through a link is not gone: what is there counts where it really is.
    """
    for path in _left_out(side, exclude):
        place = side.top / path
        parents = [side.top / folder for folder in PurePosixPath(path).parents]
        if any(parent.is_symlink() for parent in parents) or not os.path.lexists(place):
            continue
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()


def _left_out(side: Side, exclude: Collection[str]) -> list[str]:
    below = _project_of(side)
    prefix = "" if below == "." else f"{below}/"
    return [*(f"{prefix}{path}" for path in (*NOT_THE_AGENT, *exclude)), *NOT_THE_AGENT]


def _project_of(side: Side) -> str:
    return side.root.relative_to(side.top).as_posix()


def fingerprint(agents: Sequence[str], cases: Iterable[Case], settings: Settings | None) -> str:
    """Equal for sides that nothing could tell apart: agents, cases, configs, settings.

    Settings that are as by default do not count: a new one leaves fingerprints as they are.
    """
    return _digest(
        [
            list(agents),
            [[*case.key, case.digest, case.config.model_dump(mode="json")] for case in cases],
            (settings or Settings()).model_dump(mode="json", exclude_defaults=True),
        ]
    )


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
