"""An ADK agent: our worker, run by an interpreter that has what the agent needs."""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

from gradegate.agents.command import CommandAgent
from gradegate.agents.conversation import written_users
from gradegate.agents.interpreter import Environment, worker_in
from gradegate.agents.isolation import Sandbox
from gradegate.agents.process import Limits
from gradegate.model.case import Case
from gradegate.model.settings import Suite
from gradegate.model.trace import NotRun, Trace
from gradegate.ports import UserFactory


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
        self._environment = Environment(suite, self._root, sandbox, cache, environ, agent_python)
        self._users = users
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
        folder = self._own_folder()
        found = await self._environment.interpreter(place, folder)
        if isinstance(found, str):
            return found
        worker = worker_in(folder)
        command = [str(found.python), "-s", str(worker), str(place), *map(str, found.import_from)]
        limits = Limits(memory_mb=self._suite.memory_mb)
        launch = self._environment.launch(command, limits)
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

    def _own_folder(self) -> Path:
        """A folder of ours that the agent can read and not write."""
        folder = Path(self._folder.name)
        folder.chmod(0o755)
        return folder
