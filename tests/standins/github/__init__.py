"""A GitHub to test against: real HTTP on loopback, with state, and as strict as the real one.

    with GitHubStandIn() as github:
        pull_request = github.add_pull_request(head_sha="a" * 40)
        …                                   # let the code under test talk to github.url
        assert github.comments(pull_request.number)[0].body == "…"
        assert github.violations == []

As a program: `python -m tests.standins.github --port 8080` (see `__main__`).
"""

from tests.standins.github.faults import (
    Fault,
    broken_connection,
    cut_short,
    primary_limit,
    secondary_limit,
    server_error,
    slow,
)
from tests.standins.github.model import JOB_TOKEN, PERSONAL_TOKEN, Actor, CheckRun, Comment
from tests.standins.github.standin import GitHubStandIn

__all__ = [
    "JOB_TOKEN",
    "PERSONAL_TOKEN",
    "Actor",
    "CheckRun",
    "Comment",
    "Fault",
    "GitHubStandIn",
    "broken_connection",
    "cut_short",
    "primary_limit",
    "secondary_limit",
    "server_error",
    "slow",
]
