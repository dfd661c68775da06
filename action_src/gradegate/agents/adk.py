"""An ADK agent, and users' own metrics: our worker, run by an interpreter that has google-adk."""

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from gradegate.agents.environment import AgentEnvironment, too_old, worker_command
from gradegate.agents.launch import Limits
from gradegate.agents.line_agent import CommandAgent
from gradegate.agents.line_process import Answer, Failure
from gradegate.agents.process_pool import Pool
from gradegate.agents.sandbox import Sandbox
from gradegate.agents.tool_answers import told_of_tools
from gradegate.agents.users import written_users
from gradegate.files.temporary import temporary_folder
from gradegate.model.evalset import Case
from gradegate.model.notice import Notice, notice
from gradegate.model.runs import NotRun, Trace
from gradegate.model.settings import Suite
from gradegate.model.tool_recording import ToolRecording
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
        recordings: what its tools are to answer, by eval set.
        left_out: what the repository has and the side's files lack, by name.
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
        recordings: Mapping[str, ToolRecording] | None = None,
        left_out: Mapping[str, str] | None = None,
    ) -> None:
        self._suite = suite
        self._root = root.resolve()
        self._environment = AgentEnvironment(
            suite, self._root, sandbox, cache, environ, agent_python
        )
        self._users = users
        self._recordings = recordings or {}
        self._left_out = left_out or {}
        self._agent: CommandAgent | None = None
        self._stack = ExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._agent:
            await self._agent.__aexit__()
        self._stack.close()

    async def prepare(self) -> Notice | None:
        """Make the environment and start the agent in it, so that it is loaded when asked."""
        place = self._root / (self._suite.agent or ".")
        if not place.is_dir() and not place.with_suffix(".py").is_file():
            return notice("agent.missing", place=self._suite.agent)
        folder = self._own_folder()
        found = await self._environment.interpreter(place, folder)
        if isinstance(found, Notice):
            return found
        if old := too_old(found.python, self._suite.agent):
            return old
        command = worker_command("agent", folder, found, place)
        limits = Limits(memory_mb=self._suite.memory_mb)
        launch = self._environment.launch(command, limits)
        self._agent = CommandAgent(
            replace(launch, cwd=self._root),
            turn_timeout=self._suite.turn_timeout,
            case_timeout=self._suite.case_timeout,
            max_sessions=self._suite.max_parallel,
            users=self._users,
            renew=partial(self._environment.sandbox.renewed, fresh=self._suite.fresh),
            copies_itself=self._suite.fresh is None,  # a copy has read its variables already
            left_out=self._left_out,
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
            return NotRun.because(notice("agent.not_ready"))
        told = told_of_tools(self._suite, self._recordings, case)
        return await self._agent.run(case, run, **told)

    def _own_folder(self) -> Path:
        """A folder of ours that the agent can read and not write."""
        folder = self._stack.enter_context(temporary_folder("agent"))
        folder.chmod(0o755)
        return folder


_STARTING_TIME = 300.0
"""Seconds that google-adk may take to be imported, on a machine that is busy."""


class AdkMetrics:
    """Calls functions as `ports.Measure` says, many at once in one process.

    The environment is made and the process started with the first call.
    """

    def __init__(self, environment: AgentEnvironment) -> None:
        self._environment = environment
        self._timeout = environment.suite.turn_timeout
        self._stack = ExitStack()
        self._opening = asyncio.Lock()
        self._pool: Pool | str | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if isinstance(self._pool, Pool):
            await self._pool.close()
        self._stack.close()

    async def __call__(self, request: dict[str, Any]) -> dict[str, Any] | str:
        """What the function returned, or why there is nothing."""
        async with self._opening:
            if self._pool is None:
                self._pool = await self._opened()
        if isinstance(self._pool, str):
            return self._pool
        answer = await self._attempt(self._pool, request, alone=False)
        if isinstance(answer, Failure) and not answer.certain:
            answer = await self._attempt(self._pool, request, alone=True)
        if isinstance(answer, Failure):
            return answer.reason
        result = answer.get("result")
        return result if isinstance(result, dict) else str(answer.get("error") or "no result")

    async def _opened(self) -> Pool | str:
        suite, root = self._environment.suite, self._environment.root.resolve()
        if not (
            suite.agent or suite.python or suite.requirements or self._environment.agent_python
        ):
            return (
                f"custom metrics are called with google-adk, and suite `{suite.name}` has no "
                'environment with it: write `python = ".venv/bin/python"` (an interpreter that '
                "has google-adk and the metric), or `requirements`, for it in gradegate.toml"
            )
        folder = self._own_folder()
        place = root / (suite.agent or ".")
        found = await self._environment.interpreter(place, folder)
        if isinstance(found, Notice):
            return found.text
        command = worker_command("metrics", folder, found, place)
        launch = self._environment.launch(command, Limits(memory_mb=suite.memory_mb))
        return Pool(replace(launch, cwd=root))

    def _own_folder(self) -> Path:
        """A folder of ours that the metrics can read and not write."""
        folder = self._stack.enter_context(temporary_folder("metrics"))
        folder.chmod(0o755)
        return folder

    async def _attempt(
        self, pool: Pool, request: dict[str, Any], *, alone: bool
    ) -> Answer | Failure:
        async with pool.seat(alone=alone) as seat:
            if isinstance(seat, Failure):
                return seat
            process, name, _ = seat
            if not process.has_answered:
                complaint = f"google-adk was not imported within {_STARTING_TIME:g} s"
                hello = {"session": name}
                started = await process.request(name, hello, _STARTING_TIME, complaint)
                if isinstance(started, Failure) or "error" in started:
                    return started
            complaint = f"the metric did not answer within {self._timeout:g} s"
            message = {**request, "session": name}
            return await process.request(name, message, self._timeout, complaint)
