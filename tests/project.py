"""Small repositories to try the whole job on: a scripted agent, eval sets, two branches."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.starter import STARTER

GRADEGATE = Path(sys.executable).parent / "gradegate"

# An agent of two dozen lines: it answers from a table in a file of its own repository, and
# notes every run it makes where the test can count them.
AGENT = """
import json, os, sys, time
table = json.load(open("answers.json", encoding="utf-8"))
log = os.environ.get("AGENT_LOG")
cases, turns = {}, {}
for line in sys.stdin:
    message = json.loads(line)
    session = message["session"]
    if message["op"] == "open":
        cases[session], turns[session] = message["eval_id"], 0
        if log:
            with open(log, "a") as file:
                file.write(f"{message['eval_id']} {message['run']}\\n")
        answer = {"ok": True}
    elif message["op"] == "turn":
        while os.path.exists(table.get("held_by", "")) and len(list(open(log))) >= table["runs"]:
            time.sleep(0.01)
        time.sleep(table.get("delay", 0))
        said = table["cases"].get(cases[session], table["default"])
        if isinstance(said, list):
            said = said[min(turns[session], len(said) - 1)]
        turns[session] += 1
        if "crash" in said:
            answer = {"error": said["crash"]}
        else:
            answer = {"invocation": {
                "final_response": {"parts": [{"text": said["text"]}]},
                "intermediate_data": said.get("steps") or {"tool_uses": said.get("tools", [])}}}
    else:
        answer = {"ok": True}
    print(json.dumps({"session": session, **answer}), flush=True)
"""

IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


def turn(asked: str, answer: str, *tools: Mapping[str, Any]) -> dict[str, Any]:
    """One turn of an eval case: what is asked, and what is expected."""
    return {
        "user_content": {"role": "user", "parts": [{"text": asked}]},
        "final_response": {"role": "model", "parts": [{"text": answer}]},
        "intermediate_data": {"tool_uses": list(tools)},
    }


def case(eval_id: str, *turns: Mapping[str, Any]) -> dict[str, Any]:
    """An eval case."""
    return {"eval_id": eval_id, "conversation": list(turns)}


def eval_set(*cases: Mapping[str, Any], name: str = "basic") -> str:
    """An eval set's file."""
    return json.dumps({"eval_set_id": name, "eval_cases": list(cases)}, indent=1)


@dataclass
class Project:
    """A repository under a folder; files are written, committed and looked at by name."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, root: Path) -> "Project":
        """The repository that is there, with a store beside it."""
        store = root.parent / "cache"
        return cls(root, {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(store), **IDENTITY})

    @classmethod
    def create(cls, root: Path) -> "Project":
        """An empty repository on branch main."""
        root.mkdir(parents=True)
        project = cls.at(root)
        project.git("init", "-q", "-b", "main", "--template=")  # none of git's sample hooks
        (root / ".git" / "info").mkdir(exist_ok=True)
        (root / ".git" / "info" / "exclude").write_text(".gradegate/\n")
        return project

    def git(self, *arguments: str) -> str:
        """Run git as a user would."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env={**self.environ, "HOME": str(self.root.parent)},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def write(self, **files: str) -> None:
        """Write files; `__` stands for a slash and a last `_` for the dot before the ending."""
        for name, text in files.items():
            self.put(name.replace("__", "/"), text)

    def put(self, name: str, text: str) -> None:
        """Write one file."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commit(self, message: str = "change") -> str:
        """Commit everything; the sha."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def answers(self, cases: Mapping[str, Any], **more: Any) -> None:
        """What the scripted agent says, case by case."""
        table = {"default": {"text": "I do not know."}, "cases": dict(cases), **more}
        self.put("answers.json", json.dumps(table, indent=1))

    def gradegate(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run the command in a process of its own, which need not be started from nothing."""
        environ = {**self.environ, "HOME": str(self.root.parent), **environ}
        return STARTER.run(arguments, self.root, environ)

    def installed(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run the installed command as a user would."""
        return subprocess.run(
            [str(GRADEGATE), *arguments],
            cwd=self.root,
            env={**self.environ, "HOME": str(self.root.parent), **environ},
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self, *arguments: str, **environ: str) -> subprocess.Popen[str]:
        """The same, for a test that does not wait for the end."""
        return subprocess.Popen(
            [str(GRADEGATE), *arguments],
            cwd=self.root,
            env={**self.environ, "HOME": str(self.root.parent), **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def evaluate(self, *arguments: str, **environ: str) -> "Outcome":
        """`gradegate run` with every view written; the report, and what was printed."""
        out = self.root.parent / f"out-{len(list(self.root.parent.glob('out-*')))}"
        done = self.gradegate("run", *arguments, "--out", str(out), **environ)
        return Outcome(done.returncode, out, done.stdout, done.stderr)

    def listen(self) -> "AgentLog":
        """Have the scripted agent note its runs from now on, in a file that it may write to."""
        path = _agent_log()
        self.environ["AGENT_LOG"] = str(path)
        return AgentLog(path)


def _agent_log() -> Path:
    """A file that agents may write to: shared memory is the one place outside their own."""
    shared = Path("/dev/shm")  # noqa: S108 - all agents share it
    made, name = tempfile.mkstemp(prefix="agent-log-", dir=shared if shared.is_dir() else None)
    os.fchmod(made, 0o666)
    os.close(made)
    atexit.register(Path(name).unlink, missing_ok=True)
    return Path(name)


@dataclass(frozen=True)
class AgentLog:
    """The runs that the scripted agent made."""

    path: Path

    def runs(self) -> list[str]:
        """All of them, each as `eval_id run`, in the order begun."""
        return self.path.read_text(encoding="utf-8").splitlines()

    def fresh(self) -> list[str]:
        """Those since the last time this was asked."""
        runs = self.runs()
        self.path.write_text("", encoding="utf-8")
        return runs


@dataclass(frozen=True)
class Outcome:
    """What a `gradegate run` came to."""

    code: int
    folder: Path
    stdout: str
    stderr: str

    @property
    def report(self) -> Any:
        """The report as a script would read it."""
        return self.read("report.json")

    def read(self, name: str) -> Any:
        """One of the files it wrote."""
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    @property
    def state(self) -> str:
        """What the gate says."""
        return str(self.report["decision"]["state"])

    @property
    def kinds(self) -> list[str]:
        """Why it says so."""
        return [reason["kind"] for reason in self.report["decision"]["reasons"]]

    @property
    def warnings(self) -> str:
        """All warnings, a line each."""
        return "\n".join(self.report["warnings"])

    def case(self, eval_id: str) -> Any:
        """One case of the report."""
        return next(one for one in self.report["cases"] if one["eval_id"] == eval_id)


SETTINGS = """
[[suite]]
name = "desk"
command = ["python3", "agent.py"]
evals = ["evals/*.evalset.json"]
env = ["AGENT_LOG"]
"""

WEATHER = {"name": "get_weather", "args": {"city": "Paris"}}


def scripted(root: Path, cases: Sequence[Mapping[str, Any]], settings: str = SETTINGS) -> Project:
    """A repository with the scripted agent, answering all of these cases as expected."""
    shutil.copytree(_scripted(json.dumps(cases), settings), root)
    return Project.at(root)


@cache
def _scripted(cases: str, settings: str) -> Path:
    """The same, made once for all that copy it."""
    folder = Path(tempfile.mkdtemp(prefix="scripted-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    listed = json.loads(cases)
    project = Project.create(folder / "repo")
    project.put("agent.py", AGENT)
    project.put("gradegate.toml", settings)
    project.put("evals/basic.evalset.json", eval_set(*listed))
    project.answers({one["eval_id"]: expected(one) for one in listed})
    project.commit("base")
    return project.root


def expected(one: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The answers that the case expects."""
    return [
        {
            "text": said["final_response"]["parts"][0]["text"],
            "tools": said["intermediate_data"]["tool_uses"],
        }
        for said in one["conversation"]
    ]
