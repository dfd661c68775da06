from typing import Any

import pytest
from pydantic import ValidationError

from gradegate.model.errors import InputError
from gradegate.model.settings import Suite
from gradegate.model.variables import holding_a_token, is_the_runners, refuse_tokens


def suite(env: Any) -> Suite:
    """A suite with this `env`."""
    return Suite.model_validate({"name": "desk", "command": ["x"], "env": env})


@pytest.mark.parametrize(
    ("written", "sees"),
    [
        ([], {}),
        (["KEY"], {"KEY": "KEY"}),
        ({"KEY": "DESK_KEY"}, {"KEY": "DESK_KEY"}),
        ({"GITHUB_TOKEN": "BOT"}, {"GITHUB_TOKEN": "BOT"}),
        (
            ["GITHUB_PERSONAL_ACCESS_TOKEN"],
            {"GITHUB_PERSONAL_ACCESS_TOKEN": "GITHUB_PERSONAL_ACCESS_TOKEN"},
        ),
    ],
)
def test_a_list_names_and_a_table_renames(written: Any, sees: dict[str, str]) -> None:
    """The name that the agent sees is the key; what is written comes back as it was."""
    made = suite(written)
    assert made.variables == sees
    assert made.model_dump(mode="json")["env"] == written


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("KEY", "must be a list of names"),
        ([1], "must be a list of names"),
        ({"KEY": 1}, "must be a list of names"),
        ([""], "cannot be the name of a variable"),
        (["A=B"], "cannot be the name of a variable"),
        ({"KEY\0": "A"}, "cannot be the name of a variable"),
        (["GITHUB_TOKEN"], "must not name GITHUB_TOKEN"),
        ({"KEY": "GITHUB_TOKEN"}, "must not name GITHUB_TOKEN"),
        ({"KEY": "INPUT_GITHUB-TOKEN"}, "must not name INPUT_GITHUB-TOKEN"),
    ],
)
def test_what_cannot_be_handed_on_is_refused(written: Any, why: str) -> None:
    """By a message that says what to write."""
    with pytest.raises(ValidationError, match=why):
        suite(written)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("GITHUB_TOKEN", True),
        ("github_token", True),
        ("GITHUB_OUTPUT", True),
        ("GITHUB_REPOSITORY_OWNER_ID", True),
        ("ACTIONS_RUNTIME_TOKEN", True),
        ("RUNNER_TEMP", True),
        ("INPUT_ANYTHING", True),
        ("GITHUB_PERSONAL_ACCESS_TOKEN", False),
        ("GITHUB_APP_ID", False),
        ("MY_GITHUB_TOKEN", False),
        ("RUNNERS", False),
    ],
)
def test_what_the_runner_sets_is_its_own(name: str, *, theirs: bool) -> None:
    """Names that only look like it are anybody's."""
    assert is_the_runners(name) is theirs


@pytest.mark.parametrize("holder", ["GITHUB_TOKEN", "INPUT_GITHUB-TOKEN", "ACTIONS_RUNTIME_TOKEN"])
def test_the_jobs_token_goes_nowhere_under_any_name(holder: str) -> None:
    """Alone or within a longer value; an empty token is none."""
    environ = {holder: "ghs_0123456789", "A": "bearer ghs_0123456789", "B": "ghs_other_one"}
    assert holding_a_token(["B", "A"], environ) == "A"
    assert holding_a_token(["B", "UNSET"], environ) is None
    assert holding_a_token(["A"], {**environ, holder: ""}) is None
    with pytest.raises(InputError, match="must not name A: its value is the job's own token"):
        refuse_tokens(["A"], environ)
