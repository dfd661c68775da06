"""Stands between us and an agent's program: starts it under limits, and ends all it started.

Run as a script by our interpreter, with the standard library alone:

    supervisor.py run FD      FD is a socket: the order comes in as JSON, and what kept the
                              program from starting goes back; nothing goes back if it started
    supervisor.py sweep UID   end every process of a uid that is the agent's alone; exit code 0
                              says that the kernel has been through all of them

A process of its own can do three things that its parent cannot: be the one to whom children
that leave the group and the session are handed (`PR_SET_CHILD_SUBREAPER`), set limits between
fork and exec without running Python in a forked copy of a threaded program, and outlive us for
the moment it takes to end the agent when we are killed.
"""

import ctypes
import json
import os
import resource
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_ON_LINUX = sys.platform == "linux"
_WATCHED = {signal.SIGCHLD, signal.SIGTERM}
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""Landlock's calls, by the same numbers on every kind of machine."""
_BELOW_PATH, _PORT = 1, 2
_3_NUMBERS = ctypes.c_size_t(24)
_FIRST_TO_GO = "1000"
"""For the kernel when memory runs out: the agent, not us."""
_GIVES_WAY = 5
_ROUND = 0.005


def run(channel: socket.socket) -> NoReturn:
    """Start what the order says, wait for its end or for SIGTERM, and leave nothing behind."""
    order = _read(channel)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if os.getppid() != order["parent"]:
        sys.exit("the one who asked for this program is gone")
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    program = os.fork()
    if program == 0:
        _become(order, channel)
    channel.close()
    _let_go_of_the_pipes()
    status = _wait_for(program)
    _end_everything(program)
    _end_as(status)


def sweep(uid: int) -> None:
    """End all processes of the uid at once.

    `kill(-1)` gives a fork bomb no gap to slip through: nobody can fork while the kernel goes
    through the list, nor afterwards with the signal waiting. A process of the uid can end this
    one before it gets there; then its exit code is not 0.
    """
    if uid <= 0:
        raise ValueError(uid)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if os.getresuid() != (uid, uid, uid):
        raise PermissionError(uid)
    with suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def _read(channel: socket.socket) -> dict[str, Any]:
    with channel.makefile("rb") as incoming:
        order = json.load(incoming)
    assert isinstance(order, dict)  # noqa: S101 - written by us
    return order


def _become(order: dict[str, Any], channel: socket.socket) -> NoReturn:
    """Turn into the program; never returns to the supervisor's code."""
    channel.set_inheritable(False)
    try:
        os.setsid()
        _limit(order["limits"])
        if order["user"]:
            uid, gid = order["user"]
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if order["confinement"]:
            _confine(**order["confinement"])
        os.chdir(order["cwd"])
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
        os.execvpe(order["command"][0], order["command"], order["env"])  # noqa: S606 - no shell is the point
    except OSError as error:
        channel.sendall(json.dumps([error.errno, error.strerror]).encode())
    finally:
        os._exit(127)


def _limit(limits: dict[str, int]) -> None:
    for name, most in limits.items():
        kind = getattr(resource, name)
        _, allowed = resource.getrlimit(kind)
        bound = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
        resource.setrlimit(kind, (bound, bound))
    os.nice(_GIVES_WAY)
    if _ON_LINUX:
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO)


def _confine(handled: list[int], paths: list[list[Any]], ports: list[list[int]]) -> None:
    """Give up for good what Landlock can take away, but for what the rules give back.

    Places are opened as the program's own user, who may have gained nothing by them.
    """
    rules = _landlock(_CREATE_RULESET, struct.pack("=QQQ", *handled), _3_NUMBERS, 0)
    for path, rights in paths:
        with suppress(FileNotFoundError):
            place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
            _landlock(_ADD_RULE, rules, _BELOW_PATH, struct.pack("=Qi", rights, place), 0)
            os.close(place)
    for port, rights in ports:
        _landlock(_ADD_RULE, rules, _PORT, struct.pack("=QQ", rights, port), 0)
    _landlock(_RESTRICT_SELF, rules, 0)
    os.close(rules)


def _landlock(number: int, *arguments: Any) -> int:
    told = int(ctypes.CDLL(None, use_errno=True).syscall(number, *arguments))
    if told < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"Landlock: {os.strerror(error)}")
    return told


def _let_go_of_the_pipes() -> None:
    """The program's end of each pipe is the only one, so that its closing is seen."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in (0, 1, 2):
        os.dup2(nothing, pipe)
    os.close(nothing)


def _wait_for(program: int) -> int:
    """The program's status when it ends, or that of a killed one when we are told to stop."""
    while signal.sigwait(_WATCHED) != signal.SIGTERM:
        for pid, status in _reaped():
            if pid == program:
                return status
    return signal.SIGKILL


def _reaped() -> Iterator[tuple[int, int]]:
    """Children that have ended. ChildProcessError: there are none left, ended or not."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        yield pid, status


def _end_everything(group: int) -> None:
    """Kill the program's group, then whoever is handed to us because its parent died."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            for child in _children():
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            for _ in _reaped():
                pass
            time.sleep(_ROUND)


def _children() -> Iterator[int]:
    """Our own children: not reaped by anyone but us, so their pids cannot be somebody else's."""
    ours = str(os.getpid())
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[1] == ours:
                yield int(folder.name)


def _end_as(status: int) -> NoReturn:
    """End the way the program did."""
    if os.WIFSIGNALED(status):
        deed = os.WTERMSIG(status)
        if deed != signal.SIGKILL:
            signal.signal(deed, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {deed})
        os.kill(os.getpid(), deed)
    sys.exit(os.waitstatus_to_exitcode(status))


def _prctl(option: int, value: int) -> None:
    if _ON_LINUX and ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    if sys.argv[1] == "sweep":
        sweep(int(sys.argv[2]))
    else:
        run(socket.socket(fileno=int(sys.argv[2])))
