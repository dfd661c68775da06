"""The one place that builds what touches the outside world.

Agents and the app are imported where they are wanted: to score recorded runs takes neither.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from gradegate.judge.client import JudgeClient
from gradegate.judge.providers.router import OnDemand, Router
from gradegate.judge.usage import JudgeProgress as Asked
from gradegate.model.errors import FileError, InputError
from gradegate.model.evalset import Case
from gradegate.model.masking import SecretMasker
from gradegate.model.settings import JudgeSettings, Suite
from gradegate.ports import AgentRunner, Ask, Judge, JudgeProvider, UserFactory
from gradegate.store.memory import MemoryStore
from gradegate.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from gradegate.agents.adk import AdkMetrics
    from gradegate.agents.line_agent import CommandAgent
    from gradegate.agents.recorded import RecordedAgent
    from gradegate.agents.sandbox import Sandbox
    from gradegate.pipeline.case_runner import Progress
    from gradegate.pipeline.evaluate import Services
    from gradegate.sides.checkout import Side

STORE_FILE = Path("store", "gradegate.sqlite")
"""In a folder of its own, closed to agents; environments beside it are open to them."""
RUNNER_FOLDER = ".gradegate"


@dataclass(frozen=True)
class Machine:
    """What the outside is made of: the environment, and what a user chose of it."""

    environ: Mapping[str, str]
    repository: Path
    """What agents must not look into."""
    cache: Path
    """Where environments are kept between runs."""
    agent_python: str | None = None
    answers: Path | None = None
    """Recorded answers to judge with, in place of a model."""
    trusted: bool = False
    """The agents are our own, as in the demo: how well they are kept apart is no news."""
    on_runs: "Progress" = lambda _done, _total: None
    on_asked: Callable[[Asked], None] = lambda _: None

    def world(self, store: SqliteStore) -> "Services":
        """The world that the app works in."""
        from gradegate.pipeline.evaluate import Services

        return Services(
            store=store,
            court=lambda judge, folders: self.court(judge, store, folders),
            workshop=lambda: SandboxedAgents(self),
            today=datetime.now(UTC).date(),
            secrets=SecretMasker.in_environ(self.environ),
            progress=self.on_runs,
        )

    def court(
        self, judge: JudgeSettings, store: SqliteStore, folders: Sequence[Path] = ()
    ) -> Judge:
        """The way to the judges; folders of agents may say which of Google's projects is meant."""
        if self.answers is not None:
            # Recorded answers are not kept among those of models.
            return JudgeClient(
                OnDemand(self._replayed), MemoryStore(), judge, progress=self.on_asked
            )
        vertex = OnDemand(lambda: self._vertex(folders, judge.max_parallel))
        return JudgeClient(
            Router(OnDemand(self._gemini), vertex), store, judge, progress=self.on_asked
        )

    def _replayed(self) -> JudgeProvider:
        from gradegate.judge.providers.replayed import ReplayedProvider

        assert self.answers is not None  # noqa: S101 - the caller looked
        return ReplayedProvider(self.answers)

    def _gemini(self) -> JudgeProvider | str:
        """The judge; where there is none, which variable to set."""
        from gradegate.judge.providers.gemini import GeminiProvider, load_sdk

        judge = GeminiProvider.from_environ(self.environ)
        if not isinstance(judge, str):
            load_sdk()
        return judge

    def _vertex(self, folders: Sequence[Path], max_parallel: int) -> JudgeProvider | str:
        """Vertex AI's evaluation service; where there is none, which variable to set."""
        from gradegate.judge.providers.vertex import VertexProvider

        return VertexProvider.from_environ(self.environ, folders, max_parallel)


def store_path(environ: Mapping[str, str], given: str | None) -> Path:
    """Where finished units are kept: as asked, under the runner's workspace, or the cache."""
    return Path(given) if given else cache_folder(environ) / STORE_FILE


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Our folder for what may be lost: on a runner in the workspace, for actions/cache."""
    if environ.get("GITHUB_ACTIONS") and (workspace := environ.get("GITHUB_WORKSPACE")):
        return Path(workspace) / RUNNER_FOLDER
    if xdg := environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "gradegate"
    from platformdirs import user_cache_path

    return user_cache_path("gradegate")


class SandboxedAgents:
    """Runs agents, each side's in a sandbox of its own."""

    def __init__(self, outside: Machine) -> None:
        self._outside = outside
        self._sandboxes: dict[Path, Sandbox] = {}
        self._warnings: dict[str, None] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        for sandbox in self._sandboxes.values():
            self._remark(sandbox.warning)

    def warnings(self) -> Sequence[str]:
        """What could not be done to keep the agents apart."""
        return tuple(self._warnings)

    def runner_for(
        self, suite: Suite, side: "Side", ask: Ask, cases: Sequence[Case] | None
    ) -> AgentRunner:
        """A suite's agent on a side."""
        from gradegate.agents.users import simulated_users, written_users

        if suite.traces is not None:
            return _recorded(suite, side, cases)
        users = simulated_users(ask, "", written_users)
        if suite.command is not None:
            return self._command(suite, side, users)
        if suite.agent is None:
            raise InputError(
                f"suite `{suite.name}` has no agent: there is none in a folder at or above its "
                "eval sets; write `agent`, `command` or `traces` for it in gradegate.toml"
            )
        from gradegate.agents.adk import AdkAgent

        return AdkAgent(
            suite,
            side.root,
            self._sandbox(side, self._interpreter_of(suite)),
            cache=self._outside.cache / "environments",
            environ=self._outside.environ,
            agent_python=self._outside.agent_python,
            users=users,
        )

    def measure_for(self, suite: Suite, side: "Side") -> "AdkMetrics":
        """Who calls the user's own metrics of a suite."""
        from gradegate.agents.adk import AdkMetrics
        from gradegate.agents.environment import AgentEnvironment

        return AdkMetrics(
            AgentEnvironment(
                suite,
                side.root,
                self._sandbox(side, self._interpreter_of(suite)),
                self._outside.cache / "environments",
                self._outside.environ,
                self._outside.agent_python,
            )
        )

    def _command(self, suite: Suite, side: "Side", users: UserFactory) -> "CommandAgent":
        from gradegate.agents.line_agent import CommandAgent
        from gradegate.agents.line_process import Limits

        assert suite.command is not None  # noqa: S101 - the caller looked
        environ = self._outside.environ
        sandbox = self._sandbox(side, _program(suite.command[0], environ))
        limits = Limits(memory_mb=suite.memory_mb)
        launch = sandbox.launch(suite.command, environ, suite.env, limits)
        return CommandAgent(
            replace(launch, cwd=side.root),
            turn_timeout=suite.turn_timeout,
            case_timeout=suite.case_timeout,
            max_sessions=suite.max_parallel,
            users=users,
        )

    def _interpreter_of(self, suite: Suite) -> Sequence[Path]:
        """The one that a user chose, which the agent's user must get at; others we make for it."""
        chosen = self._outside.agent_python or suite.python
        return _program(chosen, self._outside.environ) if chosen else ()

    def _sandbox(self, side: "Side", needs: Sequence[Path] = ()) -> "Sandbox":
        """One a side: its suites share the checkout."""
        from gradegate.agents.sandbox import Hidden, Sandbox, private_places, shield_process

        if side.top not in self._sandboxes:
            if not self._sandboxes:
                shield_process()
                places = private_places(self._outside.environ, self._outside.repository)
                hidden = self._stack.enter_context(Hidden(places))
                for warning in hidden.warnings:
                    self._remark(warning)
            sandbox = self._stack.enter_context(Sandbox.for_side(side.top, needs))
            self._sandboxes[side.top] = sandbox
        return self._sandboxes[side.top]

    def _remark(self, warning: str | None) -> None:
        if warning and not self._outside.trusted:
            self._warnings[warning] = None


def _program(name: str, environ: Mapping[str, str]) -> list[Path]:
    """The program a command starts, where it is none of the checkout's own."""
    if "/" in name and not name.startswith("/"):
        return []
    found = shutil.which(name, path=environ.get("PATH"))
    return [Path(found)] if found else []


def _recorded(suite: Suite, side: "Side", cases: Sequence[Case] | None) -> "RecordedAgent":
    from gradegate.agents.recorded import RecordedAgent
    from gradegate.files.json_document import refuse_outside
    from gradegate.files.results_json import read_traces

    name = suite.traces or ""
    if not (side.root / name).is_file():
        raise FileError(name, f"there is no such file: correct `traces` of suite `{suite.name}`")
    refuse_outside(side.root, name)
    try:
        traces = read_traces(side.root / name)
    except FileError as error:
        raise FileError(name, error.message, line=error.line, column=error.column) from error
    agent = RecordedAgent(traces, suite.name, name)
    if cases is not None:
        agent.refuse_strangers(case for case in cases if case.suite == suite.name)
    return agent
