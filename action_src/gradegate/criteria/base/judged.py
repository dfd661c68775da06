"""What a judge said of one turn, as a reader of the report sees it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gradegate import locales
from gradegate.model.result import InvocationResult


@dataclass(frozen=True)
class Judged:
    """One thing that a judge was asked about, and its word on it."""

    subject: str
    """The rubric, or the sentence; empty where it is the answer as a whole."""
    verdict: str
    good: bool
    """Whether nothing is to be said against it."""
    reason: str = ""


def judged_rubrics(turn: InvocationResult) -> Iterator[Judged]:
    """The word on each of the turn's rubrics."""
    for rubric in turn.rubrics:
        good = bool(rubric.score)
        verdict = locales.NOTHING if rubric.score is None else "yes" if good else "no"
        yield Judged(rubric.rubric_id, verdict, good, rubric.rationale or "")


def judged_answer(turn: InvocationResult) -> Iterator[Judged]:
    """The word on the answer as a whole, where one was given: see `answer_details`."""
    if "verdict" in turn.details:
        reason = str(turn.details.get("reasoning") or "")
        yield Judged("", str(turn.details["verdict"]), bool(turn.score), reason)


def answer_details(verdict: str, reasoning: str) -> dict[str, Any]:
    """The word on the answer as a whole, as results.json keeps it."""
    return {"verdict": verdict, "reasoning": reasoning}
