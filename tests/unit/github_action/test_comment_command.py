import pytest

from gradegate.github_action.comment_command import (
    Accept,
    Command,
    Misunderstood,
    Rerun,
    command_in,
)


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ("/gradegate rerun", Rerun()),
        ("\n  /gradegate   rerun  \r\nthanks!", Rerun()),
        (
            "/gradegate accept all: the new wording is fine",
            Accept(case="all", reason="the new wording is fine"),
        ),
        ("/gradegate accept paris it moved", Accept(case="paris", reason="it moved")),
        ('/gradegate accept "two words" as agreed', Accept(case="two words", reason="as agreed")),
        ("/gradegate accept paris", Misunderstood(why="accept")),
        ("/gradegate accept", Misunderstood(why="accept")),
        ("/gradegate rerun everything", Misunderstood()),
        ("/gradegate", Misunderstood()),
        ("/gradegate merge $(id)", Misunderstood()),
    ],
)
def test_the_first_line_is_the_command(body: str, command: Command) -> None:
    """What follows it is for people."""
    assert command_in(body) == command


@pytest.mark.parametrize(
    "body",
    [
        "",
        "Nice work",
        "> /gradegate accept all: quoted",
        "Try `/gradegate rerun`",
        "Please\n/gradegate accept all: yes",
        "/gradegates rerun",
        "<!-- -->/gradegate rerun",
        "/gradegate" + " " * 5000 + "rerun" * 5000,
    ],
)
def test_other_comments_are_none_of_ours(body: str) -> None:
    """A command that is quoted or hidden further down is not given."""
    assert not isinstance(command_in(body), Rerun | Accept)
