"""Which Gemini model judges by default, and which are or will be shut down.

From https://ai.google.dev/gemini-api/docs/deprecations and, for Vertex AI, from
https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/model-versions.
"""

import re
from datetime import date
from fnmatch import fnmatchcase
from typing import NamedTuple

DEFAULT_JUDGE = "gemini-3.5-flash-lite"
"""Google's own replacement for gemini-2.5-flash at about its price, promised on Vertex AI until
July 2027. A judge answers the same short question many times: a stronger model costs several times
as much and thinks longer."""
STRONGER = "gemini-3.8-flash"
AS_OF = date(2026, 11, 10)
"""When the table was last compared with Google's."""

_NUMBER = re.compile(r"-\d{3}$")


class Shutdown(NamedTuple):
    """The day a model is shut down, and the model to use instead."""

    day: date
    instead: str
    on_vertex: date | None = None
    """Vertex AI's own day, where that is another."""


_SHUTDOWNS: tuple[tuple[str, Shutdown], ...] = (
    ("gemini-1.*-pro*", Shutdown(date(2025, 9, 29), STRONGER)),
    ("gemini-1.*-flash*", Shutdown(date(2025, 9, 29), DEFAULT_JUDGE)),
    ("gemini-2.0-flash", Shutdown(date(2026, 6, 1), DEFAULT_JUDGE)),
    ("gemini-2.0-flash-lite", Shutdown(date(2026, 6, 1), DEFAULT_JUDGE)),
    ("gemini-2.5-flash", Shutdown(date(2026, 12, 1), DEFAULT_JUDGE, date(2026, 10, 16))),
    ("gemini-2.5-pro", Shutdown(date(2026, 12, 1), STRONGER, date(2026, 10, 16))),
    ("gemini-2.5-pro-preview-0*", Shutdown(date(2025, 12, 2), STRONGER)),
    ("gemini-2.5-flash-preview-09-*", Shutdown(date(2026, 2, 17), DEFAULT_JUDGE)),
    ("gemini-3-pro-preview", Shutdown(date(2026, 3, 9), STRONGER)),
    ("gemini-3.1-flash-lite-preview", Shutdown(date(2026, 5, 25), DEFAULT_JUDGE)),
)
"""Names with `*` for any characters; a version number such as `-001` is left out."""


def shutdown_of(model: str) -> Shutdown | None:
    """When and by what a model is replaced; None for models that stay, and for unknown ones."""
    name = _NUMBER.sub("", model.rpartition("/")[2])
    found = (shutdown for pattern, shutdown in _SHUTDOWNS if fnmatchcase(name, pattern))
    return next(found, None)


def other_than(model: str) -> str:
    """A current model to suggest where this one was refused."""
    shutdown = shutdown_of(model)
    suggested = shutdown.instead if shutdown else DEFAULT_JUDGE
    return suggested if suggested != model.rpartition("/")[2] else STRONGER
