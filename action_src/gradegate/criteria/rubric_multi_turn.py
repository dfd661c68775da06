"""rubric_based_multi_turn_trajectory_quality_v1: does the whole conversation meet the rubrics?"""

from collections.abc import Sequence
from typing import Any, ClassVar

from gradegate.criteria.context import steps_of
from gradegate.criteria.conversation import agents_of, judged_once
from gradegate.criteria.judged import turns_of
from gradegate.criteria.prompts import Prompt
from gradegate.criteria.rubrics import RubricJudged, of_type
from gradegate.model.evalset import EvalCase, Invocation, Rubric
from gradegate.model.result import CriterionResult
from gradegate.model.trace import Trace
from gradegate.ports import Ask, Needs

PROMPT = Prompt("rubric_multi_turn.md.j2", version="1")


class RubricMultiTurn(RubricJudged):
    """The share of rubrics that the agent's doings over all turns meet, judged once."""

    name: ClassVar[str] = "rubric_based_multi_turn_trajectory_quality_v1"
    needs: ClassVar[Needs] = Needs(rubrics=True, judge=True)
    summary: ClassVar[str] = "share of rubrics that the conversation as a whole meets"
    example: ClassVar[dict[str, Any]] = {
        "threshold": 0.8,
        "judge_model_options": {"judge_model": "gemini-2.5-flash", "num_samples": 5},
        "rubrics": [
            {
                "rubric_id": "confirms_before_booking",
                "rubric_content": {
                    "text_property": "The agent has the user confirm the details before it books."
                },
            }
        ],
    }
    prompt: ClassVar[Prompt] = PROMPT

    async def score(self, case: EvalCase, trace: Trace, ask: Ask) -> CriterionResult:
        """Ask once, with everything that happened; samples vote per rubric."""
        pairs = turns_of(case, trace)
        if isinstance(pairs, str):
            return self.not_evaluated(pairs)
        if not pairs:
            return self.not_evaluated("the case has no turns")
        turns = [actual for _, actual in pairs]
        last = await self.met(self.applicable(case), shown(turns), ask)
        return judged_once(self, turns, last)

    def applicable(self, case: EvalCase) -> tuple[Rubric, ...]:
        """The criterion's own, the case's and its turns'; one that recurs is asked once."""
        of_turns = [of_type(turn.rubrics, self.name) for turn in case.conversation or ()]
        every = (*self.rubrics, *of_type(case.rubrics, self.name), *sum(of_turns, ()))
        return tuple(one for place, one in enumerate(every) if one not in every[:place])


def shown(turns: Sequence[Invocation]) -> dict[str, Any]:
    """The dialogue with all its steps, and what the agents were told and given."""
    return {
        "agents": agents_of(turns),
        "dialogue": [
            {
                "turn": number,
                "user": turn.user_content.text,
                "steps": steps_of(turn.intermediate_data),
                "answer": turn.response_text,
            }
            for number, turn in enumerate(turns, 1)
        ],
    }
