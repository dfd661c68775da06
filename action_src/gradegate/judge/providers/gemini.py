"""Gemini as a judge, through google-genai: with an API key or a Vertex AI project.

google-genai reads the process's own environment for whatever it is not told; so it is told
all of it, and what is not handed in stays unset. It takes seconds to import, so it is imported
where it is used, first by `open_provider`.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from gradegate.judge.providers.gemini_refusals import no_access, refused
from gradegate.judge.providers.http_failures import connection_failure, unreadable_response
from gradegate.model.question import PlainText, Question
from gradegate.model.settings import JudgeSettings
from gradegate.ports import CallFailure, Reply

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from google.genai import Client
    from google.genai.types import Candidate, GenerateContentConfig, GenerateContentResponse

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
_FENCE_BYTES = 16
_HIDDEN = "***"
_NOT_TO_SET = {
    "http_options": "endpoints and headers come from the workflow's environment alone",
    "tools": "a judge goes by what it is shown",
    "tool_config": "a judge goes by what it is shown",
    "automatic_function_calling": "a judge goes by what it is shown",
    "should_return_http_response": "the answer could not be read",
}
_OURS = ("response_mime_type", "response_schema", "response_json_schema", "candidate_count")
_TAKEN = frozenset(
    (
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "items",
        "maxItems",
        "minItems",
        "maximum",
        "minimum",
        "properties",
        "required",
        "type",
    )
)
"""The service answers 400 to some of the other keywords, and ignores the rest."""


def open_provider(
    environ: Mapping[str, str], _folders: Sequence[Path], _settings: JudgeSettings
) -> "GeminiProvider | str":
    """The provider, its SDK imported; where there is no access, which variable to set."""
    provider = GeminiProvider.from_environ(environ)
    if not isinstance(provider, str):
        import google.genai  # noqa: F401 - so that it is there
    return provider


class GeminiProvider:
    """Asks Gemini one question once; every request has a fence of its own."""

    def __init__(self, access: "Access") -> None:
        self._access = access
        self._opened: tuple[Client, ClientSession] | None = None

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "GeminiProvider | str":
        """The judge that the environment gives access to, or which variable to set."""
        access = Access.from_environ(environ)
        return access if isinstance(access, str) else cls(access)

    async def answer(self, question: Question[Any], sample: int) -> Reply | CallFailure:
        """Answer; the service itself tells repeated askings apart."""
        del sample
        config = request_config(question)
        if isinstance(config, str):
            return CallFailure(f"`judge_model_config`: {config}", retryable=False)
        prompt = question.render(secrets.token_hex(_FENCE_BYTES))
        outcome = await self._generate(question, sendable(prompt), config)
        key = self._access.api_key
        if isinstance(outcome, CallFailure) and key:
            return outcome._replace(reason=outcome.reason.replace(key, _HIDDEN))
        return outcome

    async def close(self) -> None:
        """Close the connections."""
        if self._opened is not None:
            client, session = self._opened
            self._opened = None
            await session.close()
            await client.aio.aclose()
            client.close()

    def _client(self) -> "Client":
        """The client, opened with the first question: its session belongs to the loop."""
        if self._opened is None:
            from aiohttp import ClientSession, TCPConnector

            session = ClientSession(connector=TCPConnector(limit=0), trust_env=True)
            self._opened = self._access.client(session), session
        return self._opened[0]

    async def _generate(
        self, question: Question[Any], prompt: str, config: "GenerateContentConfig"
    ) -> Reply | CallFailure:
        from aiohttp import ClientError
        from google.auth.exceptions import GoogleAuthError
        from google.genai.errors import APIError

        try:
            response = await self._client().aio.models.generate_content(
                model=question.model, contents=prompt, config=config
            )
        except APIError as error:
            return refused(error, question)
        except GoogleAuthError as error:
            return no_access(error)
        except (ClientError, OSError) as error:
            return connection_failure(error)
        except ValueError as error:  # JSON that is cut off, or not what the API promises
            return unreadable_response(error)
        return read_response(response)


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


def request_config(question: Question[Any]) -> "GenerateContentConfig | str":
    """The user's own settings and the form of the answer, which is ours to say.

    A string says what is wrong with the settings.
    """
    from google.genai.types import GenerateContentConfig

    try:
        config = GenerateContentConfig.model_validate(dict(question.model_config))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return f"`{'.'.join(str(part) for part in first['loc'])}`: {first['msg']}"
    for name, why in _NOT_TO_SET.items():
        if getattr(config, name) is not None:
            return f"remove `{name}`: {why}"
    form: dict[str, Any] = dict.fromkeys(_OURS)
    answer: type[BaseModel] = question.answer
    if not issubclass(answer, PlainText):
        form["response_mime_type"] = "application/json"
        form["response_json_schema"] = response_schema(answer)
    return config.model_copy(update=form)


def sendable(text: str) -> str:
    """The text with each half of a surrogate pair, which no JSON may carry, replaced."""
    return text.encode("utf-8", "replace").decode()


@cache
def response_schema(answer: type[BaseModel]) -> dict[str, Any]:
    """The schema without references, its properties in the order in which to write them."""
    schema = answer.model_json_schema()
    return _plain(schema, schema.get("$defs", {}))


def _plain(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].removeprefix("#/$defs/")], definitions)
    plain = {key: value for key, value in schema.items() if key in _TAKEN}
    if "const" in schema:
        plain["enum"] = [schema["const"]]
    if "properties" in schema:
        named = {name: _plain(each, definitions) for name, each in schema["properties"].items()}
        plain |= {"properties": named, "propertyOrdering": list(named)}
    if isinstance(schema.get("items"), dict):
        plain["items"] = _plain(schema["items"], definitions)
    if "anyOf" in schema:
        plain["anyOf"] = [_plain(each, definitions) for each in schema["anyOf"]]
    return plain


def read_response(response: "GenerateContentResponse") -> Reply:
    """What was said, or why there is nothing to read."""
    usage = response.usage_metadata
    asked = (usage and usage.prompt_token_count) or 0
    said = (usage and usage.candidates_token_count) or 0
    thought = (usage and usage.thoughts_token_count) or 0
    candidate = response.candidates[0] if response.candidates else None
    text = _text(candidate)
    return Reply(text, asked, said + thought, unusable=_why_unusable(response, candidate, text))


def _why_unusable(
    response: "GenerateContentResponse", candidate: "Candidate | None", text: str
) -> str | None:
    feedback = response.prompt_feedback
    if feedback and feedback.block_reason:
        return f"the service blocked the question ({feedback.block_reason.value})"
    if candidate is None:
        return "the service answered without a candidate"
    finish = candidate.finish_reason.value if candidate.finish_reason else "STOP"
    if finish == "MAX_TOKENS":
        return "the answer was cut off (MAX_TOKENS): raise `max_output_tokens` of the judge"
    if finish != "STOP":
        return f"the service withheld the answer ({finish})"
    return None if text.strip() else "the answer is empty"


def _text(candidate: "Candidate | None") -> str:
    parts = (candidate.content.parts if candidate and candidate.content else None) or []
    return "".join(part.text for part in parts if part.text and not part.thought)
