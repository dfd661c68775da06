"""What every criterion has in common: a threshold, and how turns add up to a case.

What the judged criteria have in common: the judge's options, and how a question is made.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from operator import add
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from gradegate.criteria.base.prompts import Prompt
from gradegate.model.base import AdkValue
from gradegate.model.evalset import EvalCase, Invocation
from gradegate.model.question import Question, no_ballot, no_objection
from gradegate.model.result import CriterionResult, InvocationResult, Status
from gradegate.model.runs import Trace
from gradegate.ports import Ask, Needs


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

    threshold: float = Field(allow_inf_nan=False)

    @classmethod
    def warm_up(cls) -> None:
        """Import what is slow to import, while there is something else to wait for."""

    @abstractmethod
    async def score(self, case: EvalCase, trace: Trace, ask: Ask) -> CriterionResult:
        """Score the trace; a score that cannot be had is None with a reason."""

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


def mean(scores: Sequence[float]) -> float:
    """The mean, added up from the left as google-adk does.

    An exact sum (`fmean`, or `sum` from Python 3.12 on) can differ in the last bit, and a
    threshold that lies there would turn a status.
    """
    return reduce(add, scores) / len(scores)


def _summary_of(missing: Iterable[str], turns: int) -> str | None:
    reasons = list(missing)
    if not reasons:
        return None if turns else "the case has no turns"
    different = list(dict.fromkeys(reasons))
    text = "; ".join(different[:3]) + ("; …" if len(different) > 3 else "")  # noqa: PLR2004 - enough to see why
    return text if turns == 1 else f"{len(reasons)} of {turns} turns: {text}"


def expected_and_actual(case: EvalCase, trace: Trace) -> list[tuple[Invocation, Invocation]] | str:
    """Turns of the case beside turns of the trace, or why they cannot be paired."""
    if case.conversation is None:
        return "needs a reference, and a simulated conversation has none"
    if len(case.conversation) != len(trace.invocations):
        turns = "1 turn" if len(case.conversation) == 1 else f"{len(case.conversation)} turns"
        return f"the case has {turns} and the trace {len(trace.invocations)}"
    return list(zip(case.conversation, trace.invocations, strict=True))


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


def turns_of(case: EvalCase, trace: Trace) -> list[tuple[Invocation | None, Invocation]] | str:
    """The trace's turns, each beside what the case says of it; nothing where it is simulated."""
    if case.is_simulated:
        return [(None, actual) for actual in trace.invocations]
    pairs = expected_and_actual(case, trace)
    return pairs if isinstance(pairs, str) else list(pairs)
