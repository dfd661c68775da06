"""A judge behind `ask` that answers from a function, with the product's own reading and votes."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel

from gradegate.judge import votes
from gradegate.model.question import Question, Votes
from gradegate.ports import Reply

T = TypeVar("T", bound=BaseModel)

Script = Callable[[Question[Any], int], Any]
"""The reply to the n-th sample of a question: JSON, or a text that need not be any."""


class ScriptedJudge:
    """Stands where `ask` stands, and keeps what it was asked."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Question[Any]] = []
        self.samples: list[int] = []

    async def __call__(self, question: Question[T], samples: int) -> Votes[T]:
        """Ask until the vote is decided."""
        self.asked.append(question)
        self.samples.append(samples)
        outcomes: list[T | str] = []
        while votes.needed(question, outcomes, samples):
            said = self.script(question, len(outcomes) + 1)
            text = said if isinstance(said, str) else json.dumps(said)
            outcomes.append(votes.read(question, Reply(text)))
        return votes.count(question, outcomes, samples)

    def of_kind(self, kind: str) -> list[Question[Any]]:
        """The questions of one prompt."""
        return [question for question in self.asked if question.kind == kind]
