"""JSON that still knows the line and column of each of its values.

The value comes from the standard library's parser at its full speed; places are looked up
only when someone asks, by walking down to the one value in question.
"""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pydantic.alias_generators import to_camel, to_snake
from pydantic_core import from_json

from gradegate.files.findings import Finding, Level
from gradegate.files.json_errors import Slip, explain
from gradegate.model.errors import FileError
from gradegate.model.notice import Notice, notice

Key = str | int
Children = dict[Key, int]

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_CONSTANTS: Final = ("NaN", "Infinity", "-Infinity")
_MOST_REPAIRS: Final = 20


class Document:
    """A parsed file: its value, and where in the text each part of the value stands."""

    def __init__(self, path: str, text: str, value: Any) -> None:
        self.path = path
        self.text = text
        self.value = value
        self.warnings: tuple[Finding, ...] = ()
        self._children: dict[int, Children] = {}

    def position(self, *keys: Key) -> tuple[int, int]:
        """Line and column of the value at this path, or of its nearest existing ancestor."""
        offset = self._start
        for key in keys:
            child = self._children_of(offset).get(key)
            if child is None:
                break
            offset = child
        return self.place(offset)

    def resolve(self, keys: Iterable[Key]) -> tuple[Key, ...]:
        """The path as the file spells it: either case of a key, and nothing it has not."""
        found: list[Key] = []
        offset = self._start
        for key in keys:
            children = self._children_of(offset)
            spellings = (key, to_snake(key), to_camel(key)) if isinstance(key, str) else (key,)
            spelling = next((s for s in spellings if s in children), None)
            if spelling is not None:
                found.append(spelling)
                offset = children[spelling]
        return tuple(found)

    def finding(self, told: Notice | str, *keys: Key, level: Level = "error") -> Finding:
        """A remark about the value at this path."""
        return Finding.at(self.path, self.position(*keys), level, told)

    def error(self, message: str, *keys: Key) -> FileError:
        """A refusal of the value at this path."""
        line, column = self.position(*keys)
        return FileError(self.path, message, line=line, column=column)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def walk(self) -> Iterator[int]:
        """The offset of every value, containers before what they hold."""
        waiting = [self._start]
        while waiting:
            offset = waiting.pop()
            yield offset
            waiting.extend(reversed(self._children_of(offset).values()))

    def repeated_keys(self) -> Iterator[tuple[str, int]]:
        """Keys written twice in one object, with the place of the later one."""
        for offset in self.walk():
            seen: set[Key] = set()
            for key, child in _members(self.text, offset):
                if key in seen:
                    yield str(key), child
                seen.add(key)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    @property
    def _start(self) -> int:
        return _skip_space(self.text, 0)

    def _children_of(self, offset: int) -> Children:
        if offset not in self._children:
            self._children[offset] = dict(_members(self.text, offset))
        return self._children[offset]


def read_text(path: Path, label: str) -> str:
    """A file's text; a byte order mark is let pass, another encoding is not."""
    try:
        content = path.read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise FileError(label, message) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        message = "not UTF-8: save the file in that encoding"
        raise FileError(label, message, line=line, column=column) from error


def text_within(root: Path, name: str) -> str:
    """The text of a file below a folder; one that a link takes out of it is refused.

    A pull request could otherwise have us quote files of the machine in our complaints.
    """
    refuse_outside(root, name)
    return read_text(root / name, name)


def refuse_outside(root: Path, name: str) -> None:
    """Raise a FileError for a file that a link takes out of the folder."""
    if not (root / name).resolve().is_relative_to(root.resolve()):
        message = "leads outside the repository: put the file itself here, not a link"
        raise FileError(name, message)


def parse(path_label: str, text: str, *, repair: bool = False) -> Document:
    """Parse JSON strictly. `repair` lets pass a trailing comma and a last brace too many."""
    text = text.removeprefix("\ufeff")
    slips: list[Slip] = []
    while True:
        try:
            return _checked(*_load(path_label, text), slips)
        except json.JSONDecodeError as error:
            slip = explain(text, error)
            if not (repair and slip.extra and len(slips) < _MOST_REPAIRS):
                raise _error_at(path_label, text, slip.offset, slip.message) from error
            slips.append(slip)
            text = f"{text[: slip.offset]} {text[slip.offset + 1 :]}"


def _checked(document: Document, doubtful: bool, slips: list[Slip]) -> Document:  # noqa: FBT001 - private
    """The document with its warnings, once nothing in it is beyond JSON."""
    repeated: list[tuple[str, int]] = []
    if doubtful:
        _refuse_what_json_has_not(document)
        repeated = list(document.repeated_keys())
    document.warnings = (
        *(_repaired(document, slip) for slip in slips),
        *(_repeated(document, *repeat) for repeat in repeated),
    )
    return document


def _load(label: str, text: str) -> tuple[Document, bool]:
    """The value, and whether something in it needs a closer and slower look."""
    doubts = [bool(_SURROGATE.search(text))]

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(members)
        if len(found) != len(members):
            doubts.append(True)
        return found

    def constant(word: str) -> float:
        doubts.append(True)
        return float(word)

    def number(digits: str) -> float:
        value = float(digits)
        if math.isinf(value):
            doubts.append(True)
        return value

    try:
        value = json.loads(
            text, object_pairs_hook=pairs, parse_constant=constant, parse_float=number
        )
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise FileError(label, "nested too deeply to be read", line=1) from error
    except ValueError as error:  # only a number with thousands of digits gets here
        raise FileError(label, f"a number is too long: {error}", line=1) from error
    _refuse_depths(label, text)
    return Document(label, text, value), any(doubts)


def _refuse_depths(label: str, text: str) -> None:
    """What pydantic would not read from JSON (200 levels), it could not write to a report."""
    try:
        from_json(text)
    except ValueError as error:
        if "recursion limit" in str(error):
            raise FileError(label, "nested too deeply to be read", line=1) from error


def _refuse_what_json_has_not(document: Document) -> None:
    """NaN, numbers beyond all bounds, halves of characters: other tools choke on them."""
    text = document.text
    for offset in document.walk():
        if text.startswith(_CONSTANTS, offset):
            message = "not a number that JSON has: write a finite number or null"
            raise _error_at(document.path, text, offset, message)
        if text[offset] in "{[":
            scalars: list[Any] = [key for key, _ in _members(text, offset)]
        else:
            scalars = [_DECODER.raw_decode(text, offset)[0]]
        for value in scalars:
            if isinstance(value, float) and math.isinf(value):
                raise _error_at(document.path, text, offset, "this number is too large")
            if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
                message = "half a character: a \\ud… escape needs its other half"
                raise _error_at(document.path, text, offset, message)


def _members(text: str, offset: int) -> Iterator[tuple[Key, int]]:
    """Key and offset of each child of the container here; none where it is no container."""
    kind = text[offset]
    if kind not in "{[":
        return
    index = 0
    offset = _skip_space(text, offset + 1)
    while text[offset] not in "}]":
        key: Key = index
        if kind == "{":
            key, end = _DECODER.raw_decode(text, offset)
            offset = _skip_space(text, _skip_space(text, end) + 1)
        yield key, offset
        offset = _skip_space(text, _DECODER.raw_decode(text, offset)[1])
        if text[offset] == ",":
            offset = _skip_space(text, offset + 1)
        index += 1


def _skip_space(text: str, offset: int) -> int:
    match = _SPACE.match(text, offset)
    return match.end() if match else offset


def _repaired(document: Document, slip: Slip) -> Finding:
    told = notice("json.one_too_many", what=slip.extra)
    return Finding.at(document.path, document.place(slip.offset), "warning", told)


def _repeated(document: Document, key: str, offset: int) -> Finding:
    told = notice("json.key_twice", key=key)
    return Finding.at(document.path, document.place(offset), "warning", told)


def _error_at(label: str, text: str, offset: int, message: str) -> FileError:
    line, column = Document(label, text, None).place(offset)
    return FileError(label, message, line=line, column=column)
