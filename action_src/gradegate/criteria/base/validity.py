"""Criteria that ask a judge of one thing at a time whether it is valid."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from gradegate.criteria.base.criterion import JudgeAnswer, JudgedCriterion
from gradegate.criteria.base.judged import Judged, judged_answer
from gradegate.criteria.base.prompts import Prompt
from gradegate.model.result import InvocationResult
from gradegate.ports import Ask


class Validity(JudgeAnswer):
    """Whether it is valid, reasons first."""

    reasoning: str
    verdict: Literal["valid", "invalid"]


def ballot(answer: Validity) -> Mapping[str, bool]:
    """One vote on one verdict."""
    return {"valid": answer.verdict == "valid"}


class ValidityCriterion(JudgedCriterion):
    """Valid is 1.0, invalid 0.0: the majority decides, in the words of the first who held it."""

    async def ask_validity(
        self, prompt: Prompt, data: Mapping[str, Any], ask: Ask
    ) -> InvocationResult:
        """What the judges say of this data."""
        votes = await ask(self.question(prompt, data, Validity, ballot=ballot), self.samples)
        if votes.failure is not None:
            return self.unscored(votes.failure)
        valid = votes.yes["valid"]
        speaker = next(answer for answer in votes.answers if ballot(answer)["valid"] == valid)
        return self.scored(float(valid), details=speaker.model_dump())

    @classmethod
    def evidence(cls, turn: InvocationResult) -> Iterator[Judged]:
        """Valid or not, and why."""
        yield from super().evidence(turn)
        yield from judged_answer(turn)
