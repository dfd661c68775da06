"""final_response_match_v2: does the answer say what the expected one says?"""

from typing import Any, ClassVar

from pydantic import Field

from gradegate.criteria.base.criterion import Turn, TurnCriterion
from gradegate.criteria.base.judged import answer_details
from gradegate.criteria.base.prompts import Prompt
from gradegate.criteria.base.shown import answer_of
from gradegate.criteria.base.validity import ValidityCriterion
from gradegate.model.gemini_models import DEFAULT_JUDGE
from gradegate.model.result import InvocationResult
from gradegate.ports import Ask, Needs

PROMPT = Prompt("final_response_match.md.j2", version="2")


class FinalResponseMatch(TurnCriterion, ValidityCriterion):
    """Per turn 1.0 where the judge finds the answer valid beside the expected one, else 0.0."""

    name: ClassVar[str] = "final_response_match_v2"
    needs: ClassVar[Needs] = Needs(reference=True, judge=True)
    summary: ClassVar[str] = "share of turns whose answer means what the expected one means"
    example: ClassVar[dict[str, Any]] = {
        "threshold": 0.8,
        "judge_model_options": {"judge_model": DEFAULT_JUDGE, "num_samples": 5},
    }

    include_intermediate_responses_in_final: bool = Field(
        default=False, description="put what was said between tool calls before both answers"
    )

    async def score_turn(self, turn: Turn, ask: Ask) -> InvocationResult:
        """Ask whether the answer is valid beside the expected one."""
        whole = self.include_intermediate_responses_in_final
        reference = answer_of(turn.expected, with_intermediate=whole)
        response = answer_of(turn.actual, with_intermediate=whole)
        if reference.strip() and not response.strip():
            said_nothing = answer_details("invalid", "The agent gave no answer.")
            return self.scored(0.0, details=said_nothing)
        data = {
            "user_prompt": turn.expected.user_content.text,
            "reference": reference,
            "response": response,
        }
        return await self.ask_validity(PROMPT, data, ask)
