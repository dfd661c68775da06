"""response_evaluation_score: how coherent are the answers, from 1 to 5? Vertex AI says so."""

import asyncio
from typing import Any, ClassVar

from gradegate.criteria.options import expected_and_actual
from gradegate.criteria.vertex import VertexScored
from gradegate.model.evalset import EvalCase, Invocation
from gradegate.model.result import CriterionResult, InvocationResult
from gradegate.model.trace import Trace
from gradegate.ports import Ask, Needs


class ResponseEvaluation(VertexScored):
    """Per turn the service's mark for coherence, 5 the best; an empty answer gets the lowest."""

    name: ClassVar[str] = "response_evaluation_score"
    needs: ClassVar[Needs] = Needs(reference=True, vertex=True)
    metric: ClassVar[str] = "coherence_v1"
    summary: ClassVar[str] = "how coherent the answers are"
    example: ClassVar[dict[str, Any]] = {"threshold": 4.0}
    range: ClassVar[tuple[float, float]] = (1.0, 5.0)

    async def score(self, case: EvalCase, trace: Trace, ask: Ask) -> CriterionResult:
        """Ask for every turn side by side."""
        pairs = expected_and_actual(case, trace)
        if isinstance(pairs, str):
            return self.not_evaluated(pairs)
        return self.over_turns(await asyncio.gather(*(self._turn(*pair, ask) for pair in pairs)))

    async def _turn(self, expected: Invocation, actual: Invocation, ask: Ask) -> InvocationResult:
        lowest = self.range[0]
        if not actual.response_text:
            said_nothing = {
                "verdict": self.worded(lowest),
                "reasoning": "The agent gave no answer.",
            }
            return self.scored(lowest, details=said_nothing)
        data = {
            "prompt": actual.user_content.text,
            "reference": expected.response_text,
            "response": actual.response_text,
        }
        return await self.verdict(data, ask)

    def worded(self, score: float) -> str:
        """So many of five."""
        return f"{score:g} of {self.range[1]:g}"
