"""What is asked of Landlock, by the version of it that a kernel has."""

from pathlib import Path

import pytest

from gradegate.agents.landlock import confinement, isolation_of, network_not_held
from gradegate.model.settings import Suite

HOME = Path("/home/agent")
WRITE, MOVE, TRUNCATE = 1 << 1, 1 << 13, 1 << 14


def test_a_kernel_without_it_is_asked_for_nothing() -> None:
    """And the reader is told so."""
    assert confinement([HOME], "none", version=0) is None
    told = [one.code for one in isolation_of(Suite(name="desk", network="none"), version=0)]
    assert told == ["isolation.no_landlock", "isolation.network_not_held"]


@pytest.mark.parametrize(
    ("version", "files", "ports", "ways_out"),
    [
        (1, 0x1FF2, 0, 0),
        (2, 0x1FF2 | MOVE, 0, 0),
        (3, 0x1FF2 | MOVE | TRUNCATE, 0, 0),
        (4, 0x1FF2 | MOVE | TRUNCATE, 3, 0),
        (6, 0x1FF2 | MOVE | TRUNCATE, 3, 3),
        (99, 0x1FF2 | MOVE | TRUNCATE, 3, 3),
    ],
)
def test_no_kernel_is_asked_for_what_it_does_not_know(
    version: int, files: int, ports: int, ways_out: int
) -> None:
    """It would refuse, and no agent could be started. Reading is left alone."""
    asked = confinement([HOME], "none", version)
    assert asked is not None
    assert asked.handled == (files, ports, ways_out)
    given_back = dict(asked.paths)
    assert given_back[str(HOME)] == files
    assert given_back["/dev"] == files & (WRITE | TRUNCATE)
    assert asked.ports == ()


def test_ports_are_given_back_one_by_one() -> None:
    """Where the network is open it is not even asked about."""
    asked = confinement([HOME], (443, 8080), version=4)
    assert asked is not None
    assert asked.ports == ((443, 3), (8080, 3))
    unconfined = confinement([HOME], "open", version=4)
    assert unconfined is not None
    assert (unconfined.handled[1], unconfined.ports) == (0, ())


@pytest.mark.parametrize(
    ("network", "version", "code"),
    [
        ("open", 7, "isolation.open"),
        ("none", 7, "isolation.no_tcp"),
        ((), 7, "isolation.no_tcp"),
        ((443,), 7, "isolation.ports"),
        ((443,), 3, "isolation.network_not_held"),
        ("open", 3, "isolation.open"),
    ],
)
def test_the_reader_is_told_what_holds(network: object, version: int, code: str) -> None:
    """A `network` that is not enforced is told as such, and as a warning besides."""
    suite = Suite.model_validate({"name": "desk", "network": network})
    writes, told = isolation_of(suite, version)
    assert (writes.code, told.code) == ("isolation.writes", code)
    assert (network_not_held(suite, version) is None) == (code != "isolation.network_not_held")
