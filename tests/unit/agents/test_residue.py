"""What is left of a uid that is nobody's any more: nothing, and of others everything."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradegate.agents.residue import remove_residue
from gradegate.agents.uids import claim_uid
from tests.integration.test_sandbox import SYSTEM_PYTHON, as_root

pytestmark = [pytest.mark.trust, as_root]

PLACES = [Path(name) for name in ("/tmp", "/var/tmp", "/dev/shm")]  # noqa: S108
LEAVES = """
import ctypes, os, sys
name = sys.argv[1]
for place in sys.argv[2:]:
    os.symlink("/etc/passwd", f"{place}/{name}.link")
    os.mkfifo(f"{place}/{name}.pipe")
    os.mkdir(f"{place}/{name}")
    os.chdir(f"{place}/{name}")
    for _ in range(1500):
        os.mkdir("d")
        os.chdir("d")
kernel = ctypes.CDLL(None)
print(kernel.shmget(0, 4096, 0o1600), kernel.msgget(0, 0o1600), kernel.semget(0, 1, 0o1600))
"""


def leave(uid: int, name: str) -> list[str]:
    """Have a program of this uid leave everything it can; the numbers of what is no file."""
    command = [str(SYSTEM_PYTHON), "-c", LEAVES, name, *map(str, PLACES)]
    done = subprocess.run(
        command, user=uid, group=uid, extra_groups=[], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def left(name: str) -> list[Path]:
    """The files and folders of this name."""
    return [found for place in PLACES for found in place.glob(f"{name}*")]


def kept_by_kernel(numbers: list[str]) -> int:
    """How many of a shared memory, a queue and a semaphore are still there."""
    kinds = zip(("shm", "msg", "sem"), numbers, strict=True)
    return sum(
        number in [row.split()[1] for row in Path(f"/proc/sysvipc/{kind}").read_text().splitlines()]
        for kind, number in kinds
    )


@pytest.fixture
def name() -> Iterator[str]:
    """A name that no other test has."""
    name = f"residue-{os.getpid()}"
    yield name
    for found in left(name):
        subprocess.run(["rm", "-rf", str(found)], check=True)


def test_nothing_of_a_uid_is_left_when_it_is_given_up(name: str) -> None:
    """An agent leaves links, pipes, folders without end and shared memory wherever it may write."""
    identity = claim_uid()
    numbers = leave(identity.uid, name)
    assert len(left(name)) == 3 * len(PLACES)
    assert kept_by_kernel(numbers) == 3
    assert identity.give_up() is None
    assert left(name) == []
    assert kept_by_kernel(numbers) == 0
    assert Path("/etc/passwd").exists()


def test_what_others_left_stays(name: str) -> None:
    """The control: somebody else's files are no residue of this uid."""
    one, two = claim_uid(), claim_uid()
    numbers = leave(one.uid, name)
    remove_residue(two.uid)
    assert len(left(name)) == 3 * len(PLACES)
    assert kept_by_kernel(numbers) == 3
    assert (one.give_up(), two.give_up()) == (None, None)
    assert left(name) == []
