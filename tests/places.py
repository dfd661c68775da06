"""Folders to work in."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_place() -> Iterator[Path]:
    """A folder that other users can get to, as pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="gradegate-tests-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
