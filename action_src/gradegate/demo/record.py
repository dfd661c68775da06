"""Take down the demo's verdicts: `python -m gradegate.demo.record` writes answers.json anew.

Both of the demo's branches are evaluated with the judge of `verdicts.py`; an answer that the
table does not know stops it.
"""

import asyncio
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradegate.app import Task, evaluate
from gradegate.demo.repository import ANSWERS, DOCS_ONLY, PULL_REQUEST, make_repository
from gradegate.demo.verdicts import RUBRICS, VALID
from gradegate.judges.replayed import RecordingAnswerer
from gradegate.model.question import Question
from gradegate.ports import Reply, Trouble
from gradegate.scoring.ask import Asker
from gradegate.sides.checkout import Wanted
from gradegate.sides.git import Repo
from gradegate.store.sqlite import SqliteStore
from gradegate.wiring import Outside


class HandWritten:
    """The judge of the table. It would answer every sample alike."""

    async def answer(self, question: Question[Any], sample: int) -> Reply | Trouble:
        """The verdict on the answer that the question is about."""
        del sample
        response = question.data["response"]
        if question.kind == "final_response_match_v2":
            valid, why = VALID[response]
            said: Any = {"reasoning": why, "verdict": "valid" if valid else "invalid"}
        else:
            asked = [one["rubric_id"] for one in question.data["rubrics"]]
            said = {"rubrics": [_verdict(name, *RUBRICS[response][name]) for name in asked]}
        return Reply(json.dumps(said, ensure_ascii=False))

    async def close(self) -> None:
        """Nothing is open."""


def _verdict(rubric: str, met: bool, why: str) -> dict[str, str]:  # noqa: FBT001 - from the table
    return {"rubric_id": rubric, "reasoning": why, "verdict": "yes" if met else "no"}


async def record(file: Path) -> None:
    """Evaluate both branches, and keep what the judge was asked and said."""
    with tempfile.TemporaryDirectory(prefix="gradegate-record-") as temporary:
        folder = Path(temporary)
        make_repository(folder / "repo", os.environ)
        repo = Repo.open(folder / "repo")
        outside = Outside(os.environ, repository=repo.top, cache=folder / "cache")
        answerer = RecordingAnswerer(HandWritten(), file)
        with SqliteStore(folder / "store.sqlite") as store:
            world = replace(
                outside.world(store), court=lambda judge, _: Asker(answerer, store, judge)
            )
            for branch in (DOCS_ONLY, PULL_REQUEST):
                await evaluate(Task(repo, Wanted(head=branch.name)), world)


if __name__ == "__main__":
    asyncio.run(record(ANSWERS))
    sys.stdout.write(f"wrote {ANSWERS}\n")
