"""Rubrics: which apply to a turn, and how a judge's answers to them become a score."""

import asyncio
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from statistics import fmean, mean
from typing import Any, ClassVar, Literal

from pydantic import Field

from gradegate.criteria.judged import Answer, Judged, turns_of
from gradegate.criteria.prompts import Prompt
from gradegate.model.evalset import EvalCase, Invocation, Rubric
from gradegate.model.question import Votes
from gradegate.model.result import CriterionResult, InvocationResult, RubricScore
from gradegate.model.trace import Trace
from gradegate.ports import Ask

RUBRIC_TYPES: Mapping[str, str] = {
    "rubric_based_final_response_quality_v1": "FINAL_RESPONSE_QUALITY",
    "rubric_based_tool_use_quality_v1": "TOOL_USE_QUALITY",
    "rubric_based_multi_turn_trajectory_quality_v1": "TRAJECTORY_QUALITY",
}
"""Which rubrics of cases and turns are a criterion's, by their `type`."""


def of_type(rubrics: Iterable[Rubric] | None, criterion: str) -> tuple[Rubric, ...]:
    """Those that a criterion asks about. Its own, in the config, need no type."""
    wanted = RUBRIC_TYPES[criterion]
    return tuple(r for r in rubrics or () if (r.type or "").upper() == wanted)


def twice(ids: Iterable[str]) -> list[str]:
    """Ids that occur more than once."""
    return [rubric_id for rubric_id, count in Counter(ids).items() if count > 1]


class RubricVerdict(Answer):
    """Whether one rubric is met, reasons first."""

    rubric_id: str
    reasoning: str
    verdict: Literal["yes", "no"]


class RubricVerdicts(Answer):
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


class RubricJudged(Judged):
    """Puts rubrics to the judges and scores by the share of them that is met."""

    prompt: ClassVar[Prompt]

    rubrics: tuple[Rubric, ...] = Field(default=(), description="asked of every case")

    async def met(
        self, rubrics: Sequence[Rubric], shown: Mapping[str, Any], ask: Ask
    ) -> InvocationResult:
        """What the judges say of the rubrics, given what they are shown."""
        ids = [rubric.rubric_id for rubric in rubrics]
        if not ids:
            return self.unscored(f"no rubric of type {RUBRIC_TYPES[self.name]} applies")
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


class RubricBased(RubricJudged):
    """Scores each turn by the share of its rubrics that the judges find met."""

    @abstractmethod
    def shown(self, turn: Invocation) -> dict[str, Any]:
        """What of a turn the judge is shown."""

    async def score(self, case: EvalCase, trace: Trace, ask: Ask) -> CriterionResult:
        """Ask for every turn side by side; samples vote per rubric."""
        pairs = turns_of(case, trace)
        if isinstance(pairs, str):
            return self.not_evaluated(pairs)
        turns = await asyncio.gather(
            *(
                self.met(self.applicable(case, expected), self.shown(turn), ask)
                for expected, turn in pairs
            )
        )
        return self.over_turns(turns).model_copy(update={"rubrics": _over_turns(turns)})

    def applicable(self, case: EvalCase, expected: Invocation | None) -> tuple[Rubric, ...]:
        """The rubrics of one turn: the criterion's own, the case's and the turn's."""
        of_turn = expected.rubrics if expected else ()
        return (*self.rubrics, *of_type(case.rubrics, self.name), *of_type(of_turn, self.name))

    def mean_of(self, turns: Sequence[InvocationResult]) -> float:
        """The mean over turns of each turn's share, rounded once, at the end.

        So three of five, four of five and five of five make 0.8 and not a hair less.
        """
        return float(mean(_share(turn.rubrics) for turn in turns))


def _share(scores: Sequence[RubricScore]) -> Fraction:
    return Fraction(sum(score.score == 1 for score in scores), len(scores))


def _asked(rubric: Rubric) -> dict[str, str]:
    text = rubric.rubric_content.text_property or rubric.description or ""
    return {"rubric_id": rubric.rubric_id, "rubric": text}


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
