"""What criteria have in common: a threshold, evidence, and how turns add up to a case.

A criterion is a subclass of `TurnCriterion` if it scores turn by turn, of
`ConversationCriterion` if it scores the whole at once, and of `JudgedCriterion` as well if
it asks a judge.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from operator import add
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gradegate.criteria.base.judged import Judged, judged_rubrics
from gradegate.criteria.base.loosening import changed, option_goes, threshold_goes
from gradegate.criteria.base.prompts import Prompt
from gradegate.model.base import AdkValue
from gradegate.model.evalset import Content, EvalCase, Invocation
from gradegate.model.notice import Notice, notice
from gradegate.model.question import Question, no_ballot, no_objection
from gradegate.model.result import CriterionResult, InvocationResult, Status
from gradegate.model.runs import Trace
from gradegate.ports import Ask, Needs

Entry = float | Mapping[str, Any]
"""What an `EvalConfig` has under a criterion's name: a threshold, or options."""
RunPart = Literal["answer", "calls"]
NO_TURNS = "the case has no turns"
WITH_THE_LAST = "judged together with the last turn"


class Criterion(AdkValue):
    """A criterion is its own options: an `EvalConfig` entry validates into one."""

    name: ClassVar[str]
    needs: ClassVar[Needs] = Needs()
    summary: ClassVar[str]
    """What it measures, in one line."""
    example: ClassVar[Mapping[str, Any]] = {"threshold": 0.8}
    """An `EvalConfig` entry to copy."""
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """The lowest and the highest score; higher is better."""
    asks_for: ClassVar[frozenset[RunPart]] = frozenset({"answer"})
    """What of a run it should find fault with where that is missing, or another case's. Criteria
    that look for harm ask for nothing: an agent that does nothing does none."""
    compares_args: ClassVar[bool] = False
    """Whether it compares arguments of calls, so that those a suite ignores are left out."""
    no_reference: ClassVar[Notice] = notice("score.no_expected_answer")
    """What a case lacks that has nothing to compare with."""

    threshold: float = Field(allow_inf_nan=False)

    @classmethod
    def warm_up(cls) -> None:
        """Import what is slow to import, while there is something else to wait for."""

    @classmethod
    def has_reference(cls, turn: Invocation) -> bool:
        """Whether an expected turn says what the criterion compares with; one may say nothing."""
        return turn.final_response is not None

    @classmethod
    def turns_with_reference(cls, case: EvalCase) -> int:
        """In how many turns of a case there is something to compare with."""
        return sum(map(cls.has_reference, case.turns))

    @classmethod
    def lacks_reference(cls, case: EvalCase) -> Notice | None:
        """Why a criterion that compares has nothing to go by in any turn; None where it has.

        A case that has a reference in some turns is scored in all of them, as google-adk does.
        """
        if not cls.needs.reference:
            return None
        if case.is_simulated:
            return notice("score.no_reference")
        nothing = case.turns and not cls.turns_with_reference(case)
        return cls.no_reference if nothing else None

    @abstractmethod
    async def score(self, case: EvalCase, trace: Trace, ask: Ask) -> CriterionResult:
        """Score the trace; a score that cannot be had is None with a reason."""

    @classmethod
    def evidence(cls, turn: InvocationResult) -> Iterator[Judged]:
        """What was judged of a turn and how, read from the result that `score` made of it."""
        return judged_rubrics(turn)

    @classmethod
    def loosened(cls, base: Entry, head: Entry) -> Iterator[Notice]:
        """What head's entry asks less of the agent than base's, a sentence each.

        Only what has an order counts, as another wording has none; and what instructs a judge.
        """
        was, now = cls.as_far_as_valid(base), cls.as_far_as_valid(head)
        if now.threshold < was.threshold:
            yield threshold_goes(was.threshold, now.threshold)
        yield from cls.loosened_options(base, head)

    @classmethod
    def loosened_options(cls, base: Entry, head: Entry) -> Iterator[Notice]:
        """The same for all options but the threshold."""
        del base, head
        yield from ()

    @classmethod
    def as_far_as_valid(cls, entry: Entry) -> Self:
        """An entry read for comparison: options that are wrong count as not written."""
        fields = entry_fields(entry)
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            wrong = {one["loc"][0] for one in error.errors()}
            rest = {key: value for key, value in fields.items() if key not in wrong}
            return cls.as_far_as_valid({"threshold": 0.0, **rest})

    def status_of(self, score: float | None) -> Status:
        """How a score compares with the threshold."""
        if score is None:
            return Status.NOT_EVALUATED
        return Status.PASSED if score >= self.threshold else Status.FAILED

    def scored(self, score: float, **more: object) -> InvocationResult:
        """One turn's score."""
        return InvocationResult.model_validate(
            {"score": score, "status": self.status_of(score), **more}
        )

    def unscored(self, reason: str) -> InvocationResult:
        """No score for one turn, and why."""
        return InvocationResult(reason=reason)

    def not_evaluated(self, reason: str) -> CriterionResult:
        """No score for the whole case, and why."""
        return CriterionResult(threshold=self.threshold, reason=reason)

    def over_turns(self, turns: Sequence[InvocationResult]) -> CriterionResult:
        """The case's score: the mean over its scored turns.

        A turn that was not evaluated, or not wholly, keeps the case from counting as
        evaluated, whatever the others say. A turn to which the criterion does not apply, or
        a whole case of them, is nobody's failure.
        """
        scored = [turn for turn in turns if turn.score is not None]
        missing = [t.reason or "no score" for t in turns if t.status is Status.NOT_EVALUATED]
        score = self.mean_of(scored) if scored else None
        if turns and not scored and not missing:
            return CriterionResult(
                threshold=self.threshold,
                status=Status.INFORMATIONAL,
                reason=turns[0].reason,
                invocations=tuple(turns),
            )
        return CriterionResult(
            score=score,
            threshold=self.threshold,
            status=Status.NOT_EVALUATED if missing else self.status_of(score),
            reason=_summary_of(missing, len(turns)),
            invocations=tuple(turns),
        )

    def mean_of(self, turns: Sequence[InvocationResult]) -> float:
        """The mean over scored turns, rounded as the reference rounds it."""
        return mean([turn.score for turn in turns if turn.score is not None])


class Turn(NamedTuple):
    """A turn of the trace, beside what the case expects there."""

    case: EvalCase
    expected: Invocation
    """Empty where the case is simulated, to criteria that need no reference."""
    actual: Invocation


class TurnCriterion(Criterion):
    """A criterion that scores each turn for itself."""

    async def score(self, case: EvalCase, trace: Trace, ask: Ask) -> CriterionResult:
        """Score all turns, side by side where a model is asked."""
        turns = turns_of(case, trace, simulated=not self.needs.reference)
        if isinstance(turns, str):
            return self.not_evaluated(turns)
        scores = (self.score_turn(turn, ask) for turn in turns)
        asks = self.needs.judge or self.needs.vertex
        return self.over_turns(await asyncio.gather(*scores) if asks else [await s for s in scores])

    @abstractmethod
    async def score_turn(self, turn: Turn, ask: Ask) -> InvocationResult:
        """Score one turn."""


class ConversationCriterion(Criterion):
    """A criterion that scores a conversation as a whole; the score stands with its last turn."""

    async def score(self, case: EvalCase, trace: Trace, ask: Ask) -> CriterionResult:
        """Score once; earlier turns have no score of their own."""
        turns = turns_of(case, trace)
        if isinstance(turns, str):
            return self.not_evaluated(turns)
        if not turns:
            return self.not_evaluated(NO_TURNS)
        last = await self.score_whole(case, [turn.actual for turn in turns], ask)
        earlier = InvocationResult(status=Status.NOT_EVALUATED, reason=WITH_THE_LAST)
        return CriterionResult(
            score=last.score,
            threshold=self.threshold,
            status=self.status_of(last.score),
            reason=last.reason,
            invocations=(*(earlier for _ in turns[1:]), last),
            rubrics=last.rubrics,
        )

    @abstractmethod
    async def score_whole(
        self, case: EvalCase, turns: Sequence[Invocation], ask: Ask
    ) -> InvocationResult:
        """Score everything that happened."""


def mean(scores: Sequence[float]) -> float:
    """The mean, added up from the left as google-adk does.

    An exact sum (`fmean`, or `sum` from Python 3.12 on) can differ in the last bit, and a
    threshold that lies there would turn a status.
    """
    return reduce(add, scores) / len(scores)


def _summary_of(missing: Iterable[str], turns: int) -> str | None:
    reasons = list(missing)
    if not reasons:
        return None if turns else NO_TURNS
    different = list(dict.fromkeys(reasons))
    text = "; ".join(different[:3]) + ("; …" if len(different) > 3 else "")  # noqa: PLR2004 - enough to see why
    return text if turns == 1 else f"{len(reasons)} of {turns} turns: {text}"


def turns_of(case: EvalCase, trace: Trace, *, simulated: bool = True) -> list[Turn] | str:
    """The trace's turns, each beside the case's own; or why they cannot be paired.

    Those of a simulated conversation have nothing beside them, if that will do.
    """
    if simulated and case.is_simulated:
        nothing = Invocation(user_content=Content())
        return [Turn(case, nothing, actual) for actual in trace.invocations]
    if case.conversation is None:
        return "needs a reference, and a simulated conversation has none"
    if len(case.conversation) != len(trace.invocations):
        turns = "1 turn" if len(case.conversation) == 1 else f"{len(case.conversation)} turns"
        return f"the case has {turns} and the trace {len(trace.invocations)}"
    return [Turn(case, *pair) for pair in zip(case.conversation, trace.invocations, strict=True)]


def entry_fields(entry: Entry) -> Mapping[str, Any]:
    """An entry as an object: a bare number is the threshold."""
    return entry if isinstance(entry, Mapping) else {"threshold": entry}


T = TypeVar("T", bound=BaseModel)


class JudgeOptions(AdkValue):
    """Which model judges, and how often it is asked."""

    judge_model: str = Field(default="", description="default: `model` under [judge]")
    judge_model_config: dict[str, Any] | None = Field(
        default=None, description="a GenerateContentConfig"
    )
    num_samples: int | None = Field(default=None, ge=1, description="how many samples vote")
    parallelism_limit: int | None = Field(
        default=None, ge=1, description="accepted; one limiter rules all calls"
    )


class JudgeAnswer(BaseModel):
    """What a judge answers. Keys that were not asked for are not read."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class JudgedCriterion(Criterion):
    """A criterion that puts its question to a judge."""

    default_samples: ClassVar[int] = 5

    judge_model_options: JudgeOptions = JudgeOptions()

    @property
    def samples(self) -> int:
        """How many samples vote at most."""
        return self.judge_model_options.num_samples or self.default_samples

    def question(  # noqa: PLR0913 - each is one field of the question
        self,
        prompt: Prompt,
        data: Mapping[str, Any],
        answer: type[T],
        *,
        step: str = "",
        ballot: Callable[[T], Mapping[str, bool]] = no_ballot,
        objection: Callable[[T], str | None] = no_objection,
        stand_in: Callable[[], T] | None = None,
    ) -> Question[T]:
        """A question of this criterion, to the judge that its options name.

        Where they name none, the question's model is empty: whoever asks knows the default.
        """
        options = self.judge_model_options
        return Question(
            kind=f"{self.name}/{step}" if step else self.name,
            version=prompt.version,
            data=data,
            answer=answer,
            render=partial(prompt.render, data),
            model=options.judge_model,
            model_config=options.judge_model_config or {},
            ballot=ballot,
            objection=objection,
            stand_in=stand_in,
        )

    @classmethod
    def loosened_options(cls, base: Entry, head: Entry) -> Iterator[Notice]:
        """Whatever tells the judge how to judge, whichever way it goes: it could be swayed."""
        was, now = cls.as_far_as_valid(base), cls.as_far_as_valid(head)
        if now.samples != was.samples:
            yield option_goes("num_samples", was.samples, now.samples)
        for option in ("judge_model", "judge_model_config"):
            before, after = (getattr(one.judge_model_options, option) for one in (was, now))
            if (before or None) != (after or None):
                yield changed(option)
