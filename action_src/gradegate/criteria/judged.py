"""What the judged criteria have in common: the judge's options, and how a question is made."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from gradegate.criteria.options import Options, expected_and_actual
from gradegate.criteria.prompts import Prompt
from gradegate.model.base import AdkValue
from gradegate.model.evalset import EvalCase, Invocation
from gradegate.model.question import Question, no_ballot, no_objection
from gradegate.model.trace import Trace

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


class Answer(BaseModel):
    """What a judge answers. Keys that were not asked for are not read."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Judged(Options):
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
