"""Criteria that Vertex AI's evaluation service scores, under the service's own names.

safety_v1: are the answers harmless?

response_evaluation_score: how coherent are the answers, from 1 to 5?

multi_turn_task_success_v1, multi_turn_tool_use_quality_v1, multi_turn_trajectory_quality_v1:
did the conversation reach its goals, were tools used well, were the agent's steps sensible?
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from pydantic import Field

from gradegate.criteria.base.criterion import (
    ConversationCriterion,
    Criterion,
    JudgeAnswer,
    RunPart,
    Turn,
    TurnCriterion,
)
from gradegate.criteria.base.judged import Judged, answer_details, judged_answer
from gradegate.criteria.base.prompts import as_json
from gradegate.criteria.base.shown import agents_of, events_in, numbered_calls
from gradegate.model.evalset import EvalCase, Invocation
from gradegate.model.question import VERTEX, Question
from gradegate.model.result import InvocationResult, RubricScore, Status
from gradegate.ports import Ask, Needs

NOTHING_SAID = "the answer is empty: there is nothing to find safe or not"


class VertexRubric(JudgeAnswer):
    """One of the service's own rubrics, and whether it is met."""

    rubric: str
    met: bool
    reasoning: str = ""


class VertexVerdict(JudgeAnswer):
    """What the service says of one answer, or of one conversation."""

    score: float = Field(allow_inf_nan=False)
    explanation: str = ""
    rubrics: tuple[VertexRubric, ...] = ()


class VertexScored(Criterion):
    """A criterion that is put to the service, once for each thing it scores."""

    needs: ClassVar[Needs] = Needs(vertex=True)
    metric: ClassVar[str] = ""
    """The service's own name for it, with its version, where that is another than ours."""

    async def verdict(self, data: Mapping[str, Any], ask: Ask) -> InvocationResult:
        """The service's score for this data, or why there is none."""
        votes = await ask(self._question(data), 1)
        if votes.failure is not None:
            return self.unscored(votes.failure)
        said = votes.answers[0]
        return self.scored(
            said.score,
            details=answer_details(self.worded(said.score), said.explanation),
            rubrics=tuple(
                RubricScore(rubric_id=one.rubric, score=float(one.met), rationale=one.reasoning)
                for one in said.rubrics
            ),
        )

    @classmethod
    def evidence(cls, turn: InvocationResult) -> Iterator[Judged]:
        """The service's own rubrics, and its word on the whole."""
        yield from super().evidence(turn)
        yield from judged_answer(turn)

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
            model=f"{VERTEX}{self.metric or self.name}",
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


class Safety(VertexScored, TurnCriterion):
    """Per turn 1.0 where the answer is safe, 0.0 where it violates a policy."""

    name: ClassVar[str] = "safety_v1"
    asks_for: ClassVar[frozenset[RunPart]] = frozenset()
    summary: ClassVar[str] = "share of turns whose answer is harmless"
    example: ClassVar[dict[str, Any]] = {"threshold": 1.0}

    async def score_turn(self, turn: Turn, ask: Ask) -> InvocationResult:
        """Ask about the answer; an empty one is neither safe nor unsafe."""
        answer = turn.actual.response_text
        if not answer:
            return InvocationResult(status=Status.INFORMATIONAL, reason=NOTHING_SAID)
        data = {"prompt": turn.actual.user_content.text, "response": answer}
        return await self.verdict(data, ask)

    def worded(self, score: float) -> str:
        """Safe, or not."""
        return "safe" if score == self.range[1] else "unsafe"


class ResponseEvaluation(VertexScored, TurnCriterion):
    """Per turn the service's mark for coherence, 5 the best; an empty answer gets the lowest."""

    name: ClassVar[str] = "response_evaluation_score"
    needs: ClassVar[Needs] = Needs(reference=True, vertex=True)
    metric: ClassVar[str] = "coherence_v1"
    summary: ClassVar[str] = "how coherent the answers are"
    example: ClassVar[dict[str, Any]] = {"threshold": 4.0}
    range: ClassVar[tuple[float, float]] = (1.0, 5.0)

    async def score_turn(self, turn: Turn, ask: Ask) -> InvocationResult:
        """Ask about the answer beside the expected one."""
        lowest, answer = self.range[0], turn.actual.response_text
        if not answer:
            said_nothing = answer_details(self.worded(lowest), "The agent gave no answer.")
            return self.scored(lowest, details=said_nothing)
        data = {
            "prompt": turn.actual.user_content.text,
            "reference": turn.expected.response_text,
            "response": answer,
        }
        return await self.verdict(data, ask)

    def worded(self, score: float) -> str:
        """So many of five."""
        return f"{score:g} of {self.range[1]:g}"


class MultiTurn(VertexScored, ConversationCriterion):
    """Scores the conversation, once."""

    async def score_whole(
        self, case: EvalCase, turns: Sequence[Invocation], ask: Ask
    ) -> InvocationResult:
        """Ask once, with everything that happened."""
        del case
        return await self.verdict(conversation_of(turns), ask)


def conversation_of(turns: Sequence[Invocation]) -> dict[str, Any]:
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


class MultiTurnTaskSuccess(MultiTurn):
    """Did the user get what the conversation was for?"""

    name: ClassVar[str] = "multi_turn_task_success_v1"
    summary: ClassVar[str] = "whether the conversation reached its goals"


class MultiTurnToolUseQuality(MultiTurn):
    """Were the right tools called, and rightly?"""

    name: ClassVar[str] = "multi_turn_tool_use_quality_v1"
    asks_for: ClassVar[frozenset[RunPart]] = frozenset({"calls"})
    summary: ClassVar[str] = "how well tools were used over the whole conversation"


class MultiTurnTrajectoryQuality(MultiTurn):
    """Was the way there a sensible one?"""

    name: ClassVar[str] = "multi_turn_trajectory_quality_v1"
    asks_for: ClassVar[frozenset[RunPart]] = frozenset({"answer", "calls"})
    summary: ClassVar[str] = "how sensible the agent's steps were over the whole conversation"
