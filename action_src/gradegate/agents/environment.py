"""The interpreter that has what a suite's agent needs."""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from gradegate.agents.launch import Launch, Limits
from gradegate.agents.requirements import find_recipe
from gradegate.agents.sandbox import Sandbox
from gradegate.agents.uv import EnvironmentBuilder, NotBuilt
from gradegate.model.notice import Notice, notice
from gradegate.model.settings import Suite

WORKER = Path(__file__).parent / "adk_worker"


OLDEST_ADK = (0, 5, 0)
"""The oldest google-adk that the worker runs."""
_ADK = re.compile(r"google_adk-(\d+)\.(\d+)(?:\.(\d+))?")


class Interpreter(NamedTuple):
    """An interpreter, and where else its program may import from."""

    python: Path
    import_from: tuple[Path, ...]


@dataclass(frozen=True)
class AgentEnvironment:
    """What is needed to find or make one for a suite of one side.

    Args:
        suite: what to run, with which needs.
        root: the side's project folder, which the suite's paths start from.
        sandbox: as whom it will be used.
        cache: where environments are kept; the sandbox's user must be able to read there.
        environ: our environment.
        agent_python: an interpreter that has everything, before what the suite says.
    """

    suite: Suite
    root: Path
    sandbox: Sandbox
    cache: Path
    environ: Mapping[str, str] = field(repr=False)
    agent_python: str | None = None

    def launch(self, command: Sequence[str], limits: Limits) -> Launch:
        """How to start something in it."""
        return self.sandbox.launch(
            command, self.environ, self.suite.variables, limits, self.suite.network
        )

    async def interpreter(self, place: Path, spare: Path) -> Interpreter | Notice:
        """The one for a program at this place, or why there is none."""
        chosen = self.agent_python or self.suite.python
        if chosen:
            python = _existing(self.root, chosen)
            if python is None:
                return notice("python.missing", python=chosen)
            blocked = self._blocked_at(python)
            return _closed(chosen, blocked) if blocked else Interpreter(python, (self.root,))
        top = self.sandbox.checkout
        recipe = find_recipe(self.root, place, self.suite.requirements, top)
        if isinstance(recipe, Notice):
            return recipe
        built = await EnvironmentBuilder(
            self.cache, self.environ, self.suite.variables, self.sandbox.user is not None, spare
        ).build(recipe)
        if isinstance(built, NotBuilt):
            return built.why
        return Interpreter(built, (*recipe.import_from, self.root))

    def _blocked_at(self, python: Path) -> Path | None:
        """What keeps the agent from the interpreter; its own checkout never does."""
        checkout = self.sandbox.checkout
        outside = (p for p in (python, python.resolve()) if not p.is_relative_to(checkout))
        return next(filter(None, map(self.sandbox.blocked_at, outside)), None)


def too_old(python: Path, agent: str | None) -> Notice | None:
    """That the google-adk of a virtual environment is older than we can run."""
    for about in python.parent.parent.glob("lib/python*/site-packages/google_adk-*.dist-info"):
        found = _ADK.match(about.name)
        version = tuple(int(number or 0) for number in found.groups()) if found else OLDEST_ADK
        if version < OLDEST_ADK:
            shown, oldest = (".".join(map(str, each)) for each in (version, OLDEST_ADK))
            return notice("agent.adk_too_old", agent=agent, version=shown, oldest=oldest)
    return None


def worker_command(
    what: Literal["agent", "metrics"], folder: Path, found: Interpreter, place: Path
) -> list[str]:
    """How to start the worker for an agent or module at this place.

    It runs from a copy in `folder`, which others may read, as they may not where we are installed.
    """
    ignore = shutil.ignore_patterns("__pycache__")
    worker = shutil.copytree(WORKER, folder / WORKER.name, ignore=ignore, dirs_exist_ok=True)
    return [str(found.python), "-s", str(worker), what, str(place), *map(str, found.import_from)]


def _closed(python: str, blocked: Path) -> Notice:
    return notice("python.closed", python=python, folder=blocked)


def _existing(root: Path, python: str) -> Path | None:
    """An interpreter named by a path in the side, a path from here, or a program's name.

    Links stay as they are: the one in a virtual environment is what makes it one.
    """
    for path in (root / python, Path(python).absolute()):
        if path.is_file():
            return path
    found = shutil.which(python)
    return Path(found) if found else None
