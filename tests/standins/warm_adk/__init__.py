"""An interpreter that has imported google-adk: what it is asked to run, it runs in a fork.

Importing google-adk takes seconds, which tests that start an agent each would pay each. A program
started by the launcher is a process of its own as ever, as the launcher's user, with its folder,
environment and pipes. It is no child of the launcher's, so what is about limits, about the end of
agents or about the import itself starts the real interpreter.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.places import open_place

HERE = Path(__file__).parent


@contextmanager
def warm_python(python: Path) -> Iterator[Path]:
    """A launcher that stands in for this interpreter, for all users of this machine."""
    with open_place() as place:
        address, launcher = place / "socket", place / "python"
        body = (HERE / "launcher.py").read_text(encoding="utf-8")
        launcher.write_text(f"#!{python} -IS\n{body}", encoding="utf-8")
        launcher.chmod(0o755)
        command = [str(python), "-s", str(HERE / "server.py"), str(address)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
            assert server.stdout
            assert server.stdout.readline() == b"ready\n"
            try:
                yield launcher
            finally:
                server.terminate()
