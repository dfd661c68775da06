"""`gradegate init`: the workflow files and a commented gradegate.toml, made for this repository."""

import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path, PurePosixPath

from gradegate import __version__
from gradegate.commands.suite_text import suites_text
from gradegate.evalsets.discover import discover_suites, find
from gradegate.evalsets.project import read_project
from gradegate.files.settings_toml import PYPROJECT, has_settings
from gradegate.locales import templates_dir
from gradegate.model.errors import FileError, InputError
from gradegate.model.settings import Suite
from gradegate.sides.git import Repo

ACTION = "gradegate/gradegate"
WORKFLOW = ".github/workflows/gradegate.yml"
PUBLISHER = ".github/workflows/gradegate-publish.yml"
SETTINGS = "gradegate.toml"
CHECK = "gradegate"
SECRET = "GOOGLE_API_KEY"  # noqa: S105 - a name, not a value
_PATIENCE = 15
_UNPINNED = (
    "# zizmor: ignore[unpinned-uses] GitHub could not be asked for this tag's commit: "
    "`gradegate init --force` pins it where it can be"
)


def init(options: Namespace, environ: Mapping[str, str]) -> int:
    """Write what is not there, or what `--force` allows; or show it with `--diff`."""
    repo = Repo.open(options.repo, environ)
    suites = discover_suites(repo.top)
    files = contents(repo, suites, pinned_action(environ))
    kept = []
    if _has_settings_elsewhere(repo.top):
        del files[SETTINGS]
        kept = [f"kept      [tool.gradegate] in {PYPROJECT}, in place of {SETTINGS}"]
    if options.diff:
        for name, text in files.items():
            sys.stdout.writelines(_difference(repo.top / name, name, text))
        return 0
    told = [
        _write(repo.top / name, name, text, force=options.force) for name, text in files.items()
    ]
    found = _found(repo.top, suites)
    sys.stderr.write("\n".join((*told, *kept, "", *found, "", *next_steps(_branch(repo)), "")))
    return 0


def contents(repo: Repo, suites: Sequence[Suite], action: str) -> dict[str, str]:
    """Every file that is written, by its path from the repository's root."""
    holes = {
        "__DEFAULT_BRANCH__": _branch(repo),
        "__GRADEGATE__": action,
        "__SUITES__": suites_text(repo.top, suites),
    }
    files = {}
    for name in (WORKFLOW, PUBLISHER, SETTINGS):
        text = (templates_dir() / "init" / PurePosixPath(name).name).read_text(encoding="utf-8")
        for hole, value in holes.items():
            text = text.replace(hole, value)
        files[name] = text
    return files


def pinned_action(environ: Mapping[str, str]) -> str:
    """This version of the action by its commit, as far as GitHub can be asked for it."""
    tag = f"v{__version__}"
    sha = _commit_of(f"{environ.get('GITHUB_SERVER_URL') or 'https://github.com'}/{ACTION}", tag)
    return f"{ACTION}@{sha} # {tag}" if sha else f"{ACTION}@{tag} {_UNPINNED}"


def next_steps(branch: str) -> list[str]:
    """What is left to do by hand, in order."""
    return [
        "What to do next:",
        f"  1. Set the secret {SECRET}, a Gemini API key:",
        f"       gh secret set {SECRET}",
        "     Judges need it, and agents that name it in `env`; tool and text matching",
        "     do without. For Vertex AI instead, see `env:` of the step.",
        f"  2. Commit these files on {branch}; the push measures the baseline there.",
        f"  3. Require the check `{CHECK}` in the rules of {branch}:",
        "     Settings > Rules > Rulesets > Require status checks to pass",
        "  4. Try it here first:  gradegate check && gradegate run --dry-run",
    ]


def _has_settings_elsewhere(root: Path) -> bool:
    """Whether pyproject.toml has them: a gradegate.toml beside it would push them aside."""
    if (root / SETTINGS).exists():
        return False
    text = _read(root / PYPROJECT)
    with suppress(FileError):
        return text is not None and has_settings(PYPROJECT, text)
    return False


def _found(root: Path, discovered: Sequence[Suite]) -> list[str]:
    """A line for each suite: the settings', or where they are wrong those of the layout."""
    suites = discovered
    with suppress(InputError):
        suites = read_project(root).suites
    lines = []
    for suite in suites:
        with suppress(InputError):
            number = len(find(root, suite.evals or filter(None, (suite.agent,))))
            lines.append(
                f"found {suite.name}: {number} eval set{'s'[: number != 1]} for {_answers(suite)}"
            )
    return lines or ["found no eval sets (*.evalset.json, *.test.json): add some beside your agent"]


def _answers(suite: Suite) -> str:
    by_program = f"`{' '.join(suite.command)}`" if suite.command else None
    return suite.traces or by_program or suite.agent or f"no agent: name one in {SETTINGS}"


def _branch(repo: Repo) -> str:
    with suppress(InputError):
        return repo.default_branch().removeprefix("origin/")
    return repo.git.call("symbolic-ref", "--quiet", "--short", "HEAD").text or "main"


def _commit_of(repository: str, tag: str) -> str | None:
    """The commit that a tag of a remote repository means; None where nobody answers."""
    command = ["git", "ls-remote", repository, f"refs/tags/{tag}", f"refs/tags/{tag}^{{}}"]
    calm = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            command, env=calm, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.splitlines()  # an annotated tag's own object first, its commit after
    return lines[-1].split()[0] if done.returncode == 0 and lines else None


def _write(path: Path, name: str, text: str, *, force: bool) -> str:
    """Write one file, and say what was done."""
    there = _read(path)
    if there == text:
        return f"unchanged {name}"
    if there is not None and not force:
        return f"kept      {name}, which differs: --diff shows how, --force overwrites it"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(name, f"cannot be written: {error.strerror}") from error
    return f"wrote     {name}"


def _read(path: Path) -> str | None:
    """What is there; None where nothing is."""
    if not path.exists() and not path.is_symlink():
        return None
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}") from error


def _difference(path: Path, name: str, text: str) -> list[str]:
    there = _read(path)
    before = "/dev/null" if there is None else f"a/{name}"
    return list(
        unified_diff(
            (there or "").splitlines(keepends=True),
            text.splitlines(keepends=True),
            before,
            f"b/{name}",
        )
    )
