"""What a tree of files is, in one line."""

import hashlib
import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path


def tree_digest(root: Path, exclude: Collection[str] = ()) -> str:
    """SHA-256 over the paths, x bits, link targets and contents of all files below `root`.

    `exclude` holds paths relative to `root`, with forward slashes; a folder's stands for all
    that is in it. Empty folders, times and owners make no difference.
    """
    digest = hashlib.sha256()
    for path in sorted(_files(root, "", frozenset(exclude)), key=os.fsencode):
        for field in _fields(root / path):
            digest.update(field)
        name = os.fsencode(path)
        digest.update(len(name).to_bytes(8) + name)
    return digest.hexdigest()


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
