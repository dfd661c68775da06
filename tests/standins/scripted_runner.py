"""An agent runner that answers from a function."""

import asyncio
from collections.abc import Callable
from typing import Self

from gradegate.model.evalset import Case, Invocation
from gradegate.model.notice import Notice
from gradegate.model.runs import NotRun, Trace

Says = Callable[[Case, int], str | NotRun]
"""The agent's answer to a case's run; one that begins with `!` is its failure."""


class ScriptedRunner:
    """Runs cases by a function, and notes which."""

    def __init__(self, says: Says, *, rerunnable: bool = True) -> None:
        self.says = says
        self.rerunnable = rerunnable
        self.made: list[tuple[str, int]] = []

    async def prepare(self) -> Notice | None:
        """Nothing to make ready."""
        return None

    def runs_of(self, case: Case, asked: int) -> int:
        """As many as are asked for."""
        del case
        return asked

    async def run(self, case: Case, run: int) -> Trace | NotRun:
        """One run, after others had their turn."""
        self.made.append((case.eval_id, run))
        await asyncio.sleep(0)
        said = self.says(case, run)
        return said if isinstance(said, NotRun) else trace_of(case, run, said)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


def trace_of(case: Case, run: int, said: str) -> Trace:
    """What a case's run comes to."""
    if said.startswith("!"):
        return Trace(
            suite=case.suite,
            eval_set=case.eval_set,
            eval_id=case.eval_id,
            run=run,
            error=said.removeprefix("!"),
        )
    turn = Invocation.model_validate(
        {"user_content": {"parts": []}, "final_response": {"parts": [{"text": said}]}}
    )
    return Trace(
        suite=case.suite,
        eval_set=case.eval_set,
        eval_id=case.eval_id,
        run=run,
        invocations=(turn,),
    )
