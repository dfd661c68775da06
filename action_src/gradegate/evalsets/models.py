"""Models that are or will be shut down, where a text names one as a value."""

import re
from collections.abc import Iterator

from gradegate.files.findings import Finding
from gradegate.model.gemini_models import AS_OF, Shutdown, shutdown_of
from gradegate.model.notice import notice

_VALUE = re.compile(
    r"""(?:["']|[:=]\s*)(?:[\w./-]*/)?(gemini-\d[a-z0-9.-]*)(?=["'\s,}\]]|$)""", re.MULTILINE
)


def shut_down_models(name: str, text: str) -> Iterator[Finding]:
    """A warning for each such model of a file, at the first place that names it."""
    named: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("#"):
            continue
        for found in _VALUE.finditer(line):
            model = found[1]
            shutdown = shutdown_of(model)
            if shutdown and model not in named:
                named.add(model)
                told = notice(
                    "model.shutdown",
                    model=model,
                    day=_days(shutdown),
                    instead=shutdown.instead,
                    as_of=AS_OF,
                )
                yield Finding.at(name, (number, found.start(1) + 1), "warning", told)


def _days(shutdown: Shutdown) -> str:
    elsewhere = f" (Vertex AI: {shutdown.on_vertex})" if shutdown.on_vertex else ""
    return f"{shutdown.day}{elsewhere}"
