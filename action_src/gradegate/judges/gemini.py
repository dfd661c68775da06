"""Gemini as a judge, through google-genai: with an API key or a Vertex AI project."""

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from gradegate.judges.access import Access
from gradegate.judges.schema import response_schema
from gradegate.judges.trouble import refusal
from gradegate.model.question import PlainText, Question
from gradegate.ports import Reply, Trouble

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from google.auth.exceptions import GoogleAuthError
    from google.genai import Client
    from google.genai.types import Candidate, GenerateContentConfig, GenerateContentResponse

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


class GeminiAnswerer:
    """Asks Gemini one question once; every request has a fence of its own."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._opened: tuple[Client, ClientSession] | None = None

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "GeminiAnswerer | str":
        """The judge that the environment gives access to, or which variable to set."""
        access = Access.from_environ(environ)
        return access if isinstance(access, str) else cls(access)

    async def answer(self, question: Question[Any], sample: int) -> Reply | Trouble:
        """Answer; the service itself tells repeated askings apart."""
        del sample
        config = request_config(question)
        if isinstance(config, str):
            return Trouble(f"`judge_model_config`: {config}", may_pass=False)
        prompt = question.render(secrets.token_hex(_FENCE_BYTES))
        outcome = await self._generate(question.model, sendable(prompt), config)
        key = self._access.api_key
        if isinstance(outcome, Trouble) and key:
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
        self, model: str, prompt: str, config: "GenerateContentConfig"
    ) -> Reply | Trouble:
        from aiohttp import ClientError
        from google.auth.exceptions import GoogleAuthError
        from google.genai.errors import APIError

        try:
            response = await self._client().aio.models.generate_content(
                model=model, contents=prompt, config=config
            )
        except APIError as error:
            headers = getattr(error.response, "headers", None) or {}
            return refusal(error.code, error.details, headers, model)
        except GoogleAuthError as error:
            return _no_access(error)
        except (ClientError, OSError) as error:
            return Trouble(f"the connection broke: {_described(error)}", may_pass=True)
        except ValueError as error:  # JSON that is cut off, or not what the API promises
            return Trouble(f"the service sent something unreadable: {error}", may_pass=True)
        return read_response(response)


def load_sdk() -> None:
    """Import google-genai. It takes seconds: for a thread, while agents are still at work."""
    import google.genai  # noqa: F401 - so that it is there


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


def _no_access(error: "GoogleAuthError") -> Trouble:
    reason = (
        "no access to Vertex AI with the machine's credentials, such as the file that "
        f"GOOGLE_APPLICATION_CREDENTIALS names: {error}"
    )
    return Trouble(reason, may_pass=error.retryable, for_all=not error.retryable)


def _described(error: Exception) -> str:
    return str(error) or type(error).__name__
