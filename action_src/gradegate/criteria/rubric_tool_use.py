"""rubric_based_tool_use_quality_v1: do the tool calls meet the rubrics?"""

from typing import Any, ClassVar

from gradegate.criteria.context import instructions_of, steps_of, tools_of
from gradegate.criteria.prompts import Prompt
from gradegate.criteria.rubrics import RubricBased
from gradegate.model.evalset import Invocation
from gradegate.ports import Needs

PROMPT = Prompt("rubric_tool_use.md.j2", version="1")


class RubricToolUse(RubricBased):
    """Per turn the share of rubrics that the tool calls and their responses meet."""

    name: ClassVar[str] = "rubric_based_tool_use_quality_v1"
    needs: ClassVar[Needs] = Needs(rubrics=True, judge=True)
    summary: ClassVar[str] = "share of rubrics that the tool calls meet"
    example: ClassVar[dict[str, Any]] = {
        "threshold": 1.0,
        "judge_model_options": {"judge_model": "gemini-2.5-flash", "num_samples": 5},
        "rubrics": [
            {
                "rubric_id": "geocoding_first",
                "rubric_content": {
                    "text_property": "The agent calls geocode before it calls get_weather."
                },
            }
        ],
    }
    prompt: ClassVar[Prompt] = PROMPT

    def shown(self, turn: Invocation) -> dict[str, Any]:
        """The calls with their responses, and what they were to serve; not the answer."""
        return {
            "user_prompt": turn.user_content.text,
            "instructions": instructions_of(turn.app_details),
            "tools": tools_of(turn.app_details),
            "steps": steps_of(turn.intermediate_data, texts=False),
        }
