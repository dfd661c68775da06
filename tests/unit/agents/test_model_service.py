"""Whose trouble it is, told by what the libraries of models really raise."""

import socket

import httpx
import pytest
from google import genai
from google.auth.exceptions import DefaultCredentialsError
from google.genai import types

from gradegate.agents.adk_worker.gradegate_worker.model_service import trouble
from tests.standins.gemini import Fault, GeminiStandin, always
from tests.standins.gemini.server import KEY


def closed_port() -> str:
    """An address at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def asked(url: str, key: str | None = KEY, model: str = "gemini-2.5-flash") -> Exception:
    """What comes of asking a model once."""
    options = types.HttpOptions(base_url=url)
    with pytest.raises(Exception) as raised:  # noqa: PT011, PT012 - which one is what is asked
        client = genai.Client(api_key=key, vertexai=False, http_options=options)
        client.models.generate_content(model=model, contents="hello")
    return raised.value


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault.FORBIDDEN, "credentials"),
        (Fault.BUSY, "quota"),
        (Fault.UNAVAILABLE, "network"),
        (Fault.BROKEN, "network"),
        (Fault.RESET, "network"),
        (Fault.REFUSED, None),
    ],
)
def test_a_service_that_cannot_be_used_is_not_the_agent(fault: Fault, told: str | None) -> None:
    """A request that is wrong is the agent's own."""
    with GeminiStandin(lambda _: "hi", faults=always(fault)) as model:
        assert trouble(asked(model.url)) == told


def test_a_service_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """No network, no key, no account."""
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert trouble(asked(closed_port())) == "network"
    assert trouble(asked(closed_port(), key=None)) == "credentials"
    assert trouble(DefaultCredentialsError("none")) == "credentials"  # type: ignore[no-untyped-call] # theirs


def test_a_model_that_does_not_exist_is_the_agents_own_choice() -> None:
    """Head may have named it."""
    with GeminiStandin(lambda _: "hi") as model:
        assert trouble(asked(model.url, model="no-such-model")) is None


def test_what_the_agent_wraps_is_found_and_what_its_tools_raise_is_its_own() -> None:
    """Only what comes out of a model's library says anything of the model's service."""
    wrapped = RuntimeError("no answer")
    wrapped.__cause__ = asked(closed_port())
    assert trouble(wrapped) == "network"
    with pytest.raises(httpx.ConnectError) as of_a_tool:
        httpx.get(closed_port())
    assert trouble(of_a_tool.value) is None
    assert trouble(ValueError("no key")) is None
