"""A question for a judge, and the votes its samples cast."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from gradegate.model.notice import Notice, as_notice, with_code

T = TypeVar("T", bound=BaseModel)

VERTEX = "vertex-evaluation/"
"""Begins the `model` of a question to Vertex AI's evaluation service; its metric follows."""


class PlainText(BaseModel):
    """The answer to a question that wants words and no JSON, such as a simulated user's."""

    model_config = ConfigDict(frozen=True)

    text: str


def no_ballot(_: BaseModel) -> Mapping[str, bool]:
    """For questions that are not voted on: the first usable answer is the outcome."""
    return {}


def no_objection(_: BaseModel) -> str | None:
    """For answers that are usable whenever they are well formed."""
    return None


@dataclass(frozen=True)
class Question(Generic[T]):
    """Everything asked of a judge once: the prompt's data, its version, the answer's type.

    What identifies a question is `kind`, `version`, `data`, `model` and `model_config`; the
    callables say how to put it and how to read the answer.
    """

    kind: str
    """Which prompt: the criterion's name, and a step where it has several:
    `final_response_match_v2`, `hallucinations_v1/segment`…"""
    version: str
    data: Mapping[str, Any]
    """All that the prompt is filled with, as JSON."""
    answer: type[T]
    render: Callable[[str], str]
    """The prompt's text, with untrusted words between two lines of the fence handed in."""
    model: str
    model_config: Mapping[str, Any] = field(default_factory=dict)
    ballot: Callable[[T], Mapping[str, bool]] = no_ballot
    """What an answer votes on: one entry for a verdict, one per rubric or sentence."""
    objection: Callable[[T], str | None] = no_objection
    """Why a well-formed answer cannot be used all the same (a rubric left out…)."""
    stand_in: Callable[[], T] | None = None
    """An answer that might be given, where the answer leads to another question: with it a
    dry run can count that question too."""
    occurrence: int = 1
    """The how manieth of a case's runs on its side puts this question. A rerun that gets the same
    answer from the agent asks the judge anew: one opinion must not count as several."""

    @property
    def criterion(self) -> str:
        """Whose question this is, for the bill."""
        return self.kind.partition("/")[0]

    def by_default(self, model: str) -> "Question[T]":
        """The same, put to this model where it names none."""
        return self if self.model else replace(self, model=model)

    def again(self, occurrence: int) -> "Question[T]":
        """The same, put by another of the case's runs."""
        return replace(self, occurrence=occurrence)

    def key(self, sample: int) -> str:
        """What one sample's answer is stored under: all that was asked, of whom, and again."""
        again = [self.occurrence] if self.occurrence > 1 else []
        return content_digest([self.digest, sample, *again])

    @cached_property
    def digest(self) -> str:
        """What the question is known by, however often it is asked."""
        asked = [self.kind, self.version, self.data, self.model, self.model_config]
        return content_digest(asked)


def content_digest(content: Any) -> str:
    """A digest of JSON that does not depend on the order of keys.

    Surrogates that JSON files can smuggle in are escaped, so that any text has a digest.
    """
    text = json.dumps(content, sort_keys=True, default=dict, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Votes(Generic[T]):
    """What came of asking: usable answers in the order asked, and why others are not."""

    answers: tuple[T, ...] = ()
    unusable: tuple[str, ...] = ()
    yes: Mapping[str, bool] = field(default_factory=dict)
    """Per ballot entry: did the majority say yes? A tie is no."""
    failure: str | None = None
    """Why there is no outcome; None where there is one."""
    from_store: bool = field(default=False, compare=False)
    """Whether nobody had to be asked: what was said is known from an earlier job."""
    notice: Notice | None = field(default=None, compare=False)
    """The failure as it can be told in another language, where it can."""

    @classmethod
    def failed(cls, told: Notice) -> Self:
        """No outcome, and why."""
        return cls(failure=told.text, notice=with_code(told))

    @property
    def why(self) -> Notice | None:
        """The failure, in whose words it is."""
        return as_notice(self.failure, self.notice)
