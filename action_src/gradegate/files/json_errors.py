"""What is wrong with text that is not JSON, in words that help to mend it."""

import json
from typing import NamedTuple

from gradegate.model.notice import Notice, notice

_OPENERS = "{[:,"
_CLOSERS = "}]"
_SPACE = " \t\r\n"
_INSIDE_TEXT = ("Unterminated", "Invalid")
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}


class Slip(NamedTuple):
    """A syntax error: where it is and what to do about it."""

    offset: int
    message: str
    extra: Notice | None = None
    """What this one character is, if reading on without it gives what the user meant."""


def explain(text: str, error: json.JSONDecodeError) -> Slip:
    """Say what the user probably meant at the place where the parser gave up."""
    if error.msg.startswith(_INSIDE_TEXT):
        return _by_parser(error.pos, error)
    here = _next(text, error.pos)
    return (
        _trailing_comma(text, error.pos)
        or _too_much(text, here, error)
        or _too_little(text, here)
        or _wrong_token(text, here)
        or _by_parser(here, error)
    )


def _trailing_comma(text: str, position: int) -> Slip | None:
    """A comma before a closing bracket; parsers differ in which of the two they point at."""
    here = _next(text, position)
    comma = here if text[here : here + 1] == "," else _previous(text, here)
    if comma < 0 or text[comma] != ",":
        return None
    after = _next(text, comma + 1)
    before = _previous(text, comma)
    if after >= len(text) or text[after] not in _CLOSERS:
        return None
    if before < 0 or text[before] in _OPENERS:
        return None
    return Slip(comma, "trailing comma: remove it", notice("json.trailing_comma"))


def _too_much(text: str, here: int, error: json.JSONDecodeError) -> Slip | None:
    if not error.msg.startswith("Extra data"):
        return None
    rest = text[here:].strip(_SPACE)
    if rest == "}":
        return Slip(here, "one closing brace too many: remove it", notice("json.closing_brace"))
    if rest and not rest.strip("}] \t\r\n"):
        return Slip(here, "closing brackets without an opening one: remove them")
    return Slip(here, "the file goes on after its end: one JSON value is all it may hold")


def _too_little(text: str, here: int) -> Slip | None:
    if not text.strip(_SPACE):
        return Slip(0, "the file is empty: write a JSON value")
    if here >= len(text):
        return Slip(len(text.rstrip(_SPACE)), "the file ends too early: a closing one is missing")
    return None


def _wrong_token(text: str, here: int) -> Slip | None:
    if text[here] == "'":
        return Slip(here, 'single quotes: write "double quotes"')
    if text[here] == "#" or text.startswith(("//", "/*"), here):
        return Slip(here, "JSON has no comments: remove it")
    for word, instead in _PYTHON_WORDS.items():
        if text.startswith(word, here):
            return Slip(here, f"`{word}` is not JSON: write `{instead}`")
    return None


def _by_parser(here: int, error: json.JSONDecodeError) -> Slip:
    messages = {
        "Expecting ',' delimiter": "a comma or a closing bracket is missing before this",
        "Expecting ':' delimiter": "a colon is missing after the key",
        "Expecting property name": 'a key is missing here: write it in "double quotes"',
        "Expecting value": "a value is missing here",
        "Unterminated string": 'this text has no end: close it with "',
        "Invalid control character": "a line break or tab inside a text: write \\n or \\t",
        "Invalid \\": "an unknown escape: write \\\\ for a backslash",
    }
    for start, message in messages.items():
        if error.msg.startswith(start):
            return Slip(here, message)
    return Slip(here, f"not valid JSON: {error.msg}")


def _next(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _previous(text: str, position: int) -> int:
    position -= 1
    while position >= 0 and text[position] in _SPACE:
        position -= 1
    return position
