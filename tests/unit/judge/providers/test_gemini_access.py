"""Where the judge is: said by the environment handed in, and by nothing else."""

import pytest

from gradegate.judge.providers.gemini import Access

KEY = {"GOOGLE_API_KEY": "k"}
VERTEX = {"GOOGLE_GENAI_USE_VERTEXAI": "True"}
PROJECT = {**VERTEX, "GOOGLE_CLOUD_PROJECT": "p"}


@pytest.mark.parametrize(
    ("environ", "access"),
    [
        (KEY, Access(vertex=False, base_url="https://generativelanguage.googleapis.com/")),
        (
            {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": "https://proxy.example"},
            Access(vertex=False, base_url="https://proxy.example"),
        ),
        (
            {**KEY, "GOOGLE_GENAI_USE_VERTEXAI": "false", "GOOGLE_CLOUD_PROJECT": "p"},
            Access(vertex=False, base_url="https://generativelanguage.googleapis.com/"),
        ),
        (
            {**PROJECT, "GOOGLE_CLOUD_LOCATION": "europe-west4"},
            Access(
                vertex=True,
                base_url="https://europe-west4-aiplatform.googleapis.com/",
                project="p",
                location="europe-west4",
            ),
        ),
        (
            PROJECT,
            Access(
                vertex=True,
                base_url="https://aiplatform.googleapis.com/",
                project="p",
                location="global",
            ),
        ),
        (
            {**PROJECT, "GOOGLE_CLOUD_LOCATION": "eu"},
            Access(
                vertex=True,
                base_url="https://aiplatform.eu.rep.googleapis.com/",
                project="p",
                location="eu",
            ),
        ),
        ({**VERTEX, **KEY}, Access(vertex=True, base_url="https://aiplatform.googleapis.com/")),
    ],
)
def test_the_endpoint_is_always_said_outright(environ: dict[str, str], access: Access) -> None:
    """So that google-genai has nothing left to look up by itself; the key stays hidden."""
    found = Access.from_environ(environ)
    assert repr(found) == repr(access)
    assert isinstance(found, Access)
    assert found.api_key == (None if found.project else "k")
