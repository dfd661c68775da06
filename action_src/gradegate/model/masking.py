"""Secret values, kept out of whatever leaves us, also in the usual disguises."""

import base64
import html
import json
import urllib.parse
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_origin

if TYPE_CHECKING:  # it takes long to import, and an error message is masked without it
    from pydantic import BaseModel

V = TypeVar("V", bound="BaseModel")

HIDDEN = "***"
SHORTEST = 8
"""Shorter values are no secrets, and hiding them would tear words apart."""


class SecretMasker:
    """Known secret values. `repr` does not tell them."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        kept = {value.strip() for value in values if len(value.strip()) >= SHORTEST}
        self._values = tuple(sorted(kept, key=lambda value: (-len(value), value)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def and_also(self, values: Iterable[str]) -> "SecretMasker":
        """These and others."""
        return SecretMasker((*self, *values))

    def hide(self, text: str) -> str:
        """The text without them, and without any of their disguises."""
        hidden: list[str] = []
        done = 0
        for start, end in self._disguises.found_in(text):
            hidden += (text[done:start], HIDDEN)
            done = end
        return "".join((*hidden, text[done:])) if hidden else text

    def hide_in(self, value: V) -> V:
        """The same value, with none of them in any of its texts."""
        if not self._values or not self._in_json.may_be_in(value.model_dump_json()):
            return value
        hidden: V = self.hide_all(value)
        return hidden

    def hide_all(self, value: Any) -> Any:
        """Whatever JSON or a model can hold, likewise; what has nothing to hide is not copied."""
        if isinstance(value, str):
            return self.hide(value) if type(value) is str else value  # a word of ours is no secret
        if isinstance(value, Mapping):
            pairs = {self.hide_all(key): self.hide_all(one) for key, one in value.items()}
            return pairs if pairs != value else value
        if isinstance(value, tuple | list):
            items = [self.hide_all(one) for one in value]
            if all(new is old for new, old in zip(items, value, strict=True)):
                return value
            return value._make(items) if hasattr(value, "_make") else type(value)(items)
        if hasattr(value, "model_copy"):
            return self._hide_in_fields(value)
        return value

    def _hide_in_fields(self, value: V) -> V:
        update = {}
        for name, field in type(value).model_fields.items():
            if get_origin(field.annotation) is not Literal:
                old = getattr(value, name)
                new = self.hide_all(old)
                if new is not old:
                    update[name] = new
        return value.model_copy(update=update) if update else value

    @cached_property
    def _disguises(self) -> "_Forms":
        return _Forms(form for value in self._values for form in disguises(value))

    @cached_property
    def _in_json(self) -> "_Forms":
        """As they stand in JSON that is written for a file."""
        return _Forms(_escaped(form) for value in self._values for form in disguises(value))


class MaskedStream:
    """A text stream that says no secret, whoever writes to it."""

    def __init__(self, stream: Any, secrets: SecretMasker) -> None:
        self._stream = stream
        self._secrets = secrets

    def write(self, text: str) -> int:
        """Write it without secrets."""
        self._stream.write(self._secrets.hide(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write all of them likewise."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def disguises(value: str) -> set[str]:
    """The value as it is, and as a program or a model that was told to hide it may write it."""
    raw = value.encode(errors="surrogatepass")
    plain = {value, value[::-1], raw.hex(), raw.hex().upper(), html.escape(value)}
    quoted = {
        urllib.parse.quote(raw, safe=""),
        urllib.parse.quote(raw),
        urllib.parse.quote_plus(raw),
        "".join(f"%{byte:02X}" for byte in raw),
    }
    escaped = {_escaped(value), json.dumps(value)[1:-1], "".join(_backslashed(value))}
    found = plain | quoted | {text.lower() for text in quoted} | escaped | set(_base64(raw))
    # A tool's arguments are often JSON in JSON.
    return {form for one in found for form in (one, _escaped(one)) if len(form) >= SHORTEST}


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _backslashed(value: str) -> Iterator[str]:
    utf16 = value.encode("utf-16-be", errors="surrogatepass")
    for high, low in zip(utf16[::2], utf16[1::2], strict=True):
        yield f"\\u{high:02x}{low:02x}"


def _base64(raw: bytes) -> Iterator[str]:
    """What does not depend on what stands before and after, wherever the value begins."""
    for before in range(3):
        coded = base64.b64encode(bytes(before) + raw)
        core = coded[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6].decode()
        yield core
        yield core.replace("+", "-").replace("/", "_")
    yield from base64.encodebytes(raw).decode().split()  # as `base64` wraps a long value


class _Forms:
    """Many strings, looked for in one go.

    Every form is at least `SHORTEST` long. So of the pieces of `_PIECE` characters that begin at
    every `_STEP`th place of a text, one lies within each form that the text contains: only those
    are looked up, however many forms there are.
    """

    def __init__(self, forms: Iterable[str]) -> None:
        self._by_piece: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for form in {form for form in forms if len(form) >= SHORTEST}:
            for offset in range(_STEP):
                self._by_piece[form[offset : offset + _PIECE]].append((offset, form))
        self._pieces = frozenset(self._by_piece)

    def may_be_in(self, text: str) -> bool:
        """Whether any form can be there; a quick look."""
        return not self._pieces.isdisjoint(
            text[at : at + _PIECE] for at in range(0, len(text), _STEP)
        )

    def found_in(self, text: str) -> Iterator[tuple[int, int]]:
        """Where there is any, from start to end; what overlaps is one."""
        if not self.may_be_in(text):
            return
        start = end = 0
        for begin, stop in sorted(self._spans(text)):
            if begin >= end and end:
                yield start, end
            start, end = (begin if begin >= end else start), max(end, stop)
        if end:
            yield start, end

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        for at in range(0, len(text), _STEP):
            for offset, form in self._by_piece.get(text[at : at + _PIECE], ()):
                if at >= offset and text.startswith(form, at - offset):
                    yield at - offset, at - offset + len(form)


_PIECE = 4
_STEP = SHORTEST - _PIECE + 1
