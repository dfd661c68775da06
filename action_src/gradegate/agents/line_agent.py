"""An agent behind the line protocol: any program, any language, in the processes it takes."""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from pydantic import Field, ValidationError

from gradegate.agents.launch import Launch
from gradegate.agents.line_process import Answer, Failure, LineProcess
from gradegate.agents.process_pool import Pool, Renew, as_it_is
from gradegate.agents.users import Dialogue, converse, written_users
from gradegate.model.base import AdkValue
from gradegate.model.evalset import Case, CaseKey, Content, Invocation
from gradegate.model.notice import Notice, notice
from gradegate.model.runs import NotRun, Trace
from gradegate.model.tool_recording import ToolAnswer
from gradegate.ports import UserFactory

_ERROR_LENGTH = 4000
_NOT_FOUND = (
    re.compile(r"No module named '([^']+)'"),
    re.compile(r"No such file or directory: '([^']+)'"),
)
NOT_THE_AGENT = {
    "credentials": notice("service.credentials"),
    "quota": notice("service.quota"),
    "network": notice("service.network"),
}
"""Causes of an error that say nothing of the agent: the service of its model is at fault."""
NO_COPY = "no_copy"
"""The cause that our worker names where it cannot make a copy of the agent."""


class Timeouts(NamedTuple):
    """Seconds that the program may take."""

    turn: float
    case: float
    """Over all it is asked in a session; what the user takes does not count."""

    def left(self, spent: float) -> tuple[float, str]:
        """How long the next answer may take, and what to say where it takes longer."""
        rest = max(self.case - spent, 0.0)
        if rest < self.turn:
            return rest, f"the program took more than {self.case:g} s over the case"
        return self.turn, f"the program did not answer within {self.turn:g} s"


class ToolsUsed(AdkValue):
    """What our worker tells of tools that are not simply called."""

    tools: tuple[ToolAnswer, ...] = ()
    toolsets: dict[str, tuple[dict[str, Any], ...]] = Field(default_factory=dict)

    def and_then(self, more: "ToolsUsed") -> "ToolsUsed":
        """With what came of the next turn."""
        return ToolsUsed(
            tools=(*self.tools, *more.tools), toolsets={**self.toolsets, **more.toolsets}
        )


class LineSession:
    """A session of one case's run; `name` tells it from all others of the process."""

    def __init__(self, process: LineProcess, name: str, patience: Timeouts) -> None:
        self._process = process
        self._name = name
        self._patience = patience
        self._spent = 0.0
        self.tools = ToolsUsed()
        """What is told of the calls of tools, where that is asked for."""

    async def open(
        self, case: Case, run: int, copy: int | None = None, **more: Any
    ) -> Failure | None:
        """Begin the case; what went wrong, if anything did."""
        start = case.definition.session_input
        history = case.dataset.history if case.dataset else ()
        said = [event.model_dump(mode="json", exclude_none=True) for event in history]
        return self._expect_ok(
            await self._request(
                "open",
                eval_set=case.eval_set,
                eval_id=case.eval_id,
                run=run,
                session_input=start and start.model_dump(mode="json"),
                **({"history": said} if said else {}),
                **({"copy": copy} if copy is not None else {}),
                **more,
            )
        )

    async def turn(self, message: Content) -> Invocation | Failure:
        """Say one thing and have what the agent made of it."""
        said = message.model_dump(mode="json", exclude_none=True)
        answer = await self._request("turn", user_content=said)
        if isinstance(answer, Failure):
            return answer
        if not isinstance(answer.get("invocation"), dict):
            return self._own("the program answered a turn with neither `invocation` nor `error`")
        try:
            done = Invocation.model_validate({**answer["invocation"], "user_content": said})
        except ValidationError as invalid:
            return self._own(f"the program's `invocation` is not one: {_problems(invalid)}")
        return done.model_copy(update={"user_content": message})

    async def close(self) -> Failure | None:
        """End the case; what went wrong, if anything did."""
        return self._expect_ok(await self._request("close"))

    async def _request(self, op: str, **content: Any) -> Answer | Failure:
        message = {"op": op, "session": self._name, **content}
        seconds, complaint = self._patience.left(self._spent)
        clock = asyncio.get_running_loop().time
        began = clock()
        answer = await self._process.request(self._name, message, seconds, complaint)
        self._spent += clock() - began
        if isinstance(answer, dict) and "tools" in answer:
            try:
                self.tools = self.tools.and_then(ToolsUsed.model_validate(answer))
            except ValidationError as invalid:
                return self._own(f"the program's `tools` are not as expected: {_problems(invalid)}")
        if isinstance(answer, dict) and answer.get("error") is not None:
            cause = answer.get("cause")
            known = cause if cause in NOT_THE_AGENT or cause == NO_COPY else None
            return Failure(str(answer["error"])[:_ERROR_LENGTH], cause=known)
        return answer

    def _expect_ok(self, answer: Answer | Failure) -> Failure | None:
        if isinstance(answer, Failure):
            return answer
        if answer.get("ok") is True:
            return None
        return self._own('the program did not answer `{"session": …, "ok": true}`')

    def _own(self, reason: str) -> Failure:
        return Failure(self._process.with_log(reason))


def _problems(invalid: ValidationError) -> str:
    shown = [
        f"{'.'.join(str(step) for step in error['loc'])}: {error['msg']}"
        for error in invalid.errors(include_url=False, include_input=False)
    ]
    return "; ".join(shown)[:_ERROR_LENGTH]


class CommandAgent:
    """Runs cases as sessions of a program, many in one process.

    When a process breaks with several sessions in it, nobody knows whose doing that was. Each
    of them is then run once more, alone in a process of its own: what fails alone is at fault.

    No process answers a case twice: an agent that keeps its answers, in memory or in a file of its
    home, would otherwise repeat in each rerun what it said by chance in the first.
    """

    rerunnable = True

    def __init__(  # noqa: PLR0913 - a program, its limits and who talks to it
        self,
        launch: Launch,
        *,
        turn_timeout: float = 120.0,
        case_timeout: float = 900.0,
        max_sessions: int = 8,
        users: UserFactory = written_users,
        renew: Renew = as_it_is,
        copies_itself: bool = False,
        left_out: Mapping[str, str] | None = None,
    ) -> None:
        self._left_out = left_out or {}
        self._pool = Pool(launch, renew, copies_itself=copies_itself)
        self._begun: Counter[CaseKey] = Counter()
        self._hung: set[CaseKey] = set()
        """Cases that took too long with nobody near who could be to blame."""
        self._patience = Timeouts(turn_timeout, case_timeout)
        self._users = users
        self._slots = asyncio.Semaphore(max_sessions)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()

    async def prepare(self) -> Notice | None:
        """Nothing to make ready."""
        return None

    async def start(self) -> None:
        """Start the program before it is asked; what goes wrong is told to the first case."""
        await self._pool.start()

    def runs_of(self, case: Case, asked: int) -> int:
        """As many as are asked for."""
        del case
        return asked

    async def run(self, case: Case, run: int, **more: Any) -> Trace | NotRun:
        """Run one case from the start, when one of the agent's sessions is free.

        `more` is told when the session is opened.
        """
        clock = asyncio.get_running_loop().time
        async with self._slots:
            began = clock()
            copy = self._begun[case.key]
            self._begun[case.key] += 1
            alone = case.key in self._hung  # nobody else is to wait for it once more
            dialogue, used = await self._attempt(case, run, copy, more, alone=alone)
            failure = dialogue.failure
            if isinstance(failure, Failure) and not failure.certain and not alone:
                dialogue, used = await self._attempt(case, run, copy, more, alone=True)
            if isinstance(dialogue.failure, Failure) and dialogue.failure.overran:
                self._hung.add(case.key)
            took = clock() - began
        if isinstance(dialogue.failure, NotRun):
            return dialogue.failure
        if dialogue.failure and dialogue.failure.cause:
            return _without_service(dialogue.failure.cause, dialogue.failure.reason)
        return Trace(
            suite=case.suite,
            eval_set=case.eval_set,
            eval_id=case.eval_id,
            run=run,
            invocations=dialogue.invocations,
            error=dialogue.failure
            and with_what_is_missing(dialogue.failure.reason, self._left_out),
            seconds=round(took, 3),
            tools=used.tools,
            toolsets=used.toolsets,
        )

    async def _attempt(
        self, case: Case, run: int, copy: int, more: Mapping[str, Any], *, alone: bool
    ) -> tuple[Dialogue, ToolsUsed]:
        dialogue, used = await self._session(case, run, copy, more, alone=alone)
        if isinstance(dialogue.failure, Failure) and dialogue.failure.cause == NO_COPY:
            self._pool.copies_itself = False
            return await self._session(case, run, copy, more, alone=alone)
        return dialogue, used

    async def _session(
        self, case: Case, run: int, copy: int, more: Mapping[str, Any], *, alone: bool
    ) -> tuple[Dialogue, ToolsUsed]:
        async with self._pool.seat(alone=alone, copy=copy) as seat:
            if isinstance(seat, Failure):
                return Dialogue(failure=seat), ToolsUsed()
            session = LineSession(seat.process, seat.name, self._patience)
            failure = await session.open(case, run, seat.copy, **more)
            if failure:
                return Dialogue(failure=failure), session.tools
            dialogue = await converse(self._users(case, run), session)
            if dialogue.failure:
                return dialogue, session.tools
            failure = await session.close()
            # All turns were had: what others did to the process meanwhile costs them nothing.
            blamed = failure if failure and failure.certain else None
            return Dialogue(dialogue.invocations, blamed), session.tools


def with_what_is_missing(reason: str, left_out: Mapping[str, str]) -> str:
    """A failure, and where the repository has the file or module that was not found."""
    for pattern in _NOT_FOUND:
        for name in pattern.findall(reason):
            first = name.split(".")[0] if pattern is _NOT_FOUND[0] else name.rpartition("/")[2]
            if first in left_out:
                return f"{reason}\n{notice('agent.left_out', path=left_out[first]).text}"
    return reason


def _without_service(cause: str, reason: str) -> NotRun:
    """Whatever the agent is worth, its model could not be asked."""
    said = next(iter(reason.splitlines()), "")
    return NotRun.because(notice("agent.no_service", cause=NOT_THE_AGENT[cause], said=said))
