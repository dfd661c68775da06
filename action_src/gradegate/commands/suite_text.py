"""The `[[suite]]` blocks of a new gradegate.toml, each option with a line of why."""

import json
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from gradegate.evalsets.discover import find
from gradegate.locales import templates_dir
from gradegate.model.settings import Suite

_NAME = "What the report and the input `suite` call it."
_AGENT = "The folder of the ADK agent (root_agent, app or get_agent_async)."
_EVALS = "Its eval sets: files, folders or globs; a folder takes in what is added later."
_ENV = "All that the agent's process may see of the workflow's environment beside PATH and LANG."
_REQUIREMENTS = "What the agent needs, installed apart for each side, so that a bump is tested too."
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
        lines += _option(_ENV, 'env = ["GOOGLE_API_KEY"]')
        lines += _requirements(root, suite.agent)
    else:
        lines = [f"# {_NO_AGENT}", *map(_commented, lines)]
    rest = (templates_dir() / "init" / "suite.toml").read_text(encoding="utf-8")
    return "\n".join([*lines, rest if complete or suite.agent is None else ""])


def _option(why: str, text: str) -> list[str]:
    return [f"# {why}", text]


def _commented(line: str) -> str:
    return line if line.startswith("#") else f"#{line}"


def _requirements(root: Path, agent: str) -> list[str]:
    """The agent's own file by name; what lies further up is found without being named."""
    file = PurePosixPath(agent) / "requirements.txt"
    there = (root / file).is_file()
    text = f"requirements = {_quoted(file.as_posix())}"
    return _option(_REQUIREMENTS, text if there else f"#{text}")


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
