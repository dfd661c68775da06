"""Samples and their votes: how many are still needed, and what they come to. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from gradegate.model.question import PlainText, Question, Votes, no_ballot
from gradegate.ports import Reply

T = TypeVar("T", bound=BaseModel)

_EXCERPT = 80


def read(question: Question[T], reply: Reply) -> T | str:
    """The answer in a reply, or why it cannot be used. Nothing is guessed or repaired."""
    if reply.unusable is not None:
        return reply.unusable
    try:
        answer = _parse(question, reply.text)
    except ValidationError as error:
        return _what_is_wrong(error, reply.text)
    objection = question.objection(answer)
    return answer if objection is None else objection


def count(question: Question[T], outcomes: Sequence[T | str], samples: int) -> Votes[T]:
    """What the samples asked so far come to, in the order asked."""
    answers, unusable = _sort(question, outcomes)
    margins = _margins(question, answers)
    return Votes(
        answers=tuple(answers),
        unusable=tuple(unusable),
        yes={entry: margin > 0 for entry, margin in margins.items()},
        failure=_failure(question, answers, unusable, samples),
    )


def needed(question: Question[T], outcomes: Sequence[T | str], samples: int) -> int:
    """How many more samples are certain to be asked, whatever they say; 0 once decided.

    Decided is what no answer to the samples left could change, so that asking all of them
    would have come to the same.
    """
    rest = samples - len(outcomes)
    answers, _ = _sort(question, outcomes)
    if question.ballot is no_ballot:
        return 0 if answers else min(rest, 1)
    margins = _margins(question, answers) if answers else {"": 0}
    tally = _Tally(len(answers), rest, _quorum(samples), margins)
    return min(rest, tally.until_outcome, tally.until_failure)


@dataclass(frozen=True)
class _Tally:
    usable: int
    rest: int
    quorum: int
    margins: Mapping[str, int]
    """Yes less no, per ballot entry."""

    @property
    def until_outcome(self) -> int:
        """The fewest answers that could settle every entry."""
        undecided = (_until_settled(margin, self.rest) for margin in self.margins.values())
        return max(self.quorum - self.usable, *undecided, 0)

    @property
    def until_failure(self) -> int:
        """The fewest unusable answers that would put the quorum out of reach."""
        return max(self.usable + self.rest - self.quorum + 1, 0)


def _until_settled(margin: int, rest: int) -> int:
    """The fewest equal votes after which the others could not turn the entry."""
    yes = (rest - margin) // 2 + 1
    no = (rest + margin + 1) // 2
    return max(min(yes, no), 0)


def _quorum(samples: int) -> int:
    return (samples + 1) // 2


def _parse(question: Question[T], text: str) -> T:
    if issubclass(question.answer, PlainText):
        return question.answer.model_validate({"text": text})
    return question.answer.model_validate_json(text)


def _what_is_wrong(error: ValidationError, text: str) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    shown = text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"
    return f"{place}: {first['msg']}" if place else f"{first['msg']}: {shown!r}"


def _sort(question: Question[T], outcomes: Sequence[T | str]) -> tuple[list[T], list[str]]:
    """Usable answers and reasons; an answer that votes on other things is not usable."""
    answers: list[T] = []
    unusable: list[str] = []
    for outcome in outcomes:
        if isinstance(outcome, str):
            unusable.append(outcome)
        elif answers and set(question.ballot(outcome)) != set(question.ballot(answers[0])):
            unusable.append("it votes on other things than the answer before it")
        else:
            answers.append(outcome)
    return answers, unusable


def _margins(question: Question[T], answers: Sequence[T]) -> Counter[str]:
    margins: Counter[str] = Counter()
    for answer in answers:
        for entry, is_yes in question.ballot(answer).items():
            margins[entry] += 1 if is_yes else -1
    return margins


def _failure(
    question: Question[T], answers: Sequence[T], unusable: Sequence[str], samples: int
) -> str | None:
    enough = 1 if question.ballot is no_ballot else _quorum(samples)
    if len(answers) >= enough:
        return None
    reasons = "; ".join(
        reason if times == 1 else f"{reason} ({times} times)"
        for reason, times in Counter(unusable).items()
    )
    asked = len(answers) + len(unusable)
    return f"the judge gave {len(answers)} usable of {asked} answers, {enough} needed: {reasons}"
