"""A suite on a side, as something that can be run: the agent it names, in a sandbox."""

import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Self

from gradegate.agents.adk import AdkAgent, AdkMetrics
from gradegate.agents.environment import AgentEnvironment
from gradegate.agents.hidden import Hidden, private_places, record_folder
from gradegate.agents.landlock import isolation_of, network_not_held
from gradegate.agents.launch import Limits
from gradegate.agents.line_agent import CommandAgent
from gradegate.agents.recorded import RecordedAgent
from gradegate.agents.requirements import find_recipe
from gradegate.agents.sandbox import Sandbox, shield_process
from gradegate.agents.uids import may_switch
from gradegate.agents.users import simulated_users, written_users
from gradegate.files.json_document import refuse_outside
from gradegate.files.results_json import read_traces
from gradegate.model.errors import FileError, InputError
from gradegate.model.evalset import Case
from gradegate.model.notice import Notice, notice
from gradegate.model.runs import Side
from gradegate.model.settings import Suite
from gradegate.ports import AgentRunner, Ask, Machine, UserFactory


class SandboxedAgents:
    """Runs agents, each side's in a sandbox of its own."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._sandboxes: dict[Path, Sandbox] = {}
        self._warnings: dict[str, Notice] = {}
        self._isolation: dict[str, Notice] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        for sandbox in self._sandboxes.values():
            self._remark(sandbox.warning)

    def warnings(self) -> Sequence[Notice]:
        """What could not be done to keep the agents apart."""
        return tuple(self._warnings.values())

    def isolation(self) -> Sequence[Notice]:
        """What was done to keep them apart, and what was not."""
        return tuple(self._isolation.values())

    def runner_for(
        self, suite: Suite, side: Side, ask: Ask, cases: Sequence[Case] | None
    ) -> AgentRunner:
        """A suite's agent on a side."""
        if suite.traces is not None:
            return _recorded(suite, side, cases)
        users = simulated_users(ask, "", written_users)
        self._tell_isolation(suite)
        if suite.command is not None:
            return self._command(suite, side, users)
        if suite.agent is None:
            raise InputError(
                f"suite `{suite.name}` has no agent: there is none in a folder at or above its "
                "eval sets; write `agent`, `command` or `traces` for it in gradegate.toml"
            )
        return AdkAgent(
            suite,
            side.root,
            self._sandbox(side, self._interpreter_of(suite)),
            cache=self._machine.cache / "environments",
            environ=self._machine.environ,
            agent_python=self._machine.agent_python,
            users=users,
            recordings=side.recordings,
            left_out=side.left_out,
        )

    def metrics_for(self, suite: Suite, side: Side) -> AdkMetrics:
        """Who calls the user's own metrics of a suite.

        They have files and a user of their own: an agent must not reach what measures it.
        """
        apart = self._copy_of(side)
        return AdkMetrics(
            AgentEnvironment(
                suite,
                apart.root,
                self._sandbox(apart, self._interpreter_of(suite)),
                self._machine.cache / "environments",
                self._machine.environ,
                self._machine.agent_python,
            )
        )

    def _copy_of(self, side: Side) -> Side:
        """A side's files once more, as they are before an agent can write to them."""
        top = side.top.with_name(f"{side.top.name}-metrics")
        if not top.exists():
            assert side.top not in self._sandboxes  # noqa: S101 - else they are the agent's
            shutil.copytree(side.top, top, symlinks=True)
        return Side(side.commit, top, top / side.root.relative_to(side.top))

    def environment_of(self, suite: Suite, side: Side) -> Notice | None:
        """What its interpreter has; None for programs, recordings and suites without an agent."""
        if suite.traces is not None or suite.agent is None:
            return None
        if chosen := self._machine.agent_python or suite.python:
            return notice("environment.interpreter", python=chosen)
        place = side.root / suite.agent
        recipe = find_recipe(side.root, place, suite.requirements, side.top)
        return recipe if isinstance(recipe, Notice) else recipe.described()

    def _command(self, suite: Suite, side: Side, users: UserFactory) -> CommandAgent:
        assert suite.command is not None  # noqa: S101 - the caller looked
        environ = self._machine.environ
        sandbox = self._sandbox(side, _program(suite.command[0], environ))
        limits = Limits(memory_mb=suite.memory_mb)
        launch = sandbox.launch(suite.command, environ, suite.variables, limits, suite.network)
        return CommandAgent(
            replace(launch, cwd=side.root),
            turn_timeout=suite.turn_timeout,
            case_timeout=suite.case_timeout,
            max_sessions=suite.max_parallel,
            users=users,
            renew=partial(sandbox.renewed, fresh=suite.fresh),
            left_out=side.left_out,
        )

    def _interpreter_of(self, suite: Suite) -> Sequence[Path]:
        """The one that a user chose, which the agent's user must get at; others we make for it."""
        chosen = self._machine.agent_python or suite.python
        return _program(chosen, self._machine.environ) if chosen else ()

    def _sandbox(self, side: Side, needs: Sequence[Path] = ()) -> Sandbox:
        """One a side: its suites share the checkout."""
        if side.top not in self._sandboxes:
            if not self._sandboxes:
                shield_process()
                places = private_places(self._machine.environ, self._machine.repository)
                hidden = self._stack.enter_context(Hidden(places, self._record))
                for warning in hidden.warnings:
                    self._remark(warning)
            sandbox = self._stack.enter_context(Sandbox.for_side(side.top, needs))
            self._sandboxes[side.top] = sandbox
        return self._sandboxes[side.top]

    def _tell_isolation(self, suite: Suite) -> None:
        if self._machine.trusted:
            return
        user = notice("isolation.own_user" if may_switch() else "isolation.same_user")
        for told in (user, *isolation_of(suite)):
            self._isolation[told.text] = told
        self._remark(network_not_held(suite))

    @property
    def _record(self) -> Path:
        return record_folder(self._machine.repository, self._machine.cache)

    def _remark(self, warning: Notice | None) -> None:
        if warning and not self._machine.trusted:
            self._warnings[warning.text] = warning


def _program(name: str, environ: Mapping[str, str]) -> list[Path]:
    """The program a command starts, where it is none of the checkout's own."""
    if "/" in name and not name.startswith("/"):
        return []
    found = shutil.which(name, path=environ.get("PATH"))
    return [Path(found)] if found else []


def _recorded(suite: Suite, side: Side, cases: Sequence[Case] | None) -> RecordedAgent:
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
