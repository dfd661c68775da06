"""What the criteria have in common that Vertex AI's evaluation service scores."""

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from pydantic import Field

from gradegate.criteria.judged import Answer
from gradegate.criteria.options import Options
from gradegate.criteria.prompts import as_json
from gradegate.model.question import VERTEX, Question
from gradegate.model.result import InvocationResult, RubricScore
from gradegate.ports import Ask, Needs


class VertexRubric(Answer):
    """One of the service's own rubrics, and whether it is met."""

    rubric: str
    met: bool
    reasoning: str = ""


class VertexVerdict(Answer):
    """What the service says of one answer, or of one conversation."""

    score: float = Field(allow_inf_nan=False)
    explanation: str = ""
    rubrics: tuple[VertexRubric, ...] = ()


class VertexScored(Options):
    """A criterion that is put to the service, once for each thing it scores."""

    needs: ClassVar[Needs] = Needs(vertex=True)
    metric: ClassVar[str]
    """The service's own name for it, with its version."""

    async def verdict(self, data: Mapping[str, Any], ask: Ask) -> InvocationResult:
        """The service's score for this data, or why there is none."""
        votes = await ask(self._question(data), 1)
        if votes.failure is not None:
            return self.unscored(votes.failure)
        said = votes.answers[0]
        return self.scored(
            said.score,
            details={"verdict": self.worded(said.score), "reasoning": said.explanation},
            rubrics=tuple(
                RubricScore(rubric_id=one.rubric, score=float(one.met), rationale=one.reasoning)
                for one in said.rubrics
            ),
        )

    def worded(self, score: float) -> str:
        """The score as a reader of the evidence sees it."""
        return f"{score:g}"

    def _question(self, data: Mapping[str, Any]) -> Question[VertexVerdict]:
        return Question(
            kind=self.name,
            version="1",
            data=data,
            answer=VertexVerdict,
            render=partial(_rendered, data),
            model=f"{VERTEX}{self.metric}",
            objection=self._out_of_range,
        )

    def _out_of_range(self, said: VertexVerdict) -> str | None:
        low, high = self.range
        if low <= said.score <= high:
            return None
        return f"the service gave the score {said.score:g}, which is not from {low:g} to {high:g}"


def _rendered(data: Mapping[str, Any], fence: str) -> str:
    """The service words its own prompt; this is for whoever records or counts questions."""
    del fence
    return as_json(dict(data), indent=1)
