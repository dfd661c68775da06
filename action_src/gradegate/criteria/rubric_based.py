"""Criteria made of rubrics, yes-or-no questions of the user's: the score is the share that is met.

rubric_based_final_response_quality_v1: does the answer meet them, on evidence?

rubric_based_tool_use_quality_v1: do the tool calls meet them?

rubric_based_multi_turn_trajectory_quality_v1: does the conversation as a whole meet them?
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from statistics import fmean, mean
from typing import Any, ClassVar, Literal

from pydantic import Field

from gradegate.criteria.base.criterion import (
    ConversationCriterion,
    Entry,
    JudgeAnswer,
    JudgedCriterion,
    RunPart,
    Turn,
    TurnCriterion,
)
from gradegate.criteria.base.loosening import rubric_taken_out
from gradegate.criteria.base.prompts import Prompt
from gradegate.criteria.base.shown import (
    agents_of,
    answer_of,
    events_of,
    grounding_of,
    instructions_of,
    steps_of,
    tools_of,
)
from gradegate.model.evalset import EvalCase, Invocation, Rubric
from gradegate.model.gemini_models import DEFAULT_JUDGE
from gradegate.model.notice import Notice
from gradegate.model.question import Votes
from gradegate.model.result import CriterionResult, InvocationResult, RubricScore
from gradegate.ports import Ask, Needs

FINAL_RESPONSE = Prompt("rubric_final_response.md.j2", version="1")
TOOL_USE = Prompt("rubric_tool_use.md.j2", version="1")
DIALOGUE = Prompt("rubric_multi_turn.md.j2", version="1")


def of_type(rubrics: Iterable[Rubric] | None, criterion: str) -> tuple[Rubric, ...]:
    """Those that a criterion asks about. Its own, in the config, need no type."""
    wanted = RUBRIC_TYPES[criterion]
    return tuple(r for r in rubrics or () if (r.type or "").upper() == wanted)


def twice(ids: Iterable[str]) -> list[str]:
    """Ids that occur more than once."""
    return [rubric_id for rubric_id, count in Counter(ids).items() if count > 1]


def rubric_ids(entry: Entry) -> list[str]:
    """The ids of the rubrics that a criterion's own entry lists, wrong ones included."""
    rubrics = entry.get("rubrics") if isinstance(entry, Mapping) else None
    listed = rubrics if isinstance(rubrics, list) else []
    named = [one.get("rubric_id", one.get("rubricId")) for one in listed if isinstance(one, dict)]
    return [rubric_id for rubric_id in named if isinstance(rubric_id, str)]


class RubricVerdict(JudgeAnswer):
    """Whether one rubric is met, reasons first."""

    rubric_id: str
    reasoning: str
    verdict: Literal["yes", "no"]


class RubricVerdicts(JudgeAnswer):
    """One verdict per rubric."""

    rubrics: tuple[RubricVerdict, ...]

    def of(self, rubric_id: str) -> RubricVerdict:
        """The verdict on one rubric."""
        return next(verdict for verdict in self.rubrics if verdict.rubric_id == rubric_id)


def ballot(answer: RubricVerdicts) -> Mapping[str, bool]:
    """One vote per rubric."""
    return {verdict.rubric_id: verdict.verdict == "yes" for verdict in answer.rubrics}


def objection_to(answer: RubricVerdicts, asked: Sequence[str]) -> str | None:
    """Why an answer does not answer what was asked: each rubric, once, and no other."""
    given = [verdict.rubric_id for verdict in answer.rubrics]
    left_out = [rubric_id for rubric_id in asked if rubric_id not in given]
    invented = [rubric_id for rubric_id in given if rubric_id not in asked]
    if left_out:
        return f"the judge left out the rubric `{left_out[0]}`"
    if invented:
        return f"the judge answered a rubric that was not asked, `{invented[0]}`"
    if twice(given):
        return f"the judge answered the rubric `{twice(given)[0]}` twice"
    return None


class RubricJudged(JudgedCriterion):
    """Puts rubrics to the judges and scores by the share of them that is met."""

    needs: ClassVar[Needs] = Needs(rubrics=True, judge=True)
    prompt: ClassVar[Prompt]
    rubric_type: ClassVar[str]
    """Which rubrics of cases and turns are the criterion's, by their `type`."""

    rubrics: tuple[Rubric, ...] = Field(default=(), description="asked of every case")

    async def met(
        self, rubrics: Sequence[Rubric], shown: Mapping[str, Any], ask: Ask
    ) -> InvocationResult:
        """What the judges say of the rubrics, given what they are shown."""
        ids = [rubric.rubric_id for rubric in rubrics]
        if not ids:
            return self.unscored(f"no rubric of type {self.rubric_type} applies")
        if twice(ids):
            return self.unscored(f"two rubrics have the id `{twice(ids)[0]}`: give each its own")
        question = self.question(
            self.prompt,
            {**shown, "rubrics": [_asked(rubric) for rubric in rubrics]},
            RubricVerdicts,
            ballot=ballot,
            objection=lambda answer: objection_to(answer, ids),
        )
        votes = await ask(question, self.samples)
        if votes.failure is not None:
            return self.unscored(votes.failure)
        scores = [_outcome(rubric_id, votes) for rubric_id in ids]
        return self.scored(float(_share(scores)), rubrics=tuple(scores))

    @classmethod
    def loosened_options(cls, base: Entry, head: Entry) -> Iterator[Notice]:
        """A rubric that nobody asks about any more."""
        yield from super().loosened_options(base, head)
        kept = rubric_ids(head)
        yield from (rubric_taken_out(one) for one in rubric_ids(base) if one not in kept)


class RubricBased(TurnCriterion, RubricJudged):
    """Scores each turn by the share of its rubrics that the judges find met."""

    @abstractmethod
    def shown(self, turn: Invocation) -> dict[str, Any]:
        """What of a turn the judge is shown."""

    async def score_turn(self, turn: Turn, ask: Ask) -> InvocationResult:
        """Ask of the turn the criterion's own rubrics, the case's and the turn's."""
        of_case, of_turn = turn.case.rubrics, turn.expected.rubrics
        listed = (*of_type(of_case, self.name), *of_type(of_turn, self.name))
        return await self.met((*self.rubrics, *listed), self.shown(turn.actual), ask)

    def over_turns(self, turns: Sequence[InvocationResult]) -> CriterionResult:
        """Also each rubric's mean over the turns that it was asked of."""
        return super().over_turns(turns).model_copy(update={"rubrics": _over_turns(turns)})

    def mean_of(self, turns: Sequence[InvocationResult]) -> float:
        """The mean over turns of each turn's share, rounded once, at the end.

        So three of five, four of five and five of five make 0.8 and not a hair less.
        """
        return float(mean(_share(turn.rubrics) for turn in turns))


def _share(scores: Sequence[RubricScore]) -> Fraction:
    return Fraction(sum(score.score == 1 for score in scores), len(scores))


def _example(threshold: float, rubric_id: str, text: str) -> dict[str, Any]:
    """An entry to copy, with one rubric."""
    return {
        "threshold": threshold,
        "judge_model_options": {"judge_model": DEFAULT_JUDGE, "num_samples": 5},
        "rubrics": [{"rubric_id": rubric_id, "rubric_content": {"text_property": text}}],
    }


def _asked(rubric: Rubric) -> dict[str, str]:
    return {"rubric_id": rubric.rubric_id, "rubric": rubric.text}


def _outcome(rubric_id: str, votes: Votes[RubricVerdicts]) -> RubricScore:
    """The majority's verdict, with the reasons of the first who gave it."""
    yes = votes.yes[rubric_id]
    verdicts = (answer.of(rubric_id) for answer in votes.answers)
    speaker = next(verdict for verdict in verdicts if (verdict.verdict == "yes") == yes)
    return RubricScore(rubric_id=rubric_id, score=float(yes), rationale=speaker.reasoning)


def _over_turns(turns: Iterable[InvocationResult]) -> tuple[RubricScore, ...]:
    """Each rubric's mean over the turns that it was asked of."""
    scores: dict[str, list[float]] = {}
    for rubric in (rubric for turn in turns for rubric in turn.rubrics):
        scores.setdefault(rubric.rubric_id, []).append(rubric.score or 0.0)
    return tuple(RubricScore(rubric_id=name, score=fmean(of)) for name, of in scores.items())


class RubricFinalResponse(RubricBased):
    """Per turn the share of rubrics that the final response meets."""

    name: ClassVar[str] = "rubric_based_final_response_quality_v1"
    summary: ClassVar[str] = "share of rubrics that the answers meet, claims held to the evidence"
    example: ClassVar[dict[str, Any]] = _example(
        0.8, "concise", "The answer is direct and to the point."
    )
    prompt: ClassVar[Prompt] = FINAL_RESPONSE
    rubric_type: ClassVar[str] = "FINAL_RESPONSE_QUALITY"

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


class RubricToolUse(RubricBased):
    """Per turn the share of rubrics that the tool calls and their responses meet."""

    name: ClassVar[str] = "rubric_based_tool_use_quality_v1"
    asks_for: ClassVar[frozenset[RunPart]] = frozenset({"calls"})
    summary: ClassVar[str] = "share of rubrics that the tool calls meet"
    example: ClassVar[dict[str, Any]] = _example(
        1.0, "geocoding_first", "The agent calls geocode before it calls get_weather."
    )
    prompt: ClassVar[Prompt] = TOOL_USE
    rubric_type: ClassVar[str] = "TOOL_USE_QUALITY"

    def shown(self, turn: Invocation) -> dict[str, Any]:
        """The calls with their responses, and what they were to serve; not the answer."""
        return {
            "user_prompt": turn.user_content.text,
            "instructions": instructions_of(turn.app_details),
            "tools": tools_of(turn.app_details),
            "steps": steps_of(turn.intermediate_data, texts=False),
        }


class RubricMultiTurn(RubricJudged, ConversationCriterion):
    """The share of rubrics that the agent's doings over all turns meet, judged once."""

    name: ClassVar[str] = "rubric_based_multi_turn_trajectory_quality_v1"
    asks_for: ClassVar[frozenset[RunPart]] = frozenset({"answer", "calls"})
    summary: ClassVar[str] = "share of rubrics that the conversation as a whole meets"
    example: ClassVar[dict[str, Any]] = _example(
        0.8,
        "confirms_before_booking",
        "The agent has the user confirm the details before it books.",
    )
    prompt: ClassVar[Prompt] = DIALOGUE
    rubric_type: ClassVar[str] = "TRAJECTORY_QUALITY"

    async def score_whole(
        self, case: EvalCase, turns: Sequence[Invocation], ask: Ask
    ) -> InvocationResult:
        """Ask once, with everything that happened; samples vote per rubric."""
        return await self.met(self.applicable(case), shown(turns), ask)

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


RUBRIC_TYPES: Mapping[str, str] = {
    cls.name: cls.rubric_type for cls in (RubricFinalResponse, RubricToolUse, RubricMultiTurn)
}
"""The `type` of rubric by criterion."""
