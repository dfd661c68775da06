"""One session with an agent program, in the words of the line protocol."""

import asyncio
from typing import Any, NamedTuple

from pydantic import ValidationError

from gradegate.agents.process import Answer, Failure, LineProcess
from gradegate.model.case import Case
from gradegate.model.evalset import Content, Invocation

_ERROR_LENGTH = 4000


class Patience(NamedTuple):
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


class LineSession:
    """A session of one case's run; `name` tells it from all others of the process."""

    def __init__(self, process: LineProcess, name: str, patience: Patience) -> None:
        self._process = process
        self._name = name
        self._patience = patience
        self._spent = 0.0

    async def open(self, case: Case, run: int) -> Failure | None:
        """Begin the case; what went wrong, if anything did."""
        start = case.definition.session_input
        return self._expect_ok(
            await self._request(
                "open",
                eval_set=case.eval_set,
                eval_id=case.eval_id,
                run=run,
                session_input=start and start.model_dump(mode="json"),
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
        if isinstance(answer, dict) and answer.get("error") is not None:
            return Failure(str(answer["error"])[:_ERROR_LENGTH])
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
