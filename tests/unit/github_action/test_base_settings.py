"""A fork's report is shown as base wants it: read through the API, as nothing is checked out."""

from collections.abc import Iterator

import pytest

from gradegate.forges.github.forge import GitHubForge
from gradegate.github_action.base_settings import report_settings_of_base
from gradegate.github_action.inputs import Inputs
from gradegate.model.posting import Skipped
from gradegate.model.settings import ReportSettings
from tests.standins.github import JOB_TOKEN, GitHubStandIn

JAPANESE = '[report]\nlanguage = "ja"\ncomment = "failures"\n'


@pytest.fixture
def github() -> Iterator[GitHubStandIn]:
    """With a pull request onto main."""
    with GitHubStandIn() as standin:
        standin.add_pull_request(1, head_sha="a" * 40)
        yield standin


@pytest.fixture
def forge(github: GitHubStandIn) -> Iterator[GitHubForge]:
    """As the second workflow's token sees it."""
    with GitHubForge(JOB_TOKEN, github.url, "octo/agents", "gradegate") as forge:
        yield forge


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gradegate.toml", JAPANESE),
        ("pyproject.toml", JAPANESE.replace("[report]", "[tool.gradegate.report]")),
    ],
)
def test_base_says_how_a_forks_report_is_shown(
    github: GitHubStandIn, forge: GitHubForge, name: str, text: str
) -> None:
    """In its own file or in pyproject.toml; inputs count before both."""
    github.add_file(name, text)
    wanted = ReportSettings(language="ja", comment="failures")
    assert report_settings_of_base(forge, 1, Inputs()) == wanted
    given = report_settings_of_base(forge, 1, Inputs(comment="never"))
    assert given == wanted.model_copy(update={"comment": "never"})


def test_the_file_may_be_elsewhere(github: GitHubStandIn, forge: GitHubForge) -> None:
    """In a folder of a monorepo, or under another name."""
    github.add_file("services/desk/ci.toml", JAPANESE)
    inputs = Inputs(working_directory="services/desk", config="ci.toml")
    found = report_settings_of_base(forge, 1, inputs)
    assert found == ReportSettings(language="ja", comment="failures")


def test_without_a_file_or_a_pull_request_it_is_shown_as_by_default(
    github: GitHubStandIn, forge: GitHubForge
) -> None:
    """A pyproject.toml that says nothing of us is no file."""
    github.add_file("pyproject.toml", "[project]\nname = 'x'\n")
    assert report_settings_of_base(forge, 1, Inputs()) == ReportSettings()
    assert report_settings_of_base(forge, None, Inputs()) == ReportSettings()


def test_what_cannot_be_read_is_said(github: GitHubStandIn, forge: GitHubForge) -> None:
    """A broken file, or a token that may not read it."""
    github.add_file("gradegate.toml", "[report]\nlanguage = 3\n")
    found = report_settings_of_base(forge, 1, Inputs())
    assert isinstance(found, Skipped)
    assert "gradegate.toml:2:1" in found.reason
    github.allow(contents="none")
    found = report_settings_of_base(forge, 1, Inputs())
    assert isinstance(found, Skipped)
    assert "gradegate.toml of main" in found.reason
