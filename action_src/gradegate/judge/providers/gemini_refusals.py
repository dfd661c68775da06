"""What Gemini refused, and what to write instead: the model, or a parameter of it."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gradegate.judge.providers.google_failures import google_failure
from gradegate.judge.providers.http_failures import BAD_REQUEST, NOT_FOUND, message_in
from gradegate.model.gemini_models import other_than
from gradegate.model.question import Question
from gradegate.ports import CallFailure

if TYPE_CHECKING:
    from google.auth.exceptions import GoogleAuthError
    from google.genai.errors import APIError


def refused(error: "APIError", question: Question[Any]) -> CallFailure:
    """The failure that an answer other than success means for this question."""
    headers = getattr(error.response, "headers", None) or {}
    failure = google_failure(error.code, error.details, headers)
    message = message_in(error.details)
    if error.code == NOT_FOUND:
        return failure._replace(reason=_unknown_model(question.model, message))
    parameters = blamed(question.model_config, message)
    if error.code != BAD_REQUEST or failure.for_all or not parameters:
        return failure
    named = ", ".join(f"`{name}`" for name in parameters)
    hint = f"`judge_model_config` sets {named}: remove what `{question.model}` does not take"
    return failure._replace(reason=f"{failure.reason} ({hint})")


def blamed(model_config: Mapping[str, Any], message: str) -> list[str]:
    """The parameters that a refusal is about; all that are set, where it names none of them.

    Newer models refuse budgets for thinking, penalties, and more than one candidate.
    """
    names = list(_leaves(model_config))
    said = _letters(message)
    named = [name for name in names if _letters(name.rpartition(".")[2]) in said]
    return named or names


def _leaves(config: Mapping[str, Any]) -> Iterator[str]:
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from (f"{key}.{inner}" for inner in _leaves(value))
        else:
            yield key


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def _unknown_model(model: str, message: str) -> str:
    return (
        f"the service has no model `{model}` for this key: write a current one, such as "
        f"`{other_than(model)}`, as `judge_model` in the eval config (its `judge_model_options`) "
        f"or as `model` under `[judge]` in gradegate.toml ({message or 'not found'})"
    )


def no_access(error: "GoogleAuthError") -> CallFailure:
    """The machine's credentials open nothing."""
    reason = (
        "no access to Vertex AI with the machine's credentials, such as the file that "
        f"GOOGLE_APPLICATION_CREDENTIALS names: {error}"
    )
    return CallFailure(reason, retryable=error.retryable, for_all=not error.retryable)
