"""`gradegate init`: the workflow files and a commented gradegate.toml, made for this repository."""

import asyncio
import json
import os
import subprocess
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path, PurePosixPath
from textwrap import wrap

from gradegate import __version__, locales
from gradegate.evalsets.agent_hints import VERTEX_VARIABLES, runs_in_test, uses_vertex
from gradegate.evalsets.discover import discover_suites, find
from gradegate.evalsets.project import load_all, read_project
from gradegate.files.settings_toml import PYPROJECT, has_settings
from gradegate.locales import templates_dir
from gradegate.model.errors import FileError, InputError
from gradegate.model.settings import Suite
from gradegate.sides.git import Repo

_NAME = "What the report and the input `suite` call it."
_AGENT = "The folder of the ADK agent (root_agent, app or get_agent_async)."
_EVALS = "Its eval sets: files, folders or globs; a folder takes in what is added later."
_ENV = "All that the agent's process may see of the workflow's environment beside PATH and LANG."
_REQUIREMENTS = "What the agent needs, installed apart for each side, so that a bump is tested too."
_RUNS = "Runs of each case and side, as `num_runs` in the test_eval.py that calls AgentEvaluator."
_NO_AGENT = "No agent was found for these eval sets: say how to run it, and take the `#` away."
_EXAMPLE = Suite(name="weather", evals=("evals",))


def suites_text(root: Path, suites: Sequence[Suite]) -> str:
    """A block for each suite; the options nobody needs at first are in the first one alone."""
    blocks = [_block(root, suite, complete=n == 0) for n, suite in enumerate(suites or [_EXAMPLE])]
    return "\n".join(blocks)


def _block(root: Path, suite: Suite, *, complete: bool) -> str:
    lines = ["[[suite]]", *_option(_NAME, f"name = {_quoted(suite.name)}")]
    if suite.agent is not None:
        lines += _option(_AGENT, f"agent = {_quoted(suite.agent)}")
    lines += _option(_EVALS, f"evals = {_listed(_patterns(root, suite))}")
    if suite.agent is not None:
        names = VERTEX_VARIABLES if uses_vertex(root, suite.agent) else (SECRET,)
        lines += _option(_ENV, f"env = {_listed(names)}")
        lines += _requirements(root, suite.agent)
    else:
        lines = [f"# {_NO_AGENT}", *map(_commented, lines)]
    rest = (templates_dir() / "init" / "suite.toml").read_text(encoding="utf-8")
    shown = rest if complete or suite.agent is None else ""
    runs = runs_in_test(root, suite.agent, suite.evals) if suite.agent else None
    if runs and shown:
        shown = shown.replace("#runs = 1\n", f"runs = {runs}\n")
    elif runs:
        lines += _option(_RUNS, f"runs = {runs}")
    return "\n".join([*lines, shown])


def _option(why: str, text: str) -> list[str]:
    return [f"# {why}", text]


def _commented(line: str) -> str:
    return line if line.startswith("#") else f"#{line}"


def _requirements(root: Path, agent: str) -> list[str]:
    """The agent's own file by name; what lies further up is found without being named."""
    own = PurePosixPath(agent)
    for folder in (own, *own.parents):
        for name in ("requirements.txt", PYPROJECT):
            file = folder / name
            if (root / file).is_file():
                named = folder == own and name != PYPROJECT
                text = f"requirements = {_quoted(file.as_posix())}"
                return _option(_REQUIREMENTS, text if named else f"#{text}")
    return []


def _patterns(root: Path, suite: Suite) -> tuple[str, ...]:
    """The nearest folder that has exactly these sets, or the sets one by one."""
    folders = {PurePosixPath(name).parent for name in suite.evals}
    common = min(folders, key=lambda folder: len(folder.parts), default=PurePosixPath())
    for folder in (common, common.parent, PurePosixPath(suite.agent or common)):
        if tuple(find(root, (folder.as_posix(),))) == tuple(sorted(suite.evals)):
            return (folder.as_posix(),)
    return suite.evals


def _quoted(text: str) -> str:
    """A TOML string; JSON's escapes are a part of TOML's."""
    return json.dumps(text, ensure_ascii=False)


def _listed(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"[{_quoted(names[0])}]"
    return "\n".join(["[", *(f"    {_quoted(name)}," for name in names), "]"])


ACTION = "gradegate/gradegate"
WORKFLOW = ".github/workflows/gradegate.yml"
SHARDED = "gradegate-sharded.yml"
"""The template of the workflow with a matrix."""
MOST_JOBS = 256
"""That GitHub takes in a matrix."""
PUBLISHER = ".github/workflows/gradegate-publish.yml"
COMMANDS = ".github/workflows/gradegate-commands.yml"
SETTINGS = "gradegate.toml"
CHECK = "gradegate"
SECRET = "GOOGLE_API_KEY"  # noqa: S105 - a name, not a value
_FOR_A_KEY = (
    f"  1. Set the secret {SECRET}, a Gemini API key:",
    f"       gh secret set {SECRET}",
    "     Judges need it, and agents that name it in `env`; tool and text matching",
    "     do without. For Vertex AI: GOOGLE_GENAI_USE_VERTEXAI in `env:` instead.",
)
_FOR_VERTEX = (
    "  1. Agents here use Vertex AI. Set the variables that the workflow hands on:",
    "       gh variable set GOOGLE_CLOUD_PROJECT",
    "       gh variable set GOOGLE_CLOUD_LOCATION",
    "     and sign in to Google Cloud in a step before gradegate's, for example with",
    "     google-github-actions/auth. Judges use Vertex AI too.",
)
_PATIENCE = 15
WIDTH = 80
"""Of a terminal."""
_UNPINNED = (
    "# zizmor: ignore[unpinned-uses] GitHub could not be asked for this tag's commit: "
    "`gradegate init --force` pins it where it can be"
)


def add_arguments(parser: ArgumentParser) -> None:
    """What `init` takes."""
    parser.add_argument(
        "--repo", type=Path, default=Path(), metavar="DIR", help="the repository (default: here)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite what is there")
    parser.add_argument(
        "--shards",
        type=_shards,
        metavar="N",
        help="spread the cases over so many jobs, for sets that take one job too long",
    )
    parser.add_argument(
        "--commands",
        action="store_true",
        help="also write a workflow that does what people ask for in comments (/gradegate rerun)",
    )
    parser.add_argument(
        "--diff", action="store_true", help="show what would be written, and write nothing"
    )


def init(options: Namespace, environ: Mapping[str, str]) -> int:
    """Write what is not there, or what `--force` allows; or show it with `--diff`."""
    repo = Repo.open(options.repo, environ)
    suites = discover_suites(repo.top)
    action = pinned_action(environ)
    files = contents(repo, suites, action, options.shards, commands=options.commands)
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
    last = (*next_steps(_branch(repo), _on_vertex(repo.top, suites)), *_can_go_red(repo.top))
    sys.stderr.write("\n".join((*told, *kept, "", *found, "", *last, "")))
    return 0


def _shards(text: str) -> int:
    if not text.isdecimal() or not 1 < int(text) <= MOST_JOBS:
        raise ArgumentTypeError(
            f"{text!r} is no number of jobs to spread the cases over: write 2 to {MOST_JOBS}"
        )
    return int(text)


def contents(
    repo: Repo,
    suites: Sequence[Suite],
    action: str,
    shards: int | None = None,
    *,
    commands: bool = False,
) -> dict[str, str]:
    """Every file that is written, by its path from the repository's root."""
    holes = {
        "__KEYS__": _keys(_on_vertex(repo.top, suites)),
        "__SHARD_NUMBERS__": ", ".join(map(str, range(1, (shards or 0) + 1))),
        "__SHARDS__": str(shards),
        "__DEFAULT_BRANCH__": _branch(repo),
        "__GRADEGATE__": action,
        "__SUITES__": suites_text(repo.top, suites),
    }
    files = {}
    for name in (WORKFLOW, PUBLISHER, *([COMMANDS] if commands else []), SETTINGS):
        template = SHARDED if shards and name == WORKFLOW else PurePosixPath(name).name
        text = (templates_dir() / "init" / template).read_text(encoding="utf-8")
        for hole, value in holes.items():
            text = text.replace(hole, value)
        files[name] = text
    return files


def _on_vertex(root: Path, suites: Sequence[Suite]) -> set[bool]:
    """Whether agents have their models from Vertex AI, from the Gemini API, or both."""
    return {uses_vertex(root, suite.agent) for suite in suites if suite.agent} or {False}


def _keys(on_vertex: set[bool]) -> str:
    """The lines below the step's `env:`: what agents and judges have their models with."""
    lines = []
    if False in on_vertex:
        secret = f"{SECRET}: ${{{{ secrets.{SECRET} }}}}"
        lines.append(f"{secret} # judges, and the agents that name it in `env`")
    if True in on_vertex:
        lines.append('GOOGLE_GENAI_USE_VERTEXAI: "true" # judges too')
        lines += [f"{name}: ${{{{ vars.{name} }}}}" for name in VERTEX_VARIABLES[1:3]]
    return "\n          ".join(lines)


def pinned_action(environ: Mapping[str, str]) -> str:
    """This version of the action by its commit, as far as GitHub can be asked for it."""
    tag = f"v{__version__}"
    sha = _commit_of(f"{environ.get('GITHUB_SERVER_URL') or 'https://github.com'}/{ACTION}", tag)
    return f"{ACTION}@{sha} # {tag}" if sha else f"{ACTION}@{tag} {_UNPINNED}"


def next_steps(branch: str, on_vertex: set[bool]) -> list[str]:
    """What is left to do by hand, in order."""
    return [
        "What to do next:",
        *(line for vertex in sorted(on_vertex) for line in (_FOR_VERTEX if vertex else _FOR_A_KEY)),
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
                f"found {suite.name}: {locales.some(number, 'eval set')} for {_answers(suite)}"
            )
    return lines or ["found no eval sets (*.evalset.json, *.test.json): add some beside your agent"]


def _can_go_red(root: Path) -> list[str]:
    """How many cases stay green whatever an agent does, in lines that fit a terminal."""
    from gradegate.pipeline.weaknesses import in_a_line

    with suppress(InputError):
        loaded = load_all(root, read_project(root).suites)
        told = asyncio.run(in_a_line([case for suite in loaded for case in suite.cases]))
        return ["", *wrap(f"{told.text[:1].upper()}{told.text[1:]}.", WIDTH)]
    return []


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
