"""Whole workflows, run by act: the checkout, the action as it is released, the steps after it."""

import json
import re
import runpy
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.container.change import Change
from tests.container.engine import ROOT, Engine, act_program
from tests.standins.github import JOB_TOKEN, GitHubStandIn

ACTION = "gradegate/gradegate"
CHECKOUT = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1"

# GitHub's own actions need GitHub: these only show that what they are told to take is there.
_TAKES = """\
name: stand-in
inputs:
  path: {{required: true}}
  key: {{required: false}}
  restore-keys: {{required: false}}
  name: {{required: false}}
  run-id: {{required: false}}
  github-token: {{required: false}}
  include-hidden-files: {{required: false}}
  lookup-only: {{required: false}}
  overwrite: {{required: false}}
  pattern: {{required: false}}
  retention-days: {{required: false}}
runs:
  using: composite
  steps:
    - run: |
        {command}
      shell: bash
      env:
        TAKEN: ${{{{ inputs.path }}}}
        NAME: ${{{{ inputs.name }}}}
        PATTERN: ${{{{ inputs.pattern }}}}
"""
_STANDINS = {
    "actions/cache": {
        "restore": 'echo "restored: $TAKEN"',
        "save": 'ls -R "$TAKEN" | sed "s/^/saved: /"',
        ".": 'echo "cached: $TAKEN"',
    },
    # Artifacts lie in a folder that all jobs' machines see, as GitHub's lie on its servers.
    "actions/upload-artifact": {
        ".": 'mkdir -p "/artifacts/$NAME"; cp -r "$TAKEN" "/artifacts/$NAME"; '
        'ls "$TAKEN" | sed "s/^/uploaded: /"'
    },
    "actions/download-artifact": {
        ".": 'mkdir -p "$TAKEN"; '
        'if [ "$PATTERN" ]; then cp -r /artifacts/$PATTERN "$TAKEN"; '
        'else cp "$GITHUB_ACTION_PATH/report.json" "$TAKEN"; fi; '
        'find "$TAKEN" -type f | sed "s/^/downloaded: /"'
    },
}


@dataclass(frozen=True)
class Act:
    """Runs the workflows of a repository, with a GitHub that is ours."""

    engine: Engine
    address: str
    github: GitHubStandIn
    folder: Path
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def artifacts(self) -> Path:
        """What the jobs have uploaded."""
        return self.folder / "artifacts"

    def pull_request(self, repository: Path, change: Change, ref: str) -> tuple[int, str]:
        """Run what a pull request starts; the exit code and the log."""
        return self.run(repository, "pull_request", change.payload, ref)

    def run(
        self, repository: Path, event: str, payload: Mapping[str, Any], ref: str
    ) -> tuple[int, str]:
        """Run what an event starts; the exit code and the log."""
        file = self.folder / "event.json"
        file.write_text(json.dumps(payload))
        self.artifacts.mkdir(exist_ok=True)
        given = {
            "GITHUB_API_URL": self.github.url,
            "GITHUB_SERVER_URL": self.github.url,
            "GITHUB_REPOSITORY": "octo/agents",
        }
        command = [
            *(act_program(), event, "--eventpath", str(file), "--pull=false", "--rm"),
            *("--platform", f"ubuntu-latest={self.engine.runner_image()}", "--network", "host"),
            *("--container-daemon-socket", "-", "--secret", f"GITHUB_TOKEN={JOB_TOKEN}"),
            *("--container-options", f"-v {self.artifacts}:/artifacts"),
            *(word for pair in (given | dict(self.environ)).items()
              for word in ("--env", "=".join(pair))),
            *(word for place in self._local(repository, ref)
              for word in ("--local-repository", place)),
        ]  # fmt: skip
        done = subprocess.run(
            command,
            cwd=repository,
            env={**self.engine.environ, "DOCKER_HOST": self.address},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def _local(self, repository: Path, ref: str) -> Iterator[str]:
        """Where the actions are that the workflows use."""
        yield f"{ACTION}@{ref}={self.folder / 'action'}"
        text = "\n".join(f.read_text() for f in (repository / ".github/workflows").iterdir())
        for name, kinds in _STANDINS.items():
            for kind, command in kinds.items():
                file = self.folder / name / kind / "action.yml"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(_TAKES.format(command=command))
            for used in set(re.findall(rf"{name}(?:/\w+)?@(\w+)", text)):
                yield f"{name}@{used}={self.folder / name}"


@contextmanager
def acting(engine: Engine, image: str, github: GitHubStandIn, folder: Path) -> Iterator[Act]:
    """act, with the action as a release has it: its image by digest."""
    release = runpy.run_path(str(ROOT / ".ci" / "release.py"))
    digest = engine.call("podman", "image", "inspect", image, "--format", "{{.Digest}}").strip()
    source = (ROOT / "action.yml").read_text(encoding="utf-8")
    place = folder / "action" / "action.yml"
    place.parent.mkdir(parents=True)
    name = image.rpartition(":")[0]
    place.write_text(release["pinned"](source, f"{name}@{digest}"), encoding="utf-8")
    with engine.service() as address:
        yield Act(engine, address, github, folder)
