"""A judge's prompt: a template beside its criterion, and what fences untrusted words in it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parents[1]
REMOVED = "[mark removed]"


@dataclass(frozen=True)
class Prompt:
    """A template with its version. A changed text is a new version, asked anew."""

    template: str
    version: str
    folder: Path = TEMPLATES

    def render(self, data: Mapping[str, Any], fence: str) -> str:
        """The prompt's text, with everything in `data` fenced but what the question itself is.

        A template prints a value as `{{ block(value) }}`, between two lines of the fence, or,
        where it is part of the question, as `{{ quoted(value) }}`. Printed bare it is refused.
        """
        template = _environment(self.folder).get_template(self.template)
        wrapped = {key: _Unprinted(value) for key, value in data.items()}
        return template.render(
            wrapped,
            fence=fence,
            block=lambda value: _block(_opened(value), fence),
            quoted=lambda value: _without(fence, as_json(_opened(value))),
        )


@cache
def _environment(folder: Path) -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - a prompt is no HTML; the fence is what keeps words apart
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_printable,
    )


class _Unprinted:
    """A value that a template may test and loop over, but not print as it is."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __bool__(self) -> bool:
        return bool(self.value.strip() if isinstance(self.value, str) else self.value)

    def __iter__(self) -> Any:
        return (_Unprinted(item) for item in self.value)


def _printable(value: Any) -> Any:
    if isinstance(value, _Unprinted):
        message = "a prompt's template prints words of others outside the fence"
        raise TypeError(message)
    return value


def _opened(value: Any) -> Any:
    return value.value if isinstance(value, _Unprinted) else value


def _block(value: Any, fence: str) -> str:
    text = value if isinstance(value, str) else as_json(value, indent=2)
    return f"{fence}\n{_without(fence, text)}\n{fence}"


def _without(fence: str, text: str) -> str:
    """The fence is random, so this never happens by chance; it must not happen on purpose."""
    return text.replace(fence, REMOVED)


def as_json(value: Any, indent: int | None = None) -> str:
    """JSON that a judge reads as the words themselves, in any script."""
    return json.dumps(value, ensure_ascii=False, indent=indent, default=str)
