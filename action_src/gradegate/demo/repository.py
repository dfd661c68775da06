"""The demo's repository: an agent on `main`, a pull request, and a branch that changes no agent.

To change what a branch does, run `gradegate demo --out DIR`, edit the files in `DIR/repo`, and
write the difference here: `git diff main > …/demo/<branch>.patch`. Where the agent then answers
differently, `python -m gradegate.demo.record` takes down the judge's verdicts anew.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from gradegate.model.errors import InputError
from gradegate.sides.git_command import Git

HERE = Path(__file__).parent
ANSWERS = HERE / "answers.json"
MAIN = "main"


class Branch(NamedTuple):
    """A branch off `main`: its patch is the file of the same name."""

    name: str
    message: str
    day: int

    @property
    def patch(self) -> Path:
        """What it changes."""
        return HERE / f"{self.name}.patch"


DOCS_ONLY = Branch("docs-only", "Say how to try it", 3)
PULL_REQUEST = Branch("simpler-check-in", "Fahrenheit, cancellations, and a simpler check-in", 4)


def make_repository(folder: Path, environ: Mapping[str, str]) -> None:
    """Make the repository in a new folder, with the pull request's branch checked out.

    Its commits are the same wherever it is made: neither this machine's git settings nor the
    time of day have a part in them.

    Raises:
        InputError: there is something at that place already.
    """
    if folder.exists():
        raise InputError(f"{folder} is there already: name a folder that does not have it")
    leave_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(HERE / "base", folder, ignore=leave_out, copy_function=shutil.copyfile)
    git = Git(folder, {**environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"})
    git.must("init", "--quiet", "--template=", f"--initial-branch={MAIN}")
    git.must("add", "--all")
    _commit(git, "A travel desk", 2)
    for branch in (DOCS_ONLY, PULL_REQUEST):
        git.must("switch", "--quiet", "--create", branch.name, MAIN)
        git.must("apply", "--index", "--whitespace=nowarn", str(branch.patch))
        _commit(git, branch.message, branch.day)


def _commit(git: Git, message: str, day: int) -> None:
    who = {"NAME": "Travel desk", "EMAIL": "desk@example.com", "DATE": f"2026-03-0{day}T09:00Z"}
    author = {f"GIT_AUTHOR_{what}": value for what, value in who.items()}
    committer = {f"GIT_COMMITTER_{what}": value for what, value in who.items()}
    git.must("commit", "--quiet", f"--message={message}", env=author | committer)
