"""Writes the demo's verdicts anew: `python -m gradegate.demo.record_answers`.

Both of the demo's branches are evaluated with a judge of the table below; an answer that the
table does not know stops it.
"""

import asyncio
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradegate.demo.repository import ANSWERS, DOCS_ONLY, PULL_REQUEST, make_repository
from gradegate.files.temporary import temporary_folder
from gradegate.judge.client import JudgeClient
from gradegate.judge.providers.replayed import RecordingProvider
from gradegate.model.question import Question
from gradegate.pipeline.evaluate import evaluate
from gradegate.pipeline.prepare import EvaluationRequest
from gradegate.ports import CallFailure, Machine, Reply
from gradegate.sides.checkout import Revisions
from gradegate.sides.git import Repo
from gradegate.wiring import services

VALID: dict[str, tuple[bool, str]] = {
    "GG 77 leaves Helsinki on 3 May at 17:40 and lands in Osaka on 4 May at 11:55, for 640 EUR.": (
        True,
        "The same flight, with the same days, times and price.",
    ),
    "Dotonbori Inn in Osaka is booked from 4 May for 2 nights, 30,400 JPY in all.": (
        True,
        "The same hotel for the same two nights at the same price in yen.",
    ),
    "Dotonbori Inn in Osaka is booked from 3 May for 2 nights, 30,400 JPY in all.": (
        False,
        "The reference books from 4 May: on the night of 3 May the traveller is in the air.",
    ),
    "GG 12 leaves Paris on 12 June at 08:25 and lands in Lisbon on 12 June at 09:55, for 118 EUR.": (  # noqa: E501 - an answer as it is given
        True,
        "The same flight, with the same day, times and price.",
    ),
    "Casa da Graça in Lisbon is booked from 12 June for 3 nights, 330 EUR in all.": (
        True,
        "The same hotel for the same three nights at the same price.",
    ),
    "Kamogawa House in Kyoto is booked from 9 May for 4 nights, 520 EUR in all.": (
        True,
        "Hotel, dates and price are those of the reference.",
    ),
    "I am sorry: every hotel in Oslo is full on 17 May.": (
        True,
        "Both say that no hotel in Oslo has a room on that day; the wording is free.",
    ),
    "Booking KIX-204 is cancelled; 190 EUR are on their way back to you.": (
        True,
        "The booking is cancelled and the same sum is paid back.",
    ),
}
"""By answer, for `final_response_match_v2`: is it valid, and why."""

RUBRICS: dict[str, dict[str, tuple[bool, str]]] = {
    "東京は晴れ、22度です。": {
        "polite": (True, "The sentence ends in です."),
        "from_the_tool": (True, "The tool said 22 degrees, and so does the answer."),
    },
    "GG 301便は東京を09:30に出発し、札幌に11:05に到着します。料金は96ユーロです。": {
        "polite": (True, "The sentences end in ます and です."),
        "from_the_tool": (True, "09:30, 11:05 and 96 are what find_flight returned."),
    },
    "大通ホテルを5月9日から2泊、24,000円で予約しました。": {
        "polite": (True, "The sentence ends in ました."),
        "from_the_tool": (True, "24,000 yen is the total that book_hotel returned."),
    },
}
"""By answer and rubric, for `rubric_based_final_response_quality_v1`: yes or no, and why."""


class HandWritten:
    """The judge of the table. It would answer every sample alike."""

    async def answer(self, question: Question[Any], sample: int) -> Reply | CallFailure:
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
    with temporary_folder("record") as folder:
        make_repository(folder / "repo", os.environ)
        repo = Repo.open(folder / "repo")
        machine = Machine(os.environ, repository=repo.top, cache=folder / "cache")
        provider = RecordingProvider(HandWritten(), file)
        with services(machine, folder / "store.sqlite") as outside:
            store = outside.store
            recording = replace(
                outside, judge=lambda settings, *_: JudgeClient(provider, store, settings)
            )
            for branch in (DOCS_ONLY, PULL_REQUEST):
                await evaluate(EvaluationRequest(repo, Revisions(head=branch.name)), recording)


if __name__ == "__main__":
    asyncio.run(record(ANSWERS))
    sys.stdout.write(f"wrote {ANSWERS}\n")
