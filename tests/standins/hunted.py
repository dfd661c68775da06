"""A job that holds a token and runs the hunting agent; says what the hunter found, as JSON.

    hunted.py FOLDER plain|isolated [WORD…]

FOLDER is as `test_sandbox_secrets.py` makes it. `plain` runs the agent as it would be without
isolation, to show that there is something to be found. The words go to the hunter.
"""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gradegate.agents.hidden import Hidden, private_places, record_folder
from gradegate.agents.launch import Launch
from gradegate.agents.line_agent import CommandAgent
from gradegate.agents.sandbox import Sandbox, agent_environment, shield_process
from gradegate.model.evalset import Case, EvalCase, EvalConfig
from gradegate.model.runs import Trace

_SYSTEM_PYTHON = "/usr/bin/python3"
_HUNTER = str(Path(__file__).parent / "agents" / "hunter.py")
_COMMAND = [_SYSTEM_PYTHON, _HUNTER]


def _case(text: str) -> Case:
    turn = {"user_content": {"parts": [{"text": text}]}}
    definition = EvalCase.model_validate({"eval_id": "hunt", "conversation": [turn]})
    return Case(
        suite="s",
        eval_set="a.evalset.json",
        eval_set_id="a",
        eval_id="hunt",
        line=1,
        definition=definition,
        config=EvalConfig(),
        digest="",
    )


@contextmanager
def _plain(folder: Path) -> Iterator[tuple[Launch, str | None]]:
    checkout = folder / "sides" / "head"
    yield Launch(_COMMAND, checkout, agent_environment(os.environ, {}, checkout)), None


@contextmanager
def _isolated(folder: Path) -> Iterator[tuple[Launch, str | None]]:
    shield_process()
    workspace = folder / "workspace"
    with (
        Hidden(private_places(os.environ, workspace), record_folder(workspace, folder)),
        Sandbox.for_side(folder / "sides" / "head", [Path(_SYSTEM_PYTHON)]) as sandbox,
    ):
        yield (
            sandbox.launch(_COMMAND, os.environ),
            sandbox.warning.text if sandbox.warning else None,
        )


async def main(folder: Path, how: str, words: list[str]) -> None:
    """Run one hunt and print what came of it."""
    with (_plain if how == "plain" else _isolated)(folder) as (launch, warning):
        if how == "plain":
            words = [f"pid={os.getpid()}", *words]
        async with CommandAgent(launch, turn_timeout=60) as agent:
            outcome = await agent.run(_case(" ".join(["hunt", *words])), 1)
    assert isinstance(outcome, Trace)
    found = outcome.invocations[0].response_text.split("\n") if outcome.invocations else []
    told = {
        "error": outcome.error,
        "found": [place for place in found if place],
        "user": launch.user,
        "warning": warning,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
