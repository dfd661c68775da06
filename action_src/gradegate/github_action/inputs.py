"""What a workflow asks of the Action, read from the environment GitHub hands over."""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar, get_args

from pydantic import Field, SecretStr

from gradegate.model.base import Value
from gradegate.model.errors import InputError
from gradegate.model.report import ReasonKind
from gradegate.model.settings import CommentWhen, Language

T = TypeVar("T")


class Mode(StrEnum):
    """Which part of the job to do."""

    AUTO = "auto"
    EVALUATE = "evaluate"
    PUBLISH = "publish"
    BASELINE = "baseline"


class Shard(Value):
    """One part of the cases: `number` of `total`, counted from 1."""

    number: int = Field(ge=1)
    total: int = Field(ge=1)

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"


class Inputs(Value):
    """The Action's inputs. None is "not given", and leaves the word to `gradegate.toml`."""

    github_token: SecretStr | None = None
    config: str | None = None
    suite: str | None = None
    agent: str | None = None
    evals: tuple[str, ...] | None = None
    base: str | None = None
    mode: Mode = Mode.AUTO
    runs: int | None = None
    fail_on: tuple[ReasonKind, ...] | None = None
    tolerance: float | None = None
    comment: CommentWhen | None = None
    language: Language | None = None
    check_name: str = "gradegate"
    shard: Shard | None = None
    store: str | None = None
    working_directory: str = "."
    report_dir: str = ".gradegate/report"

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Inputs":
        """Read every `INPUT_…` variable; an empty one is not given.

        Raises:
            InputError: naming the input, its value and what to write instead.
        """
        given = {field: environ.get(variable(field), "").strip() for field in cls.model_fields}
        return cls.model_validate(
            {field: _READ[field](input_name(field), text) for field, text in given.items() if text}
        )

    def require_token(self) -> SecretStr:
        """The token, for the commands that cannot do without.

        Raises:
            InputError: where the workflow gives none.
        """
        if self.github_token is None:
            raise InputError(
                "input `github-token` is missing: write `github-token: ${{ github.token }}` "
                "under the step's `with:`, or leave the line out to get that default"
            )
        return self.github_token


def input_name(field: str) -> str:
    """The field's name in a workflow: `fail_on` is `fail-on`."""
    return field.replace("_", "-")


def variable(field: str) -> str:
    """The variable GitHub puts the input in; it keeps hyphens."""
    return f"INPUT_{input_name(field).upper()}"


def _text(_name: str, text: str) -> str:
    return text


def _choice(*choices: str) -> Callable[[str, str], str]:
    def read(name: str, text: str) -> str:
        if text in choices:
            return text
        near = get_close_matches(text.lower().replace("-", "_"), choices, n=1)
        hint = f"did you mean `{near[0]}`? Write one of" if near else "write one of"
        offered = ", ".join(f"`{choice}`" for choice in choices)
        raise InputError(f"input `{name}` cannot be {text!r}: {hint} {offered}")

    return read


def _listed(read: Callable[[str, str], T]) -> Callable[[str, str], tuple[T, ...]]:
    def read_all(name: str, text: str) -> tuple[T, ...]:
        items = [item.strip() for item in re.split(r"[,\n]", text) if item.strip()]
        if not items:
            raise InputError(f"input `{name}` lists nothing: name at least one, or leave it out")
        return tuple(dict.fromkeys(read(name, item) for item in items))

    return read_all


def _count(name: str, text: str) -> int:
    if re.fullmatch(r"[0-9]{1,4}", text) and int(text) > 0:
        return int(text)
    raise InputError(
        f"input `{name}` cannot be {text!r}: write a whole number from 1 to 9999, such as `3`"
    )


def _share(name: str, text: str) -> float:
    if re.fullmatch(r"[0-9]+(\.[0-9]*)?|\.[0-9]+", text) and float(text) <= 1:
        return float(text)
    raise InputError(
        f"input `{name}` cannot be {text!r}: write a number from 0 to 1, such as `0.02`"
    )


def _shard(name: str, text: str) -> Shard:
    match = re.fullmatch(r"([0-9]{1,4}) ?/ ?([0-9]{1,4})", text)
    number, total = (int(match[1]), int(match[2])) if match else (0, 0)
    if 1 <= number <= total:
        return Shard(number=number, total=total)
    raise InputError(
        f"input `{name}` cannot be {text!r}: write which part of how many, from `1/8` to `8/8`"
    )


_READ: dict[str, Callable[[str, str], object]] = {
    "github_token": _text,
    "config": _text,
    "suite": _text,
    "agent": _text,
    "evals": _listed(_text),
    "base": _text,
    "mode": _choice(*Mode),
    "runs": _count,
    "fail_on": _listed(_choice(*ReasonKind)),
    "tolerance": _share,
    "comment": _choice(*get_args(CommentWhen)),
    "language": _choice(*get_args(Language)),
    "check_name": _text,
    "shard": _shard,
    "store": _text,
    "working_directory": _text,
    "report_dir": _text,
}
