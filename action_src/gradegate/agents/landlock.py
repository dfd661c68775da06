"""What a program may still do to the machine, where the kernel's Landlock can hold it to that.

File permissions let everybody write to /tmp, and say nothing of the network. Landlock takes rights
away from a process and all that it starts, for good, and needs no rights itself. It knows folders
and TCP ports; of hosts, UDP and Unix sockets with a path it knows nothing.

This says what to ask of the kernel; `supervisor.py` asks it, in the process that becomes the
program.
"""

import ctypes
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gradegate.model.notice import Notice, notice
from gradegate.model.settings import Network, Suite

_CREATE_RULESET = 444
_VERSION = 1
_WRITE_FILE = 1 << 1
_CHANGE_FOLDERS = sum(1 << bit for bit in range(4, 13))
"""To remove files and folders, and to make them, links, sockets, pipes and devices."""
_MOVE = 1 << 13
_TRUNCATE = 1 << 14
_BIND, _CONNECT = 1 << 0, 1 << 1
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1

_FILES_SINCE = {1: _WRITE_FILE | _CHANGE_FOLDERS, 2: _MOVE, 3: _TRUNCATE}
_PORTS_SINCE = {4: _BIND | _CONNECT}
_WAYS_OUT_SINCE = {6: _ABSTRACT_SOCKETS | _SIGNALS}
"""What can be taken away, by the version of Landlock that began to."""

_DEVICES = ("/dev",)
"""To be written to where there is one, such as /dev/null; nothing can be made there."""
_SHARED_MEMORY = ("/dev/shm",)  # noqa: S108 - semaphores are there, and what is left is removed


@dataclass(frozen=True)
class Confinement:
    """What the kernel is asked for, as numbers that the supervisor hands on."""

    handled: tuple[int, int, int]
    """Rights to files, rights to ports, and ways out: all that is taken away."""
    paths: tuple[tuple[str, int], ...]
    """What of it is given back below these places."""
    ports: tuple[tuple[int, int], ...]


@cache
def abi() -> int:
    """Which version of Landlock the kernel has; 0: none, or none that we may use."""
    if sys.platform != "linux":
        return 0
    call = ctypes.CDLL(None, use_errno=True).syscall
    return max(0, int(call(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)))


def confinement(
    folders: Iterable[Path], network: Network = "open", version: int | None = None
) -> Confinement | None:
    """Writes in these folders alone, and TCP as `network` says, as far as the kernel can.

    None where there is no Landlock at all. `version` is the kernel's where it is not given.
    """
    version = abi() if version is None else version
    if version < 1:
        return None
    files = _known(_FILES_SINCE, version)
    ports = 0 if network == "open" else _known(_PORTS_SINCE, version)
    own = [(str(folder), files) for folder in folders]
    shared = [(place, files) for place in _SHARED_MEMORY]
    devices = [(place, files & (_WRITE_FILE | _TRUNCATE)) for place in _DEVICES]
    allowed = network if ports and not isinstance(network, str) else ()
    return Confinement(
        handled=(files, ports, _known(_WAYS_OUT_SINCE, version)),
        paths=(*own, *shared, *devices),
        ports=tuple((port, ports) for port in allowed),
    )


def isolation_of(suite: Suite, version: int | None = None) -> tuple[Notice, ...]:
    """What a reader is told of where this suite's agent may write and connect to."""
    version = abi() if version is None else version
    missing = network_not_held(suite, version)
    if missing is not None:
        network = missing
    elif suite.network == "open":
        network = notice("isolation.open", suite=suite.name)
    elif ports := "" if suite.network == "none" else ", ".join(map(str, suite.network)):
        network = notice("isolation.ports", suite=suite.name, ports=ports)
    else:
        network = notice("isolation.no_tcp", suite=suite.name)
    if version:
        return notice("isolation.writes", version=version), network
    return notice("isolation.no_landlock"), network


def network_not_held(suite: Suite, version: int | None = None) -> Notice | None:
    """That the suite's `network` is not enforced, where it asks for something to be."""
    version = abi() if version is None else version
    if suite.network == "open" or _known(_PORTS_SINCE, version):
        return None
    return notice("isolation.network_not_held", suite=suite.name, version=version)


def _known(since: Mapping[int, int], version: int) -> int:
    return sum(rights for first, rights in since.items() if first <= version)
