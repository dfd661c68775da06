"""Installs gradegate on the runner itself and runs it, for runners that have no Docker.

The runner's Python starts this, with the step's inputs in GRADEGATE_INPUTS. As root, or where sudo
asks for no password, agents run as other users, as in the container. What cannot be kept apart all
the same, docs/container.md says.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)
READ = ("pyproject.toml", "requirements", "action_src", "templates")
"""What an environment is made of."""


def variables(inputs: str) -> dict[str, str]:
    """The inputs as GitHub hands them to a container."""
    return {f"INPUT_{name.upper()}": value for name, value in json.loads(inputs).items()}


def key(root: Path = ROOT) -> str:
    """Another one for each version: a runner of one's own keeps what it has installed."""
    digest = hashlib.sha256(sys.version.encode())
    for name in READ:
        place = root / name
        for file in sorted(place.rglob("*") if place.is_dir() else [place]):
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(f"{file.relative_to(root)}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


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
    # As root outside of anybody's home: other users must get there.
    place = "RUNNER_TOOL_CACHE" if os.geteuid() == 0 else "RUNNER_TEMP"
    program = install(Path(os.environ.get(place) or "/opt", "gradegate-composite", key()))
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
