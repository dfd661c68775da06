"""Where Vertex AI's evaluation service is and what opens it, read from an environment handed in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = "GOOGLE_CLOUD_PROJECT"
LOCATION = "GOOGLE_CLOUD_LOCATION"
KEY = "GOOGLE_API_KEY"
BASE_URL = "GRADEGATE_VERTEX_BASE_URL"
CREDENTIALS = "GOOGLE_APPLICATION_CREDENTIALS"
DOTENV = ".env"

_WHERE = (
    "under the step's `env:` in the workflow, in the shell, or in the `.env` of the agent's folder"
)
_NOTHING = (
    "this criterion is scored by Vertex AI's evaluation service, and nothing says whose: set "
    f"{PROJECT} and {LOCATION} {_WHERE} (or {KEY}, for Vertex AI's express mode)"
)
_OTHER = {PROJECT: LOCATION, LOCATION: PROJECT}


@dataclass(frozen=True)
class VertexAccess:
    """A project that credentials open, or a key of Vertex AI's express mode.

    Without a file of credentials, the machine's own are taken (Google's default credentials).
    """

    project: str | None = None
    location: str | None = None
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    credentials: str | None = None
    """A file."""

    @classmethod
    def from_environ(
        cls, environ: Mapping[str, str], folders: Iterable[Path] = ()
    ) -> "VertexAccess | str":
        """Read what the environment says, or say which variable to set.

        `folders` are those of the agents: a `.env` there may name project and location.
        """
        given = {name: value.strip() for name, value in environ.items() if value.strip()}
        where = {**project_in(folders), **given}
        base_url = given.get(BASE_URL)
        named = [name for name in (PROJECT, LOCATION) if name in where]
        if len(named) == len(_OTHER):
            return cls(
                project=where[PROJECT],
                location=where[LOCATION],
                base_url=base_url,
                credentials=given.get(CREDENTIALS),
            )
        if named:
            missing = _OTHER[named[0]]
            return f"{named[0]} is set and {missing} is not: set it {_WHERE}"
        key = given.get(KEY)
        return cls(api_key=key, base_url=base_url) if key else _NOTHING


def project_in(folders: Iterable[Path]) -> dict[str, str]:
    """Project and location, and nothing else, from the first `.env` that names them.

    The file belongs to the repository: neither keys nor endpoints are taken from it.
    """
    found: dict[str, str] = {}
    for folder in folders:
        file = folder / DOTENV
        if file.is_file():
            said = _assignments(file.read_text(encoding="utf-8", errors="replace"))
            for name in (PROJECT, LOCATION):
                if said.get(name):
                    found.setdefault(name, said[name])
    return found


def _assignments(text: str) -> dict[str, str]:
    """`NAME=value` by line, with or without `export`, quotes and a remark behind."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals:
            found[name.strip()] = _unquoted(value.strip())
    return found


def _unquoted(value: str) -> str:
    for quote in ('"', "'"):
        if value.startswith(quote):
            return value[1:].partition(quote)[0]
    return value.partition(" #")[0].strip()
