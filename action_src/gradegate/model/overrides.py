"""What a command line or a workflow says in place of gradegate.toml, and how its words are read.

Each reader is handed the name to complain under: `--fail-on` at a terminal, `fail-on` in a
workflow.
"""

import re
from collections.abc import Callable
from typing import TypeVar, get_args

from pydantic import Field

from gradegate.locales import languages
from gradegate.model.base import Value
from gradegate.model.errors import InputError, did_you_mean
from gradegate.model.report import ReasonKind
from gradegate.model.settings import CommentWhen, Language, ToolsMode

T = TypeVar("T")


class Shard(Value):
    """One part of the cases: `number` of `total`, counted from 1."""

    number: int = Field(ge=1)
    total: int = Field(ge=1)

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"


class Overrides(Value):
    """What counts before gradegate.toml. None is "not given", and leaves the word to it."""

    config: str | None = None
    suite: str | None = None
    agent: str | None = None
    evals: tuple[str, ...] | None = None
    runs: int | None = None
    tools: ToolsMode | None = None
    fail_on: tuple[ReasonKind, ...] | None = None
    tolerance: float | None = None
    comment: CommentWhen | None = None
    language: Language | None = None


def read_text(_name: str, text: str) -> str:
    """Any text."""
    return text


def read_address(name: str, text: str) -> str:
    """An address on the web."""
    if re.fullmatch(r"https?://[^\s<>\"'`\\^{|}]+", text):
        return text
    raise InputError(f"input `{name}` cannot be {text!r}: write an address, as in https://…")


def read_choice(*choices: str) -> Callable[[str, str], str]:
    """One of several words."""

    def read(name: str, text: str) -> str:
        if text in choices:
            return text
        near = did_you_mean(text.lower().replace("-", "_"), choices)
        hint = f"did you mean `{near}`? Write one of" if near else "write one of"
        offered = ", ".join(f"`{choice}`" for choice in choices)
        raise InputError(f"input `{name}` cannot be {text!r}: {hint} {offered}")

    return read


def read_list(read: Callable[[str, str], T]) -> Callable[[str, str], tuple[T, ...]]:
    """Several, apart by commas or lines."""

    def read_all(name: str, text: str) -> tuple[T, ...]:
        items = [item.strip() for item in re.split(r"[,\n]", text) if item.strip()]
        if not items:
            raise InputError(f"input `{name}` lists nothing: name at least one, or leave it out")
        return tuple(dict.fromkeys(read(name, item) for item in items))

    return read_all


def read_count(name: str, text: str) -> int:
    """A whole number."""
    if re.fullmatch(r"[0-9]{1,4}", text) and int(text) > 0:
        return int(text)
    raise InputError(
        f"input `{name}` cannot be {text!r}: write a whole number from 1 to 9999, such as `3`"
    )


def read_share(name: str, text: str) -> float:
    """A number from 0 to 1."""
    if re.fullmatch(r"[0-9]+(\.[0-9]*)?|\.[0-9]+", text) and float(text) <= 1:
        return float(text)
    raise InputError(
        f"input `{name}` cannot be {text!r}: write a number from 0 to 1, such as `0.02`"
    )


def read_shard(name: str, text: str) -> Shard:
    """Which part of how many."""
    match = re.fullmatch(r"([0-9]{1,4}) ?/ ?([0-9]{1,4})", text)
    number, total = (int(match[1]), int(match[2])) if match else (0, 0)
    if 1 <= number <= total:
        return Shard(number=number, total=total)
    raise InputError(
        f"input `{name}` cannot be {text!r}: write which part of how many, from `1/8` to `8/8`"
    )


READERS: dict[str, Callable[[str, str], object]] = {
    "config": read_text,
    "suite": read_text,
    "agent": read_text,
    "evals": read_list(read_text),
    "runs": read_count,
    "tools": read_choice(*get_args(ToolsMode)),
    "fail_on": read_list(read_choice(*ReasonKind)),
    "tolerance": read_share,
    "comment": read_choice(*get_args(CommentWhen)),
    "language": read_choice(*languages()),
}
"""How the text of each override is read."""
