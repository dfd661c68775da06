"""hallucinations_v1: is every sentence borne out by what the agent had before it?"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any, ClassVar, Literal

from pydantic import Field

from gradegate.criteria.base.criterion import (
    Entry,
    JudgeAnswer,
    JudgedCriterion,
    RunPart,
    Turn,
    TurnCriterion,
)
from gradegate.criteria.base.judged import Judged
from gradegate.criteria.base.loosening import switched_off
from gradegate.criteria.base.prompts import Prompt
from gradegate.criteria.base.shown import (
    event_steps,
    events_of,
    grounding_of,
    instructions_of,
    steps_of,
    tools_of,
)
from gradegate.model.evalset import Content, Invocation, InvocationEvent, Part
from gradegate.model.gemini_models import DEFAULT_JUDGE
from gradegate.model.notice import Notice
from gradegate.model.question import Votes
from gradegate.model.result import InvocationResult, Status
from gradegate.ports import Ask, Needs

SEGMENT = Prompt("hallucinations_segment.md.j2", version="1")
VALIDATE = Prompt("hallucinations_validate.md.j2", version="1")

GROUNDED = frozenset({"supported", "not_applicable"})
NOTHING_SAID = "nothing was said, so there is no sentence to check"


class Sentences(JudgeAnswer):
    """The response cut into sentences, verbatim."""

    sentences: tuple[str, ...]


class Label(JudgeAnswer):
    """How one sentence stands to the context: evidence and reasons first."""

    sentence: str
    excerpt: str | None = None
    reasoning: str
    label: Literal["supported", "unsupported", "contradictory", "disputed", "not_applicable"]

    @property
    def grounded(self) -> bool:
        """Whether nothing is to be said against the sentence."""
        return self.label in GROUNDED


class Labels(JudgeAnswer):
    """One label per sentence."""

    sentences: tuple[Label, ...]


@dataclass(frozen=True)
class AgentResponse:
    """One response of the agent's, and all that it had before it then."""

    text: str
    context: Mapping[str, Any]


class CheckedSentence(JudgeAnswer):
    """One sentence with the majority's view of it, as results.json keeps it."""

    sentence: str
    label: str
    grounded: bool
    reasoning: str | None = None
    excerpt: str | None = None


@dataclass(frozen=True)
class CheckedResponse:
    """One response's score with its sentences, or why there is none."""

    score: float | None = None
    sentences: Sequence[CheckedSentence] = ()
    failure: str | None = None


class Hallucinations(TurnCriterion, JudgedCriterion):
    """Per response the share of its sentences that are supported, or need no support."""

    name: ClassVar[str] = "hallucinations_v1"
    asks_for: ClassVar[frozenset[RunPart]] = frozenset()
    needs: ClassVar[Needs] = Needs(judge=True)
    summary: ClassVar[str] = "share of sentences that the context bears out"
    example: ClassVar[dict[str, Any]] = {
        "threshold": 0.8,
        "judge_model_options": {"judge_model": DEFAULT_JUDGE},
        "evaluate_intermediate_nl_responses": True,
    }
    default_samples: ClassVar[int] = 1

    evaluate_intermediate_nl_responses: bool = Field(
        default=False, description="also check what was said before the final response"
    )

    @classmethod
    def evidence(cls, turn: InvocationResult) -> Iterator[Judged]:
        """Each sentence with its label."""
        yield from super().evidence(turn)
        for one in turn.details.get("sentences", ()):
            said = CheckedSentence.model_validate(one)
            yield Judged(said.sentence, said.label, said.grounded, said.reasoning or "")

    @classmethod
    def loosened_options(cls, base: Entry, head: Entry) -> Iterator[Notice]:
        """What was said on the way is no longer checked."""
        was, now = cls.as_far_as_valid(base), cls.as_far_as_valid(head)
        if was.evaluate_intermediate_nl_responses and not now.evaluate_intermediate_nl_responses:
            yield switched_off("evaluate_intermediate_nl_responses")
        yield from super().loosened_options(base, head)

    def mean_of(self, turns: Sequence[InvocationResult]) -> float:
        """The mean over turns, rounded once as the reference does."""
        return mean(turn.score for turn in turns if turn.score is not None)

    async def score_turn(self, turn: Turn, ask: Ask) -> InvocationResult:
        """Check every response of the turn side by side."""
        intermediate = self.evaluate_intermediate_nl_responses
        responses = responses_of(turn.actual, intermediate=intermediate)
        checked = await asyncio.gather(*(self._check(said, ask) for said in responses))
        scores = [one.score for one in checked if one.score is not None]
        failures = [one.failure for one in checked if one.failure is not None]
        sentences = [
            ({"response": number} if len(checked) > 1 else {}) | sentence.model_dump()
            for number, one in enumerate(checked, 1)
            for sentence in one.sentences
        ]
        if failures:
            return InvocationResult(
                score=mean(scores) if scores else None,
                reason=failures[0],
                details={"sentences": sentences},
            )
        if not scores:
            return not_applicable()
        return self.scored(mean(scores), details={"sentences": sentences})

    async def _check(self, said: AgentResponse, ask: Ask) -> CheckedResponse:
        """Segment once, then let the samples vote on each sentence."""
        cut = await ask(
            self.question(
                SEGMENT,
                {"response": said.text},
                Sentences,
                step="segment",
                objection=lambda answer: objection_to_cut(answer.sentences, said.text),
                stand_in=lambda: Sentences(sentences=(said.text,)),
            ),
            1,
        )
        if cut.failure is not None:
            return CheckedResponse(failure=cut.failure)
        sentences = [sentence.strip() for sentence in cut.answers[0].sentences]
        if not sentences:
            return CheckedResponse()
        labels = await ask(
            self.question(
                VALIDATE,
                {**said.context, "sentences": sentences},
                Labels,
                step="validate",
                ballot=lambda answer: {
                    str(number): label.grounded
                    for number, label in in_order(answer.sentences, sentences).items()
                },
                objection=lambda answer: objection_to_labels(answer.sentences, sentences),
            ),
            self.samples,
        )
        if labels.failure is not None:
            return CheckedResponse(failure=labels.failure)
        return _outcome(sentences, labels)


def not_applicable() -> InvocationResult:
    """A turn in which there is nothing to check: no score, and nobody's failure."""
    return InvocationResult(
        status=Status.INFORMATIONAL, reason=NOTHING_SAID, details={"sentences": []}
    )


def responses_of(turn: Invocation, *, intermediate: bool) -> list[AgentResponse]:
    """What the agent said in a turn, each with the context up to that point.

    The older shape of intermediate data does not tell what was said before which call, so
    that there only the final response, which comes after all of them, can be checked.
    """
    said = list(_on_the_way(turn)) if intermediate else []
    if turn.response_text.strip():
        steps = steps_of(turn.intermediate_data)
        said.append(AgentResponse(turn.response_text, _context(turn, steps, events_of(turn))))
    return said


def _on_the_way(turn: Invocation) -> list[AgentResponse]:
    events = events_of(turn)
    return [
        AgentResponse(part.text, _context(turn, event_steps(before), before))
        for index, event in enumerate(events)
        for place, part in enumerate(_parts(event))
        if part.text and part.text.strip()
        for before in [(*events[:index], _up_to(event, place))]
    ]


def _parts(event: InvocationEvent) -> tuple[Part, ...]:
    return (event.content.parts or ()) if event.content else ()


def _up_to(event: InvocationEvent, place: int) -> InvocationEvent:
    """The event as it stood before one of its parts; its grounding belongs to all of them.

    Words of the same event are not evidence for each other.
    """
    earlier = tuple(part for part in _parts(event)[:place] if not part.text)
    return event.model_copy(update={"content": Content(parts=earlier)})


def _context(
    turn: Invocation, steps: list[dict[str, Any]], events: Sequence[InvocationEvent]
) -> Mapping[str, Any]:
    return {
        "instructions": instructions_of(turn.app_details),
        "user_prompt": turn.user_content.text,
        "tools": tools_of(turn.app_details),
        "grounding": grounding_of(events),
        "steps": steps,
    }


def _outcome(sentences: Sequence[str], votes: Votes[Labels]) -> CheckedResponse:
    """Per sentence the majority's view, in the words of the first who held it."""
    answers = [in_order(answer.sentences, sentences) for answer in votes.answers]
    checked = []
    for number, sentence in enumerate(sentences):
        grounded = votes.yes[str(number)]
        speaker = next(a[number] for a in answers if a[number].grounded == grounded)
        checked.append(
            CheckedSentence(
                sentence=sentence,
                label=speaker.label,
                grounded=grounded,
                reasoning=speaker.reasoning,
                excerpt=speaker.excerpt,
            )
        )
    return CheckedResponse(sum(votes.yes.values()) / len(sentences), checked)


def in_order(labels: Sequence[Label], sentences: Sequence[str]) -> dict[int, Label]:
    """Labels by the number of their sentence; of equal sentences the first label is the first's."""
    rest = list(labels)
    found: dict[int, Label] = {}
    for number, sentence in enumerate(sentences):
        match = next((label for label in rest if words(label.sentence) == words(sentence)), None)
        if match is not None:
            rest.remove(match)
            found[number] = match
    return found


def words(text: str) -> str:
    """A text with its white space evened out, which a judge may break anew when it copies."""
    return " ".join(text.split())


def objection_to_cut(sentences: Sequence[str], response: str) -> str | None:
    """Why a response was not cut verbatim: each sentence must be in it, as often as given."""
    whole = words(response)
    for sentence, count in Counter(map(words, sentences)).items():
        if not sentence:
            return "the judge's segmenter gave an empty sentence"
        if whole.count(sentence) < count:
            return (
                f"the judge's segmenter gave a sentence that is not in the response: {sentence!r}"
            )
    if not sentences and any(map(str.isalnum, response)):
        return "the judge's segmenter found no sentence in the response"
    return None


def objection_to_labels(labels: Sequence[Label], sentences: Sequence[str]) -> str | None:
    """Why labels do not fit the sentences: each once, and no other."""
    asked = Counter(map(words, sentences))
    given = Counter(words(label.sentence) for label in labels)
    for sentence in asked - given:
        return f"the judge's validator left out a sentence: {sentence!r}"
    for sentence in given - asked:
        return f"the judge's validator gave a sentence that was not asked: {sentence!r}"
    return None
