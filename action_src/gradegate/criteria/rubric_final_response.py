"""rubric_based_final_response_quality_v1: does the answer meet the rubrics, on evidence?"""

from typing import Any, ClassVar

from pydantic import Field

from gradegate.criteria.context import (
    answer_of,
    events_of,
    grounding_of,
    instructions_of,
    steps_of,
    tools_of,
)
from gradegate.criteria.prompts import Prompt
from gradegate.criteria.rubrics import RubricBased
from gradegate.model.evalset import Invocation
from gradegate.ports import Needs

PROMPT = Prompt("rubric_final_response.md.j2", version="1")


class RubricFinalResponse(RubricBased):
    """Per turn the share of rubrics that the final response meets."""

    name: ClassVar[str] = "rubric_based_final_response_quality_v1"
    needs: ClassVar[Needs] = Needs(rubrics=True, judge=True)
    summary: ClassVar[str] = "share of rubrics that the answers meet, claims held to the evidence"
    example: ClassVar[dict[str, Any]] = {
        "threshold": 0.8,
        "judge_model_options": {"judge_model": "gemini-2.5-flash", "num_samples": 5},
        "rubrics": [
            {
                "rubric_id": "concise",
                "rubric_content": {"text_property": "The answer is direct and to the point."},
            }
        ],
    }
    prompt: ClassVar[Prompt] = PROMPT

    include_intermediate_responses_in_final: bool = Field(
        default=False, description="put what was said between tool calls before the answer"
    )

    def shown(self, turn: Invocation) -> dict[str, Any]:
        """Everything the answer could rest on, and the answer."""
        whole = self.include_intermediate_responses_in_final
        return {
            "user_prompt": turn.user_content.text,
            "instructions": instructions_of(turn.app_details),
            "tools": tools_of(turn.app_details),
            "steps": steps_of(turn.intermediate_data),
            "grounding": grounding_of(events_of(turn)),
            "response": answer_of(turn, with_intermediate=whole),
        }
