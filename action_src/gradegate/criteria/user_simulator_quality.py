"""per_turn_user_simulator_quality_v1: did the simulated user keep to its plan?"""

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field

from gradegate.criteria.base.criterion import RunPart
from gradegate.criteria.base.judged import answer_details
from gradegate.criteria.base.prompts import Prompt
from gradegate.criteria.base.validity import ValidityCriterion
from gradegate.model.evalset import ConversationScenario, EvalCase, Invocation
from gradegate.model.gemini_models import DEFAULT_JUDGE
from gradegate.model.result import CriterionResult, InvocationResult
from gradegate.model.runs import Trace
from gradegate.model.simulation import STOP_SIGNAL
from gradegate.ports import Ask, Needs

PROMPT = Prompt("user_simulator_quality.md.j2", version="1")
NO_SCENARIO = "judges a simulated user, and this case has none"


class UserSimulatorQuality(ValidityCriterion):
    """Per turn 1.0 where the user's message is in keeping with plan, persona and dialogue.

    The first must be the starting prompt. Ending after the last turn is looked at as one more
    message: a conversation that should have gone on, or ended before, fails its last turn.
    """

    name: ClassVar[str] = "per_turn_user_simulator_quality_v1"
    asks_for: ClassVar[frozenset[RunPart]] = frozenset()
    needs: ClassVar[Needs] = Needs(judge=True, scenario=True)
    summary: ClassVar[str] = "share of turns in which the simulated user keeps to its plan"
    example: ClassVar[dict[str, Any]] = {
        "threshold": 0.9,
        "judge_model_options": {"judge_model": DEFAULT_JUDGE, "num_samples": 5},
    }

    stop_signal: str = Field(
        default=STOP_SIGNAL, description="what the simulated user says to end the conversation"
    )

    async def score(self, case: EvalCase, trace: Trace, ask: Ask) -> CriterionResult:
        """Ask for every message but the first, and for the end, side by side."""
        scenario = case.conversation_scenario
        if scenario is None:
            return self.not_evaluated(NO_SCENARIO)
        turns = trace.invocations
        if not turns:
            return self.not_evaluated("the conversation has no turns")
        *rest, end = await asyncio.gather(
            *(
                self._message(scenario, turns[:number], turn.user_content.text, ask)
                for number, turn in enumerate(turns)
                if number
            ),
            self._message(scenario, turns, self.stop_signal, ask),
        )
        judged = [self._first(scenario, turns[0]), *rest]
        return self.over_turns([*judged[:-1], _with_end(judged[-1], end)])

    def _first(self, scenario: ConversationScenario, turn: Invocation) -> InvocationResult:
        """Nobody needs to be asked: it is the starting prompt, or it is not."""
        is_right = turn.user_content.text.strip() == scenario.starting_prompt.strip()
        said = "is the starting prompt" if is_right else "is not the starting prompt"
        verdict = "valid" if is_right else "invalid"
        details = answer_details(verdict, f"The first message {said}.")
        return self.scored(float(is_right), details=details)

    async def _message(
        self, scenario: ConversationScenario, so_far: Sequence[Invocation], said: str, ask: Ask
    ) -> InvocationResult:
        persona = scenario.user_persona
        data = {
            "conversation_plan": scenario.conversation_plan,
            "persona": persona.model_dump(mode="json") if persona else None,
            "dialogue": [
                {"user": turn.user_content.text, "agent": turn.response_text} for turn in so_far
            ],
            "message": said,
            "stop_signal": self.stop_signal,
        }
        return await self.ask_validity(PROMPT, data, ask)


def _with_end(last: InvocationResult, end: InvocationResult) -> InvocationResult:
    """The last turn, failed or left open where the way the conversation ended is."""
    if end.score == 0 or (end.score is None and last.score):
        return end
    return last
