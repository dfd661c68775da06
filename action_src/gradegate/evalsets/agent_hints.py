"""What a repository's own files tell of how its agents are run, read as text."""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from gradegate.evalsets.discover import files_below

VERTEX_VARIABLES = (
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_APPLICATION_CREDENTIALS",
)
"""What google-genai reads to have its models from Vertex AI."""
_DOTENVS = (".env", ".env.example", ".env.sample", ".env.template", "example.env", "dotenv.example")
_SAID = re.compile(
    r"""^\s*(?:export\s+)?GOOGLE_GENAI_USE_VERTEXAI\s*=\s*["']?(\w*)""", re.MULTILINE
)
_SET_IN_CODE = re.compile(
    r"""GOOGLE_GENAI_USE_VERTEXAI["']\s*(?:\]\s*=|,)\s*["']?(?:true|1)\b"""
    r"|\bvertexai\s*=\s*True\b|^\s*vertexai\.init\(",
    re.IGNORECASE | re.MULTILINE,
)
_LARGEST = 1_000_000
_RUNS = range(1, 1001)
"""That a suite may have."""
_TEST = "test_eval.py"
"""The file that ADK's samples call `AgentEvaluator` in."""


def uses_vertex(root: Path, agent: str) -> bool:
    """Whether an agent has its models from Vertex AI: by the nearest `.env`, else by its code."""
    for folder in _upwards(PurePosixPath(agent)):
        for name in _DOTENVS:
            said = _SAID.findall(_text(root / folder / name))
            if said:
                return said[-1].lower() in ("true", "1")
    sources = (name for name in files_below(root, PurePosixPath(agent).parts))
    return any(_SET_IN_CODE.search(_text(root / name)) for name in sources if name.endswith(".py"))


def runs_in_test(root: Path, agent: str | None, evals: Sequence[str]) -> int | None:
    """The `num_runs` that the nearest `test_eval.py` at or above eval sets has for their agent."""
    folders = dict.fromkeys(
        folder for name in evals for folder in _upwards(PurePosixPath(name).parent)
    )
    for folder in folders:
        numbers = list(_numbers(_text(root / folder / _TEST), agent))
        if numbers:
            return max(numbers)
    return None


def _numbers(source: str, agent: str | None) -> Iterator[int]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        said = {
            given.arg: given.value.value
            for given in node.keywords
            if isinstance(given.value, ast.Constant)
        }
        number, module = said.get("num_runs"), said.get("agent_module")
        if type(number) is int and number in _RUNS and _is_of(module, agent):
            yield number


def _is_of(module: object, agent: str | None) -> bool:
    """Whether a module's name may be this agent's; one that is made up at run time may be."""
    if not isinstance(module, str) or agent is None:
        return True
    named = module.removesuffix(".agent").split(".")
    return list(PurePosixPath(agent).parts)[-len(named) :] == named


def _upwards(folder: PurePosixPath) -> Iterator[PurePosixPath]:
    return iter((folder, *folder.parents))


def _text(file: Path) -> str:
    try:
        if file.is_file() and file.stat().st_size <= _LARGEST:
            return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        pass  # what cannot be read tells nothing
    return ""
