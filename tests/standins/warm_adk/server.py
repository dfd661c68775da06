"""Imports google-adk once, and forks for each who asks; run by the interpreter that has it."""

import json
import os
import runpy
import select
import signal
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from google.adk.agents import Agent, config_agent_utils  # noqa: F401 - read, so that forks have it
from google.adk.apps.app import App  # noqa: F401
from google.adk.artifacts import in_memory_artifact_service  # noqa: F401
from google.adk.evaluation import eval_case, eval_metrics  # noqa: F401
from google.adk.memory import in_memory_memory_service  # noqa: F401
from google.adk.runners import Runner  # noqa: F401
from google.adk.sessions import in_memory_session_service  # noqa: F401

CREDENTIALS = struct.Struct("3i")


def become(launcher: socket.socket, user: tuple[int, int]) -> None:
    """Be what the launcher was started as: `-s SCRIPT ARGUMENT…`."""
    _, streams, _, _ = socket.recv_fds(launcher, 1, 3)
    with launcher.makefile() as file:
        order: dict[str, Any] = json.load(file)
    launcher.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    uid, gid = user
    if uid != os.getuid():
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environ"])
    _, script, *_ = order["arguments"]
    sys.argv[:] = order["arguments"][1:]
    where = Path(script)
    sys.path[:1] = [] if where.is_dir() else [str(where.parent)]  # a folder puts itself there
    runpy.run_path(script, run_name="__main__")


def look_after(launcher: socket.socket) -> None:
    """Start what it asks for; tell it the end, or end it when the launcher was ended."""
    _, uid, gid = CREDENTIALS.unpack(
        launcher.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    )
    child = os.fork()
    if child == 0:
        os.setsid()
        become(launcher, (uid, gid))
        os._exit(0)
    end = os.pidfd_open(child)
    watch = select.poll()
    watch.register(end, select.POLLIN)
    watch.register(launcher, 0)  # hang-up alone: what it says is the child's to read
    if end not in dict(watch.poll()):
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    with suppress(BrokenPipeError):
        launcher.sendall(str(code if code >= 0 else 128 - code).encode())


def serve(address: str) -> None:
    """Fork at each connection."""
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        os.chmod(address, 0o777)  # noqa: PTH101, S103 - agents run as other users
        door.listen(64)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        print("ready", flush=True)
        while True:
            launcher, _ = door.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                door.close()
                look_after(launcher)
                os._exit(0)
            launcher.close()


serve(sys.argv[1])
