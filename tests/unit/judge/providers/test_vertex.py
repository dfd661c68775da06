"""Where Vertex AI is: said by the environment, and in part by the agent's `.env`."""

import os
from pathlib import Path

import pytest

from gradegate.judge.providers.vertex import VertexAccess

BOTH = {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "us-central1"}


def test_a_project_and_its_location_open_it() -> None:
    """With the machine's credentials, or a file of them; a key is not needed then."""
    environ = {
        **BOTH,
        "GOOGLE_API_KEY": "k",
        "GOOGLE_APPLICATION_CREDENTIALS": "/account.json",
        "GRADEGATE_VERTEX_BASE_URL": "https://proxy",
    }
    access = VertexAccess.from_environ(environ)
    assert access == VertexAccess(
        project="p", location="us-central1", base_url="https://proxy", credentials="/account.json"
    )


@pytest.mark.parametrize(
    ("environ", "missing"),
    [
        ({"GOOGLE_CLOUD_PROJECT": "p"}, "GOOGLE_CLOUD_LOCATION is not"),
        ({"GOOGLE_CLOUD_LOCATION": "l", "GOOGLE_API_KEY": "k"}, "GOOGLE_CLOUD_PROJECT is not"),
        ({}, "set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION"),
        ({"GOOGLE_CLOUD_PROJECT": "  "}, "set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION"),
    ],
)
def test_what_is_missing_is_named_with_where_to_set_it(
    environ: dict[str, str], missing: str
) -> None:
    """A key is no way around half a project: it is most likely Gemini's."""
    access = VertexAccess.from_environ(environ)
    assert isinstance(access, str)
    assert missing in access
    assert "`env:` in the workflow" in access


def test_a_key_alone_is_tried() -> None:
    """Vertex AI's express mode; the key is hidden wherever the value is shown."""
    access = VertexAccess.from_environ({"GOOGLE_API_KEY": "secret"})
    assert access == VertexAccess(api_key="secret")
    assert "secret" not in repr(access)


def test_the_agents_dotenv_says_project_and_location_and_nothing_else(tmp_path: Path) -> None:
    """It is the repository's file: whatever else it says is not for us."""
    (tmp_path / ".env").write_text(
        "# where\n"
        'export GOOGLE_CLOUD_PROJECT="from file"\n'
        "GOOGLE_CLOUD_LOCATION=europe-west4 # near\n"
        "GOOGLE_APPLICATION_CREDENTIALS=/theirs.json\n"
        "GRADEGATE_VERTEX_BASE_URL=https://theirs\n"
        "GOOGLE_API_KEY=theirs\n"
    )
    before = dict(os.environ)
    access = VertexAccess.from_environ({}, [tmp_path / "none", tmp_path])
    assert access == VertexAccess(project="from file", location="europe-west4")
    assert dict(os.environ) == before


def test_the_environment_comes_before_the_dotenv(tmp_path: Path) -> None:
    """Each of the two by itself."""
    (tmp_path / ".env").write_text("GOOGLE_CLOUD_PROJECT='p2'\nGOOGLE_CLOUD_LOCATION=l2\n")
    access = VertexAccess.from_environ({"GOOGLE_CLOUD_PROJECT": "p1"}, [tmp_path])
    assert access == VertexAccess(project="p1", location="l2")
