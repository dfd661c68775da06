"""Where Gemini is and what opens it, read from an environment handed in.

google-genai reads the process's own environment for whatever it is not told; so it is told
all of it, and what is not handed in stays unset.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from google.genai import Client

_TRUE = frozenset(("1", "true"))
_GEMINI_URL = "https://generativelanguage.googleapis.com/"
_MULTI_REGIONS = frozenset(("us", "eu"))

_WHERE = "under the step's `env:` in the workflow, or in the shell"
_NO_KEY = (
    f"there is no judge: set GOOGLE_API_KEY (a Gemini API key) {_WHERE}; for Vertex AI set "
    "GOOGLE_GENAI_USE_VERTEXAI=true, GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION instead"
)
_NO_PROJECT = (
    "there is no judge: GOOGLE_GENAI_USE_VERTEXAI is set, but GOOGLE_CLOUD_PROJECT is not: "
    f"set it, and GOOGLE_CLOUD_LOCATION, {_WHERE}"
)


@dataclass(frozen=True)
class Access:
    """An endpoint with an API key, or with a project that the machine's credentials open.

    Those are Google's application default credentials: a file that
    GOOGLE_APPLICATION_CREDENTIALS names, or the identity of the machine itself.
    """

    vertex: bool
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    project: str | None = None
    location: str | None = None

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Access | str":
        """Read the variables that google-genai knows, or say which one to set."""
        given = {name: value.strip() for name, value in environ.items() if value.strip()}
        key = given.get("GOOGLE_API_KEY") or given.get("GEMINI_API_KEY")
        if not _uses_vertex(given):
            url = given.get("GOOGLE_GEMINI_BASE_URL", _GEMINI_URL)
            return cls(vertex=False, base_url=url, api_key=key) if key else _NO_KEY
        project = given.get("GOOGLE_CLOUD_PROJECT")
        if project:
            location = given.get("GOOGLE_CLOUD_LOCATION", "global")
            return cls(
                vertex=True,
                base_url=given.get("GOOGLE_VERTEX_BASE_URL", _vertex_url(location)),
                project=project,
                location=location,
            )
        url = given.get("GOOGLE_VERTEX_BASE_URL", _vertex_url("global"))
        return cls(vertex=True, base_url=url, api_key=key) if key else _NO_PROJECT

    def client(self, session: "ClientSession") -> "Client":
        """A client over this session that never tries again on its own."""
        from google.genai import Client
        from google.genai.types import HttpOptions, HttpRetryOptions

        # Told of one attempt it leaves trying again to us; told nothing, it repeats a request
        # whose connection broke by itself, after up to ten seconds.
        options = HttpOptions(
            base_url=self.base_url,
            retry_options=HttpRetryOptions(attempts=1),
            aiohttp_client=session,
        )
        return Client(
            vertexai=self.vertex,
            api_key=self.api_key,
            project=self.project,
            location=self.location,
            http_options=options,
        )


def _uses_vertex(given: Mapping[str, str]) -> bool:
    word = given.get("GOOGLE_GENAI_USE_ENTERPRISE") or given.get("GOOGLE_GENAI_USE_VERTEXAI", "")
    return word.lower() in _TRUE


def _vertex_url(location: str) -> str:
    if location == "global":
        return "https://aiplatform.googleapis.com/"
    if location in _MULTI_REGIONS:
        return f"https://aiplatform.{location}.rep.googleapis.com/"
    return f"https://{location}-aiplatform.googleapis.com/"
