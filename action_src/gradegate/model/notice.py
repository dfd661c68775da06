"""Something told to a reader: a code and its values, and what they say in English.

Code makes no sentences: those are in the locales, and a report is worded in its reader's language
when it is rendered. Words of others (an agent's, a judge's, uv's, git's) are values.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import not_
from typing import Any

from pydantic import Field

from gradegate.locales import Locale, locale_of
from gradegate.model.base import Value

ENGLISH = "en"
"""What `text` is written in, whoever reads it."""
_DEEPEST = 8
"""Sentences in sentences; ours have three levels, and a report may be made up."""


class Notice(Value):
    """A sentence of ours. Without a code it is a text that somebody else worded."""

    text: str
    code: str = Field(default="", exclude_if=not_)
    values: dict[str, "str | Notice | tuple[Notice, ...]"] = Field(
        default_factory=dict, exclude_if=not_
    )
    """What fills the sentence's holes: words and numbers, or other sentences of ours."""

    def in_words(self, locale: Locale) -> str:
        """The sentence in a language; the English text where that has none for it."""
        return self._in_words(locale, _DEEPEST)

    def _in_words(self, locale: Locale, deepest: int) -> str:
        ours = self.code and locale.knows_notice(self.code)
        if locale.language == ENGLISH or not ours or not deepest:
            return self.text
        try:
            return locale.notice(self.code, self._filled(locale, deepest - 1))
        except (KeyError, IndexError):  # values of another version, or made up
            return self.text

    def _filled(self, locale: Locale, deepest: int) -> dict[str, str]:
        def words(value: str | Notice | tuple[Notice, ...]) -> str:
            if isinstance(value, str):
                return value
            if isinstance(value, Notice):
                return value._in_words(locale, deepest)  # noqa: SLF001 - one of us
            return locale("list.semicolon").join(map(words, value))

        return {name: words(value) for name, value in self.values.items()}


def notice(code: str, /, **values: object) -> Notice:
    """The notice of this code.

    A value is a notice or a sequence of them, or else shown as `str` has it. Numbers come as
    they are to be shown: see `locales`.
    """
    english = locale_of(ENGLISH)
    kept = {name: _kept(value) for name, value in values.items()}
    shown = {name: _text(value, english) for name, value in kept.items()}
    return Notice(text=english.notice(code, shown), code=code, values=kept)


def as_notice(text: str | None, own: Notice | None) -> Notice | None:
    """A text as a notice: ours beside it, where that says the same, else somebody's words."""
    if text is None:
        return None
    return own if own is not None and own.text == text else Notice(text=text)


def with_code(told: Notice | None) -> Notice | None:
    """The notice, if it is a sentence of ours: to be kept beside its text."""
    return told if told is not None and told.code else None


def as_notices(texts: Sequence[str], notices: Sequence[Notice]) -> tuple[Notice, ...]:
    """The notices, where they are of exactly these texts; else the texts."""
    if [one.text for one in notices] == list(texts):
        return tuple(notices)
    return tuple(Notice(text=text) for text in texts)


def texts_of(notices: Iterable[Notice]) -> tuple[str, ...]:
    """What they say in English."""
    return tuple(one.text for one in notices)


def text_beside(fields: Mapping[str, Any]) -> str | None:
    """The default of a `reason`: what the `notice` beside it says."""
    told = fields.get("notice")
    return told.text if told is not None else None


def is_none(value: object) -> bool:
    """Whether to leave a field out of a file."""
    return value is None


def _kept(value: object) -> str | Notice | tuple[Notice, ...]:
    if isinstance(value, Notice):
        return value if value.code else value.text
    return tuple(value) if isinstance(value, tuple | list) else str(value)


def _text(value: str | Notice | tuple[Notice, ...], english: Locale) -> str:
    if isinstance(value, tuple):
        return english("list.semicolon").join(texts_of(value))
    return value.text if isinstance(value, Notice) else value
