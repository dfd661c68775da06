"""Which variables of the environment an agent may see, and under which names.

An agent runs the pull request's code, so the job's own token never gets there: not by its name,
and not by another variable that holds it.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from gradegate.model.errors import InputError

MODEL_VARIABLES = (
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_GEMINI_BASE_URL",
)
"""What google-genai reads. A suite that has no `env` at all, as where there is no
gradegate.toml, hands these on; without them no ADK agent could say a word."""

_OF_THE_RUNNER = re.compile(
    r"(ACTIONS|RUNNER|INPUT)_.*|GITHUB_(TOKEN|ACTION|ACTIONS|ACTION_(PATH|REF|REPOSITORY|STATUS)"
    r"|ACTOR|ACTOR_ID|API_URL|BASE_REF|ENV|EVENT_NAME|EVENT_PATH|GRAPHQL_URL|HEAD_REF|JOB|OUTPUT"
    r"|PATH|REF|REF_(NAME|PROTECTED|TYPE)|REPOSITORY|REPOSITORY_(ID|OWNER|OWNER_ID)|RETENTION_DAYS"
    r"|RUN_(ATTEMPT|ID|NUMBER)|SERVER_URL|SHA|STATE|STEP_SUMMARY|TRIGGERING_ACTOR"
    r"|WORKFLOW|WORKFLOW_(REF|SHA)|WORKSPACE)",
    re.IGNORECASE | re.DOTALL,
)
"""What GitHub's documentation lists as set by the runner, and the usual name of the token."""
_TOKENS = (
    "GITHUB_TOKEN",
    "INPUT_GITHUB-TOKEN",
    "ACTIONS_RUNTIME_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
)
_SHORTEST_TOKEN = 8


def _by_seen_name(value: Any) -> Any:
    """A list hands variables on under their own names."""
    if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
        value = own_names(*value)
    if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):
        message = (
            'must be a list of names, such as ["GOOGLE_API_KEY"], or a table of names that the '
            'agent sees and their names in the workflow, such as {"KEY" = "DESK_KEY"}'
        )
        raise ValueError(message)
    for name in (*value, *value.values()):
        if not name or "=" in name or "\0" in name:
            message = f"{name!r} cannot be the name of a variable: correct it"
            raise ValueError(message)
    for name in value.values():
        if is_the_runners(name):
            message = (
                f"must not name {name}, which the runner sets for the job itself: the agent runs "
                "the pull request's code; give it a variable of another name"
            )
            raise ValueError(message)
    return dict(value)


def _as_written(names: dict[str, str]) -> list[str] | dict[str, str]:
    return names if any(seen != name for seen, name in names.items()) else list(names)


Variables = Annotated[
    dict[str, str],
    BeforeValidator(_by_seen_name),
    PlainSerializer(_as_written),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"type": "string"}},
                {"type": "object", "additionalProperties": {"type": "string"}},
            ]
        }
    ),
]
"""The name that the agent sees → the variable's name in our environment."""


def own_names(*names: str) -> dict[str, str]:
    """These variables under their own names."""
    return {name: name for name in names}


def is_the_runners(name: str) -> bool:
    """Whether GitHub's runner sets this variable: it leads to the job's token, files or inputs."""
    return _OF_THE_RUNNER.fullmatch(name) is not None


def holding_a_token(names: Iterable[str], environ: Mapping[str, str]) -> str | None:
    """The first of these variables whose value has the job's token in it."""
    given = (environ.get(name, "") for name in _TOKENS)
    tokens = [token for token in given if len(token) >= _SHORTEST_TOKEN]
    return next((n for n in names if any(token in environ.get(n, "") for token in tokens)), None)


def refuse_tokens(names: Iterable[str], environ: Mapping[str, str]) -> None:
    """See that none of these variables would hand the job's token to an agent.

    Raises:
        InputError: one would; the message names it.
    """
    if (name := holding_a_token(names, environ)) is not None:
        raise InputError(
            f"`env` must not name {name}: its value is the job's own token, and the agent runs the "
            "pull request's code; give it a token of its own that can do less"
        )
