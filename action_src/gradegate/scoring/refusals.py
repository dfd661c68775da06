"""Models that refuse for good: asking them again is neither polite nor useful."""

from collections import Counter

from gradegate.ports import Trouble

_ENOUGH = 5


class Refusals:
    """Remembers what each model refused, and when that is the end of it.

    A refusal that concerns every question counts at once. One that may lie in the question
    counts when a model that never answered anything has said the same several times.
    """

    def __init__(self) -> None:
        self._final: dict[str, str] = {}
        self._repeated: Counter[tuple[str, str]] = Counter()
        self._answering: set[str] = set()

    def answered(self, model: str) -> None:
        """The model works."""
        self._answering.add(model)

    def refused(self, model: str, trouble: Trouble) -> None:
        """The model will not answer a question, however often it is asked."""
        self._repeated[model, trouble.reason] += 1
        often = self._repeated[model, trouble.reason] >= _ENOUGH
        if trouble.for_all or (often and model not in self._answering):
            self._final.setdefault(model, trouble.reason)

    def reason(self, model: str) -> str | None:
        """Why not to ask this model anything more."""
        return self._final.get(model)
