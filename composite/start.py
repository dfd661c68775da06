"""Installs gradegate on the runner itself and runs it, for runners that have no Docker.

The runner's Python starts this, with the step's inputs in GRADEGATE_INPUTS. As root, or where sudo
asks for no password, agents run as other users, as in the container. What cannot be kept apart all
the same, docs/container.md says.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)
AS_ROOT = Path("/opt/gradegate-composite")
"""Other users can get there, as they must."""


def variables(inputs: str) -> dict[str, str]:
    """The inputs as GitHub hands them to a container."""
    return {f"INPUT_{name.upper()}": value for name, value in json.loads(inputs).items()}


def install(folder: Path, root: Path = ROOT) -> Path:
    """Have gradegate in an environment of its own, every dependency by its hash; the program."""
    program = folder / "bin" / "gradegate"
    requirements = root / "requirements"
    if not program.exists():
        _run(sys.executable, "-m", "venv", folder)
        pip = (folder / "bin" / "python", "-m", "pip", "install", "--quiet")
        _run(
            *pip, "--disable-pip-version-check", "--require-hashes", "-r", requirements / "uv.lock"
        )
        uv = (folder / "bin" / "uv", "pip", "install", "--quiet", "--python", folder / "bin/python")
        _run(*uv, "--require-hashes", "-r", requirements / "vertex.lock")
        _run(*uv, "--no-deps", root)
    return program


def main() -> int:
    """Become root where that is to be had, install, and run."""
    if sys.version_info < OLDEST:
        sys.stdout.write(
            "::error title=gradegate::needs Python 3.11 or newer: add actions/setup-python before\n"
        )
        return 2
    if os.geteuid() != 0 and _may_become_root():
        words = ["sudo", "--non-interactive", "--preserve-env", sys.executable, __file__]
        return subprocess.run(words, check=False).returncode
    if os.geteuid() != 0:
        sys.stdout.write(
            "::warning title=gradegate::no root and no sudo here: agents run as the same user as "
            "this job, and can read and change what it can; where Docker is, use the container\n"
        )
        sys.stdout.flush()
    temporary = Path(os.environ.get("RUNNER_TEMP") or "/tmp")  # noqa: S108 - as the runner says
    program = install(AS_ROOT if os.geteuid() == 0 else temporary / "gradegate-composite")
    environ = {**os.environ, **variables(os.environ["GRADEGATE_INPUTS"])}
    del environ["GRADEGATE_INPUTS"]
    return subprocess.run([program, "action"], env=environ, check=False).returncode


def _may_become_root() -> bool:
    try:
        asked = ["sudo", "--non-interactive", "true"]
        return subprocess.run(asked, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def _run(*words: object) -> None:
    subprocess.run([str(word) for word in words], check=True)


if __name__ == "__main__":
    sys.exit(main())
