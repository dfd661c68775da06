"""Files that Git LFS keeps apart: put in place from what the clone has, without running git-lfs.

git-lfs would ask whatever server the commit's own `.lfsconfig` names. What was fetched before lies
below `.git/lfs`, by its digest.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from gradegate.model.notice import Notice, notice
from gradegate.sides.git_command import Git

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*"
    rb"oid sha256:([0-9a-f]{64})\nsize \d+\n"
)
_LARGEST_POINTER = 1024


def put_in_place(git: Git, folder: Path) -> Iterator[Notice]:
    """Replace pointers below a folder by the files they stand for; tell of those that are left."""
    objects = git.folder / git.must("rev-parse", "--git-common-dir").text / "lfs" / "objects"
    left = [
        file
        for file, oid in sorted(_pointers(folder))
        if not _put(objects / oid[:2] / oid[2:4] / oid, oid, file)
    ]
    if left:
        yield notice("lfs.pointers", count=len(left), path=left[0].relative_to(folder))


def _pointers(folder: Path) -> Iterator[tuple[Path, str]]:
    for top, _, files in os.walk(folder):
        for name in files:
            file = Path(top, name)
            if not file.is_symlink() and file.stat().st_size <= _LARGEST_POINTER:
                pointer = _POINTER.fullmatch(file.read_bytes())
                if pointer:
                    yield file, pointer[1].decode()


def _put(found: Path, oid: str, file: Path) -> bool:
    """Copy the object over the pointer, if it is there and is what it is called."""
    if found.is_symlink() or not found.is_file():
        return False
    with found.open("rb") as content:
        if hashlib.file_digest(content, "sha256").hexdigest() != oid:
            return False
    shutil.copyfile(found, file)
    return True
