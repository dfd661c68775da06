"""A step of a workflow, run as GitHub's runner runs a container action."""

import json
import re
import secrets
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.container.engine import Engine
from tests.standins.github import JOB_TOKEN, GitHubStandIn

WORKSPACE = "/github/workspace"
FILE_COMMANDS = ("env", "output", "path", "state", "step_summary")
STRANGER = 1001
"""The uid of GitHub's `runner`, whose the workspace is."""


@dataclass(frozen=True)
class Ended:
    """How a container ended."""

    code: int
    log: str
    outputs: Mapping[str, str]
    summary: str


@dataclass(frozen=True)
class Step:
    """One container: its checkout, its event, and the folders that the runner mounts."""

    engine: Engine
    image: str
    github: GitHubStandIn
    workspace: Path
    folder: Path
    token: str = JOB_TOKEN
    environ: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    name: str = field(default_factory=lambda: f"gradegate-{secrets.token_hex(4)}")
    afterwards: str | None = None
    """A line of shell to run in the container when the action has ended."""

    def start(self, event: str, payload: Mapping[str, Any]) -> subprocess.Popen[str]:
        """Start the container; its log comes through the pipe."""
        files = self._mounted()
        (self.folder / "_github_workflow" / "event.json").write_text(json.dumps(payload))
        (self.folder / "_github_workflow" / "event.json").chmod(0o444)
        command = [
            *("podman", "run", "--name", self.name, "--rm", "--workdir", WORKSPACE),
            *(word for place, inside in files.items() for word in ("-v", f"{place}:{inside}")),
            *(word for pair in self._environ(event).items() for word in ("-e", "=".join(pair))),
            *self._program(),
        ]
        return subprocess.Popen(
            command,
            env=self.engine.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, event: str, payload: Mapping[str, Any]) -> Ended:
        """Run the container to its end."""
        with self.start(event, payload) as process:
            log, _ = process.communicate()
        return self.ended(process.returncode, log)

    def ended(self, code: int, log: str) -> Ended:
        """What the runner finds afterwards."""
        commands = self.folder / "_runner_file_commands"
        text = (commands / "output").read_text(encoding="utf-8")
        outputs = dict(_pairs(text))
        return Ended(code, log, outputs, (commands / "step_summary").read_text(encoding="utf-8"))

    def signal(self, name: str) -> float:
        """Send the container a signal; when."""
        self.engine.call("podman", "kill", "--signal", name, self.name)
        return time.monotonic()

    def _program(self) -> list[str]:
        """The image's own entry point; a shell around it would drop inputs with hyphens."""
        if self.afterwards is None:
            return [self.image]
        (told,) = json.loads(self.engine.call("podman", "image", "inspect", self.image))
        entry = told["Config"]["Entrypoint"]
        script = (
            "import os, subprocess, sys; "
            f"code = subprocess.call({[entry[0], '-s', *entry[1:]]!r}); "
            f"sys.stdout.flush(); os.system({self.afterwards!r}); sys.exit(code)"
        )
        return ["--entrypoint", "python3", self.image, "-c", script]

    def _mounted(self) -> dict[Path, str]:
        """The runner's folders, and where the container sees them."""
        names = ("_github_home", "_github_workflow", "_runner_file_commands", "_temp")
        for name in names:
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        for name in FILE_COMMANDS:
            (self.folder / "_runner_file_commands" / name).write_text("")
        return {
            self.folder / "_temp": "/github/runner_temp",
            self.folder / "_github_home": "/github/home",
            self.folder / "_github_workflow": "/github/workflow",
            self.folder / "_runner_file_commands": "/github/file_commands",
            self.workspace: WORKSPACE,
        }

    def _environ(self, event: str) -> dict[str, str]:
        given = {"github-token": self.token, "check-name": "gradegate", **self.inputs}
        return {
            "HOME": "/github/home",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self.github.url,
            "GITHUB_SERVER_URL": self.github.url,
            "GITHUB_REPOSITORY": "octo/agents",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": "/github/workflow/event.json",
            "GITHUB_WORKSPACE": WORKSPACE,
            "GITHUB_RUN_ID": "77",
            "GITHUB_REF": "refs/pull/1/merge",
            "RUNNER_TEMP": "/github/runner_temp",
            **{f"GITHUB_{name.upper()}": f"/github/file_commands/{name}" for name in FILE_COMMANDS},
            **{f"INPUT_{name.upper()}": value for name, value in given.items()},
            **self.environ,
        }


def _pairs(text: str) -> list[tuple[str, str]]:
    """Every output's name and value, in GitHub's form with a delimiter."""
    found = re.findall(r"(?ms)^([\w-]+)<<(\S+)\n(.*?)\n\2$", text)
    return [(name, value) for name, _, value in found]
