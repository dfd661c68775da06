"""Secret values, kept out of whatever leaves us."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from pydantic import BaseModel

V = TypeVar("V", bound=BaseModel)

HIDDEN = "***"
SHORTEST = 8
"""Shorter values are no secrets, and hiding them would tear words apart."""
TELLING_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")


class SecretMasker:
    """Known secret values. `repr` does not tell them."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        # The longest first: one secret may be part of another.
        kept = {value.strip() for value in values if len(value.strip()) >= SHORTEST}
        self._values = tuple(sorted(kept, key=lambda value: (-len(value), value)))

    @classmethod
    def in_environ(cls, environ: Mapping[str, str]) -> "SecretMasker":
        """Values of variables that are called like secrets; a path to one is none."""
        return cls(
            value
            for name, value in environ.items()
            if any(word in name.upper() for word in TELLING_NAMES) and not value.startswith("/")
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def hide(self, text: str) -> str:
        """The text without them."""
        for value in self._values:
            text = text.replace(value, HIDDEN)
        return text

    def hide_in(self, value: V) -> V:
        """The same value, with none of them in any of its texts."""
        text = value.model_dump_json()
        escaped = [json.dumps(secret, ensure_ascii=False)[1:-1] for secret in self._values]
        if not any(secret in text for secret in escaped):
            return value
        for secret in escaped:
            text = text.replace(secret, HIDDEN)
        return type(value).model_validate_json(text)
