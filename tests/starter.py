"""Starts the command without starting Python again: forks of a process that imported it all.

A call is a process of its own as ever, with its arguments, environment, working directory,
output and exit code; only reading the modules, most of what a short call costs, is done once.
Whatever is about the start itself runs the installed command (`Project.installed`).
"""

import atexit
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import gradegate

DEAR = (
    "gradegate.judge.providers",
    "gradegate.forges",
    "gradegate.agents.adk_worker",
    "gradegate.agents.supervisor",
    "gradegate.demo",
)
"""Read when a call needs them, or by other programs alone."""
OURS = (
    *(
        found.name
        for found in walk_packages(gradegate.__path__, "gradegate.")
        if not found.name.startswith(DEAR)
    ),
    "rich.console",
    "rich.table",
)
JUDGES, FORGE = (
    ("gradegate.judge.providers.gemini", "google.genai"),
    ("gradegate.forges.github.forge", "github"),
)

VIEWS = ("comment", "check", "summary", "html", "junit", "text")
REPORT = Path(__file__).parent / "golden" / "fail" / "report.json"


class Starter:
    """The process that is forked, started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._one_at_a_time = threading.Lock()

    def run(
        self, arguments: Sequence[str], cwd: Path, environ: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Like `subprocess.run` of gradegate with these."""
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            order = {
                "arguments": list(arguments),
                "cwd": str(cwd),
                "environ": dict(environ),
                "output": [str(out), str(err)],
            }
            code = self._ask(order)
            said = out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8")
            return subprocess.CompletedProcess(["gradegate", *arguments], code, *said)

    def _ask(self, order: Mapping[str, Any]) -> int:
        with self._one_at_a_time:
            process = self._process or self._start()
            assert process.stdin
            assert process.stdout
            process.stdin.write(f"{json.dumps(order)}\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            assert answer, "the process that starts gradegate is gone"
            return int(answer)

    def _start(self) -> subprocess.Popen[str]:
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": os.environ["PATH"]},
            start_new_session=True,
        )
        atexit.register(self._close)
        return self._process

    def _close(self) -> None:
        if self._process:
            self._process.communicate()


STARTER = Starter()


def _serve() -> list[str]:
    """Fork at each order; the arguments, in each child."""
    _warm_up()
    _prepare(OURS)
    for line in sys.stdin:
        order = json.loads(line)
        _prepare(FORGE if "GITHUB_API_URL" in order["environ"] else ())
        _prepare(JUDGES if "GOOGLE_API_KEY" in order["environ"] else ())
        child = os.fork()
        if child == 0:
            return _become(order)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()
    os._exit(0)


def _warm_up() -> None:
    """Work out what a process keeps: how to stem words, and every compiled template."""
    from gradegate.cli import main
    from gradegate.criteria.response_match import ResponseMatch

    ResponseMatch.warm_up()
    for view in VIEWS:
        with redirect_stdout(StringIO()):
            main(["render", str(REPORT), "--format", view])


def _prepare(names: Sequence[str]) -> None:
    for name in names:
        import_module(name)
    gc.collect()
    gc.freeze()  # what is never looked at is never copied


def _become(order: Mapping[str, Any]) -> list[str]:
    """Take on what the order says, as if started with it."""
    for number, path in enumerate((os.devnull, *order["output"])):
        file = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(file, number)
        os.close(file)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environ"])
    tempfile.tempdir = None  # looked up again, should this process know one already
    arguments: list[str] = order["arguments"]
    sys.argv = ["gradegate", *arguments]
    return arguments


def _call(arguments: list[str]) -> int:
    """The exit code; a traceback where `--debug` has one end the process."""
    from gradegate.cli import main

    try:
        return main(arguments)
    except SystemExit as left:  # what does not parse
        return int(left.code or 0)
    except Exception:  # noqa: BLE001 - as the interpreter would
        traceback.print_exc()
        return 1


if __name__ == "__main__":
    exit_code = _call(_serve())
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_code)  # to take all the modules apart costs as much as a short call
