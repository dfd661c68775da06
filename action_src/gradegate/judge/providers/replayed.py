"""Recorded answers in place of a judge: the demo, tests, and work without a network."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from gradegate.model.base import Value
from gradegate.model.errors import FileError
from gradegate.model.question import Question, content_digest
from gradegate.ports import CallFailure, JudgeProvider, Reply


class RecordedAnswer(Value):
    """One sample's answer; `about` is there for people who read the file."""

    kind: str
    question: str
    sample: int = Field(default=1, ge=1)
    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    unusable: str | None = None
    about: str = ""


class RecordedAnswers(Value):
    """A file of recorded answers."""

    schema_: Literal["gradegate/answers/v1"] = Field(default="gradegate/answers/v1", alias="schema")
    answers: tuple[RecordedAnswer, ...] = ()


class ReplayedProvider:
    """Answers from a file, by what is asked: neither prompt version nor model matter.

    A sample that was not recorded is answered like the last one that was.

    Raises:
        FileError: where the file cannot be read.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._answers: dict[str, dict[int, RecordedAnswer]] = {}
        for answer in _load(file).answers:
            self._answers.setdefault(answer.question, {})[answer.sample] = answer

    async def answer(self, question: Question[Any], sample: int) -> Reply | CallFailure:
        """The recorded answer, at once."""
        samples = self._answers.get(asked(question))
        if not samples:
            reason = f"{self._file} has no answer to this question of `{question.kind}`"
            return CallFailure(reason, retryable=False)
        recorded = samples.get(sample) or samples[max(samples)]
        return Reply(
            recorded.text, recorded.input_tokens, recorded.output_tokens, recorded.unusable
        )

    async def close(self) -> None:
        """Nothing is open."""


class RecordingProvider:
    """Passes questions on and keeps the answers; closing writes them to the file."""

    def __init__(self, provider: JudgeProvider, file: Path) -> None:
        self._provider = provider
        self._file = file
        self._answers: dict[tuple[str, str, int], RecordedAnswer] = {}

    async def answer(self, question: Question[Any], sample: int) -> Reply | CallFailure:
        """What the other answers."""
        reply = await self._provider.answer(question, sample)
        if isinstance(reply, Reply):
            key = (question.kind, asked(question), sample)
            recorded = RecordedAnswer(
                kind=question.kind,
                question=asked(question),
                sample=sample,
                about=_about(question),
                **reply._asdict(),
            )
            if question.occurrence == 1 or key not in self._answers:
                self._answers[key] = recorded
        return reply

    async def close(self) -> None:
        """Write the file, in an order that does not depend on who answered first."""
        await self._provider.close()
        save_answers(self._file, (self._answers[key] for key in sorted(self._answers)))


def save_answers(file: Path, answers: Iterable[RecordedAnswer]) -> None:
    """Write a file that `ReplayedProvider` reads."""
    recorded = RecordedAnswers(answers=tuple(answers))
    text = json.dumps(recorded.model_dump(mode="json"), ensure_ascii=False, indent=1)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n", encoding="utf-8")


def asked(question: Question[Any]) -> str:
    """What a recorded answer is found by."""
    return content_digest([question.kind, question.data])


def _load(file: Path) -> RecordedAnswers:
    try:
        return RecordedAnswers.model_validate_json(file.read_bytes())
    except OSError as error:
        raise FileError(file, f"cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise FileError(file, f"is no file of recorded answers: {place} {first['msg']}") from error


def _about(question: Question[Any]) -> str:
    """The longest of the texts asked about, shortened: enough to recognise it by."""
    texts = sorted((value for value in question.data.values() if isinstance(value, str)), key=len)
    return texts[-1][:80] if texts else ""
