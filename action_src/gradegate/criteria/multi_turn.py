"""The multi_turn_* criteria: Vertex AI judges a whole conversation once."""

from typing import Any

from gradegate.criteria.conversation import agents_of, events_in, judged_once, numbered_calls
from gradegate.criteria.judged import turns_of
from gradegate.criteria.vertex import VertexScored
from gradegate.model.evalset import EvalCase, Invocation
from gradegate.model.result import CriterionResult
from gradegate.model.trace import Trace
from gradegate.ports import Ask


class MultiTurn(VertexScored):
    """Scores the conversation; the score stands with its last turn."""

    async def score(self, case: EvalCase, trace: Trace, ask: Ask) -> CriterionResult:
        """Ask once, with everything that happened."""
        turns = turns_of(case, trace)
        if isinstance(turns, str):
            return self.not_evaluated(turns)
        if not turns:
            return self.not_evaluated("the case has no turns")
        invocations = [actual for _, actual in turns]
        last = await self.verdict(conversation_of(invocations), ask)
        return judged_once(self, invocations, last)


def conversation_of(turns: list[Invocation]) -> dict[str, Any]:
    """The conversation as the service takes it."""
    calls = numbered_calls(turns)
    return {
        "agents": {
            name: {
                "agent_id": name,
                "instruction": agent["instructions"],
                "tools": agent["tools"],
            }
            for name, agent in agents_of(turns).items()
        },
        "turns": [
            {"turn_index": index, "turn_id": f"turn_{index}", "events": events_in(turn, calls)}
            for index, turn in enumerate(turns)
        ],
    }
