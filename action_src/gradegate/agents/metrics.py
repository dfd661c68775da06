"""Users' own metrics, called in the environment of a suite's agent."""

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from gradegate.agents.interpreter import Environment, worker_in
from gradegate.agents.pool import Pool
from gradegate.agents.process import Answer, Failure, Limits

_SCRIPT = "measure.py"
_STARTING_TIME = 300.0
"""Seconds that google-adk may take to be imported, on a machine that is busy."""


class MetricCaller:
    """Calls functions as `ports.Measure` says, many at once in one process.

    The environment is made and the process started with the first call.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._timeout = environment.suite.turn_timeout
        self._folder = tempfile.TemporaryDirectory(prefix="gradegate-metrics-")
        self._opening = asyncio.Lock()
        self._pool: Pool | str | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if isinstance(self._pool, Pool):
            await self._pool.close()
        self._folder.cleanup()

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
        if isinstance(found, str):
            return found
        script = worker_in(folder) / _SCRIPT
        command = [str(found.python), "-s", str(script), str(place), *map(str, found.import_from)]
        launch = self._environment.launch(command, Limits(memory_mb=suite.memory_mb))
        return Pool(replace(launch, cwd=root))

    def _own_folder(self) -> Path:
        """A folder of ours that the metrics can read and not write."""
        folder = Path(self._folder.name)
        folder.chmod(0o755)
        return folder

    async def _attempt(
        self, pool: Pool, request: dict[str, Any], *, alone: bool
    ) -> Answer | Failure:
        async with pool.seat(alone=alone) as seat:
            if isinstance(seat, Failure):
                return seat
            process, name = seat
            if not process.has_answered:
                complaint = f"google-adk was not imported within {_STARTING_TIME:g} s"
                hello = {"session": name}
                started = await process.request(name, hello, _STARTING_TIME, complaint)
                if isinstance(started, Failure) or "error" in started:
                    return started
            complaint = f"the metric did not answer within {self._timeout:g} s"
            message = {**request, "session": name}
            return await process.request(name, message, self._timeout, complaint)
