"""What a run would ask, counted without asking: the dry run's `ask`."""

from collections import defaultdict
from typing import NamedTuple, TypeVar

from pydantic import BaseModel

from gradegate.model.question import Question, Votes
from gradegate.ports import Store
from gradegate.scoring import votes
from gradegate.scoring.stored import stored_reply

T = TypeVar("T", bound=BaseModel)

NOT_ASKED = "nothing is asked in a dry run"


class Calls(NamedTuple):
    """How many calls there will be."""

    least: int
    most: int


class Estimate(NamedTuple):
    """How many calls a run would make, retries aside."""

    total: Calls
    by_criterion: dict[str, Calls]


class Estimator:
    """Takes the place of `ask` and keeps count of the samples that are not in the store.

    The least is what is asked even if every vote is unanimous, the most is every sample of
    every question. A question that only arises from the answer to another (a validator's,
    from a segmenter's) is reached by the other's `stand_in`; it counts for the most alone,
    because the answer may be unusable, or leave nothing to ask.
    """

    def __init__(self, store: Store, default_model: str = "") -> None:
        self._store = store
        self._default_model = default_model
        self._certain: defaultdict[str, set[str]] = defaultdict(set)
        self._possible: defaultdict[str, set[str]] = defaultdict(set)
        self._leading: dict[str, str] = {}
        """By criterion, the kind of question whose stand-in may have led to others."""

    async def __call__(self, question: Question[T], samples: int) -> Votes[T]:
        """Count the question; its outcome where the store has it, else a stand-in's."""
        question = question.by_default(self._default_model)
        outcomes: list[T | str] = []
        while more := votes.needed(question, outcomes, samples):
            ahead = range(len(outcomes) + 1, len(outcomes) + more + 1)
            replies = [stored_reply(self._store, question.key(number)) for number in ahead]
            known = [votes.read(question, reply) for reply in replies if reply is not None]
            if len(known) < more:
                return self._not_asked(question, samples, ahead)
            outcomes += known
        return votes.count(question, outcomes, samples)

    def estimate(self) -> Estimate:
        """What all questions so far come to."""
        by_criterion = {
            name: Calls(len(self._certain[name]), len(self._possible[name]))
            for name in sorted(self._possible)
        }
        least = sum(calls.least for calls in by_criterion.values())
        most = sum(calls.most for calls in by_criterion.values())
        return Estimate(Calls(least, most), by_criterion)

    def _not_asked(self, question: Question[T], samples: int, ahead: range) -> Votes[T]:
        name = question.criterion
        if self._leading.get(name, question.kind) == question.kind:
            self._certain[name] |= self._missing(question, ahead)
        self._possible[name] |= self._missing(question, range(ahead.start, samples + 1))
        if question.stand_in is None:
            return Votes(failure=NOT_ASKED)
        self._leading.setdefault(name, question.kind)
        return votes.count(question, [question.stand_in()] * samples, samples)

    def _missing(self, question: Question[T], numbers: range) -> set[str]:
        keys = (question.key(number) for number in numbers)
        return {key for key in keys if stored_reply(self._store, key) is None}
