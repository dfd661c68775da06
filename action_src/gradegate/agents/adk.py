"""An ADK agent: our worker, run by an interpreter that has what the agent needs."""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

from gradegate.agents.command import CommandAgent
from gradegate.agents.conversation import written_users
from gradegate.agents.environments import Builder, NotBuilt
from gradegate.agents.isolation import Sandbox
from gradegate.agents.process import Limits
from gradegate.agents.recipes import find_recipe
from gradegate.model.case import Case
from gradegate.model.settings import Suite
from gradegate.model.trace import NotRun, Trace
from gradegate.ports import UserFactory

WORKER = Path(__file__).parent / "adk_worker"
MODEL_VARIABLES = (
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_GEMINI_BASE_URL",
)
"""What google-genai reads. A suite that has no `env` at all, as where there is no
gradegate.toml, hands these on; without them no ADK agent could say a word."""


class AdkAgent:
    """Runs the agent of a suite on one side, in the environment that this side asks for.

    Args:
        suite: what to run, with which needs and limits.
        root: the side's project folder, which the suite's paths start from.
        sandbox: where and as whom to run it; open for as long as this is used.
        cache: where environments are kept; the sandbox's user must be able to read there.
        environ: our environment, of which the agent sees what the suite names.
        agent_python: an interpreter that has everything, before what the suite says.
        users: who talks to the agent.
    """

    rerunnable = True

    def __init__(  # noqa: PLR0913 - all that one side's agent depends on, by name
        self,
        suite: Suite,
        root: Path,
        sandbox: Sandbox,
        *,
        cache: Path,
        environ: Mapping[str, str],
        agent_python: str | None = None,
        users: UserFactory = written_users,
    ) -> None:
        self._suite = suite
        self._root = root.resolve()
        self._sandbox = sandbox
        self._environ = environ
        self._python = agent_python or suite.python
        self._users = users
        self._cache = cache
        self._agent: CommandAgent | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="gradegate-agent-")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._agent:
            await self._agent.__aexit__()
        self._folder.cleanup()

    async def prepare(self) -> str | None:
        """Make the environment and start the agent in it, so that it is loaded when asked."""
        place = self._root / (self._suite.agent or ".")
        if not place.is_dir() and not place.with_suffix(".py").is_file():
            return f"there is no agent at {self._suite.agent}"
        found = await self._interpreter(place)
        if isinstance(found, str):
            return found
        python, import_from = found
        command = [str(python), "-s", self._worker(), str(place), *map(str, import_from)]
        limits = Limits(memory_mb=self._suite.memory_mb)
        launch = self._sandbox.launch(command, self._environ, self._names(), limits)
        self._agent = CommandAgent(
            replace(launch, cwd=self._root),
            turn_timeout=self._suite.turn_timeout,
            case_timeout=self._suite.case_timeout,
            max_sessions=self._suite.max_parallel,
            users=self._users,
        )
        await self._agent.start()
        return None

    def runs_of(self, case: Case, asked: int) -> int:
        """As many as are asked for."""
        del case
        return asked

    async def run(self, case: Case, run: int) -> Trace | NotRun:
        """Run one case from the start."""
        if self._agent is None:
            return NotRun("the agent was not made ready")
        return await self._agent.run(case, run)

    def _worker(self) -> str:
        """A copy of the worker that others may read, as they may not where we are installed."""
        there = self._own_folder() / WORKER.name
        return str(shutil.copytree(WORKER, there, ignore=_CACHES, dirs_exist_ok=True))

    def _own_folder(self) -> Path:
        """A folder of ours that the agent can read and not write."""
        folder = Path(self._folder.name)
        folder.chmod(0o755)
        return folder

    def _names(self) -> tuple[str, ...]:
        return self._suite.env if "env" in self._suite.model_fields_set else MODEL_VARIABLES

    async def _interpreter(self, place: Path) -> tuple[Path, tuple[Path, ...]] | str:
        """Which one to start the agent with, and where it may import from; or why there is none."""
        if self._python:
            python = _existing(self._root, self._python)
            return (python, (self._root,)) if python else f"there is no {self._python}"
        recipe = find_recipe(self._root, place, self._suite.requirements)
        if isinstance(recipe, str):
            return recipe
        built = await Builder(
            self._cache, self._environ, self._suite.env, self._sandbox.user, self._own_folder()
        ).build(recipe)
        if isinstance(built, NotBuilt):
            return built.reason
        return built, (*recipe.import_from, self._root)


_CACHES = shutil.ignore_patterns("__pycache__")


def _existing(root: Path, python: str) -> Path | None:
    """An interpreter named by a path in the side, a path from here, or a program's name.

    Links stay as they are: the one in a virtual environment is what makes it one.
    """
    for path in (root / python, Path(python).absolute()):
        if path.is_file():
            return path
    found = shutil.which(python)
    return Path(found) if found else None
