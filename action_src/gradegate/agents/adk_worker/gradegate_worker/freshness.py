"""What a copy of a loaded agent must not share with the others, and whether it can be had apart."""

import gc
import os
import random
import sys
import tempfile
import threading
from collections.abc import Collection, Iterator
from pathlib import Path

from .loading import Loaded
from .serialization import Json

_HOMES = ("HOME", "TMPDIR")
_STATE = random.getstate()
_known: "list[random.Random]" = []


def can_be_copied(loaded: "Loaded | Json") -> bool:
    """Whether a fork is as good as a new process that has loaded the agent.

    A fork has no threads and must not use connections. And where the agent keeps dice of its own,
    nobody knows whether all copies are meant to throw the same.
    """
    if not hasattr(os, "fork") or isinstance(loaded, dict) or loaded.is_bound:
        return False
    own_dice = len(dice()) > len(_known) or random.getstate() != _STATE
    if own_dice or "numpy.random" in sys.modules:
        return False
    tasks = Path("/proc/self/task")
    threads = len(list(tasks.iterdir())) if tasks.is_dir() else threading.active_count()
    return threads == 1


def note_dice() -> None:
    """Take note of google-adk's, before the agent is loaded."""
    _known[:] = dice()


def throw_dice_anew() -> None:
    """Seed anew what a new process would have seeded. Python itself sees to `random`'s own."""
    for one in _known:
        one.seed()


def dice() -> "list[random.Random]":
    """Sources of randomness with a state that a fork repeats."""
    return [one for one in gc.get_objects() if type(one) is random.Random]


def contents(left_out: "Collection[str]" = ()) -> "frozenset[tuple[str, int, int]]":
    """What lies in the home and the temporary folder, and when it was last changed."""
    homes = {os.environ[name] for name in _HOMES if name in os.environ}
    return frozenset(seen for home in homes for seen in _below(home, left_out))


def _below(folder: str, left_out: "Collection[str]") -> "Iterator[tuple[str, int, int]]":
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = [name for name in folders if str(here / name) not in left_out]
        for name in names:
            try:
                about = (here / name).lstat()
            except OSError:
                continue
            yield str(here / name), about.st_size, about.st_mtime_ns


def move_in(home: str) -> None:
    """Have this home and temporary folder from now on."""
    for name in _HOMES:
        os.environ[name] = home
    tempfile.tempdir = None
