"""final_response_match_v2: does the answer say what the expected one says?"""

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from gradegate.criteria.base.criterion import JudgeAnswer, JudgedCriterion, expected_and_actual
from gradegate.criteria.base.prompts import Prompt
from gradegate.criteria.base.shown import answer_of
from gradegate.model.evalset import EvalCase, Invocation
from gradegate.model.result import CriterionResult, InvocationResult
from gradegate.model.runs import Trace
from gradegate.ports import Ask, Needs

PROMPT = Prompt("final_response_match.md.j2", version="2")


class Validity(JudgeAnswer):
    """Whether the answer is valid, reasons first."""

    reasoning: str
    verdict: Literal["valid", "invalid"]


def ballot(answer: Validity) -> Mapping[str, bool]:
    """One vote on one verdict."""
    return {"valid": answer.verdict == "valid"}


class FinalResponseMatch(JudgedCriterion):
    """Per turn 1.0 where the judge finds the answer valid beside the expected one, else 0.0."""

    name: ClassVar[str] = "final_response_match_v2"
    needs: ClassVar[Needs] = Needs(reference=True, judge=True)
    summary: ClassVar[str] = "share of turns whose answer means what the expected one means"
    example: ClassVar[dict[str, Any]] = {
        "threshold": 0.8,
        "judge_model_options": {"judge_model": "gemini-2.5-flash", "num_samples": 5},
    }

    include_intermediate_responses_in_final: bool = Field(
        default=False, description="put what was said between tool calls before both answers"
    )

    async def score(self, case: EvalCase, trace: Trace, ask: Ask) -> CriterionResult:
        """Ask for every turn side by side; the majority decides."""
        pairs = expected_and_actual(case, trace)
        if isinstance(pairs, str):
            return self.not_evaluated(pairs)
        turns = await asyncio.gather(*(self._turn(*pair, ask) for pair in pairs))
        return self.over_turns(turns)

    async def _turn(self, expected: Invocation, actual: Invocation, ask: Ask) -> InvocationResult:
        whole = self.include_intermediate_responses_in_final
        reference = answer_of(expected, with_intermediate=whole)
        response = answer_of(actual, with_intermediate=whole)
        if reference.strip() and not response.strip():
            said_nothing = {"verdict": "invalid", "reasoning": "The agent gave no answer."}
            return self.scored(0.0, details=said_nothing)
        data = {
            "user_prompt": expected.user_content.text,
            "reference": reference,
            "response": response,
        }
        question = self.question(PROMPT, data, Validity, ballot=ballot)
        votes = await ask(question, self.samples)
        if votes.failure is not None:
            return self.unscored(votes.failure)
        valid = votes.yes["valid"]
        speaker = next(a for a in votes.answers if ballot(a)["valid"] == valid)
        return self.scored(float(valid), details=speaker.model_dump())
