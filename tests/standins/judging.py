"""Questions, and a judge provider that does as it is told."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from gradegate.model.question import Question
from gradegate.ports import CallFailure, Reply

Script = Callable[[Question[Any], int, int], Reply | CallFailure | Awaitable[Reply | CallFailure]]
"""What to say to a question's sample, the n-th time it is asked (counted from 1)."""


class Opinion(BaseModel):
    """A yes or no, with a reason."""

    model_config = ConfigDict(extra="forbid")

    reasoning: str
    verdict: Literal["yes", "no"]


class Opinions(BaseModel):
    """A yes or no on several things."""

    verdicts: dict[str, Literal["yes", "no"]]


def question(text: str = "is it?", **changes: Any) -> Question[Opinion]:
    """A question with one thing to vote on."""
    given: dict[str, Any] = {
        "kind": "opinion_v1",
        "version": "1",
        "data": {"text": text},
        "answer": Opinion,
        "render": lambda fence: f"{fence}\n{text}\n{fence}\nWell?",
        "model": "gemini-2.5-flash",
        "ballot": lambda answer: {"verdict": answer.verdict == "yes"},
    }
    return Question(**(given | changes))


def questions_on(*entries: str) -> Question[Opinions]:
    """A question with several things to vote on."""
    return Question(
        kind="opinions_v1",
        version="1",
        data={"entries": list(entries)},
        answer=Opinions,
        render=lambda fence: f"{fence}\n{entries}\n{fence}\nWell?",
        model="gemini-2.5-flash",
        ballot=lambda answer: {name: said == "yes" for name, said in answer.verdicts.items()},
    )


def says(verdict: str) -> Reply:
    """A reply with this verdict."""
    return Reply(json.dumps({"reasoning": "because", "verdict": verdict}), 10, 5)


def says_on(verdicts: Mapping[str, bool]) -> Reply:
    """A reply with these verdicts."""
    return Reply(
        json.dumps({"verdicts": {name: "yes" if it else "no" for name, it in verdicts.items()}})
    )


class Scripted:
    """A provider that follows a script and remembers what it was asked."""

    def __init__(self, script: Script, latency: float = 0.0) -> None:
        self.asked: list[tuple[str, int]] = []
        self.at: list[float] = []
        self.most_at_once = 0
        self.closed = False
        self._script = script
        self._latency = latency
        self._at_once = 0

    async def answer(self, question: Question[Any], sample: int) -> Reply | CallFailure:
        """Answer by the script."""
        key = (question.digest, sample)
        self.asked.append(key)
        self.at.append(asyncio.get_running_loop().time())
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await asyncio.sleep(self._latency)
            said = self._script(question, sample, self.asked.count(key))
            return said if isinstance(said, Reply | CallFailure) else await said
        finally:
            self._at_once -= 1

    async def close(self) -> None:
        """Remember it."""
        self.closed = True

    @property
    def samples(self) -> list[int]:
        """Which samples were asked, in order."""
        return [sample for _, sample in self.asked]
