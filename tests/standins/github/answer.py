"""What a request is answered with, and GitHub's ways of saying no."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DOCUMENTATION = "https://docs.github.com/rest"


@dataclass(frozen=True)
class Answer:
    """A status, a JSON value and headers."""

    status: int
    data: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Refused(Exception):  # noqa: N818 - an answer, not an error of anyone's
    """The request is answered with no; `violation` says what the code under test did wrong."""

    def __init__(self, answer: Answer, violation: str | None = None) -> None:
        self.answer = answer
        self.violation = violation
        super().__init__(violation or str(answer.data))


def message(status: int, text: str, **headers: str) -> Answer:
    """A refusal in GitHub's words."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    data = {"message": text, "documentation_url": DOCUMENTATION, "status": str(status)}
    return Answer(status, data, named)


def not_found() -> Refused:
    """There is no such thing, or the token may not see it."""
    return Refused(message(404, "Not Found"))


def forbidden(text: str = "Resource not accessible by integration") -> Refused:
    """The token lacks the permission."""
    return Refused(message(403, text))


def invalid(what: str) -> Refused:
    """Something in the body is not as it must be: always the sender's mistake."""
    answer = message(422, "Validation Failed")
    return Refused(Answer(422, {**answer.data, "errors": [{"message": what}]}), what)
