"""Limits, outages and wrong tokens: waited for, told, or blamed on whom they belong to."""

import socket
import time
from collections.abc import Callable

import pytest

from gradegate.forges.github.forge import GitHubForge
from gradegate.model.errors import ForgeError
from gradegate.model.marker import marker
from gradegate.model.posting import CheckOutput, Posted, Skipped
from tests.standins.github import (
    Fault,
    GitHubStandIn,
    broken_connection,
    cut_short,
    primary_limit,
    secondary_limit,
    server_error,
    slow,
)
from tests.standins.github.answer import Answer

OpenForge = Callable[..., GitHubForge]

SHA = "a" * 40
BODY = f"{marker('gradegate')}\nresult"
DONE = CheckOutput("success", "All well", "Nothing got worse.")


@pytest.mark.parametrize("status", [403, 429])
def test_a_secondary_limit_is_waited_for(
    github: GitHubStandIn, open_forge: OpenForge, status: int
) -> None:
    """GitHub says how long to wait; the request is then made again, not earlier."""
    github.add_pull_request()
    github.fail_next(secondary_limit(retry_after=1, status=status), method="POST")
    began = time.monotonic()
    forge = open_forge(patience_seconds=1.0)  # and no longer, or it would give up
    assert isinstance(forge.comment(1, BODY, create=True), Posted)
    assert time.monotonic() - began >= 1.0
    assert [comment.body for comment in github.comments(1)] == [BODY]


@pytest.mark.parametrize("status", [403, 429])
def test_a_primary_limit_is_waited_for(
    github: GitHubStandIn, open_forge: OpenForge, status: int
) -> None:
    """The limit's reset counts where GitHub does not say how long to wait."""
    github.add_commit(SHA)
    github.fail_next(primary_limit(resets_in=0.5, status=status), method="POST")
    began = time.monotonic()
    forge = open_forge(patience_seconds=3.0)  # longer is not waited, or it would give up
    assert isinstance(forge.complete_check(SHA, DONE), Posted)
    assert time.monotonic() - began >= 0.4


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(
    "limit",
    [
        lambda status: primary_limit(3600, status),
        lambda status: secondary_limit(3600, status),
        lambda status: secondary_limit(None, status),
    ],
    ids=["primary", "secondary", "secondary, unsaid"],
)
def test_a_wait_beyond_our_patience_is_told_at_once(
    github: GitHubStandIn,
    open_forge: OpenForge,
    limit: Callable[[int], Fault],
    status: int,
) -> None:
    """No job hangs for an hour; nor is a limit taken for a missing permission."""
    github.add_commit(SHA)
    github.fail_next(limit(status), method="POST", path="/check-runs")
    began = time.monotonic()
    outcome = open_forge(patience_seconds=50).complete_check(SHA, DONE)
    assert time.monotonic() - began < 50, "the patience is not used up first"
    assert len(github.asked("POST", "/check-runs")) == 1
    assert isinstance(outcome, Skipped)
    assert outcome.reason.startswith(f"check: HTTP {status}, and the next attempt would be in ")
    assert outcome.reason.endswith(" s, which is longer than we may wait")
    assert github.asked("POST", f"/statuses/{SHA}") == []


def test_patience_is_shared_by_all_requests(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """Many short waits may not add up to a long one."""
    github.add_pull_request()
    github.fail_next(secondary_limit(1), method="GET", path="/comments")
    github.fail_next(secondary_limit(1), method="POST", path="/comments")
    outcome = open_forge(patience_seconds=1.5).comment(1, BODY, create=True)
    assert outcome == Skipped(
        "comment: HTTP 403, and the next attempt would be in 1 s, which is longer than we may wait"
    )
    assert github.faults.pending == 0


def test_the_limit_that_github_counts(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """When the hour's requests are used up, posting is skipped and says so."""
    github.add_pull_request()
    github.limits.requests_per_hour = 2
    outcome = open_forge(patience_seconds=5).comment(1, BODY, create=True)
    assert isinstance(outcome, Skipped)
    assert outcome.reason.startswith("comment: HTTP 403, and the next attempt would be in 3")


@pytest.mark.parametrize(
    "trouble",
    [server_error(500), server_error(502), server_error(503), broken_connection(), slow(0.2)],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_passing_trouble_is_not_noticed(
    github: GitHubStandIn, open_forge: OpenForge, trouble: Fault, method: str
) -> None:
    """Reading and writing are tried again after an outage."""
    github.add_pull_request()
    github.fail_next(trouble, method=method)
    assert isinstance(open_forge().comment(1, BODY, create=True), Posted)
    assert [comment.body for comment in github.comments(1)] == [BODY]
    assert github.faults.pending == 0


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_passing_trouble_while_editing(
    github: GitHubStandIn, open_forge: OpenForge, method: str
) -> None:
    """So are editing and clearing up."""
    github.add_pull_request()
    for text in ("one", "two"):
        github.add_comment(1, "github-actions[bot]", f"{marker('gradegate')}\n{text}")
    github.fail_next(server_error(), method=method)
    assert isinstance(open_forge().comment(1, BODY, create=True), Posted)
    assert [comment.body for comment in github.comments(1)] == [BODY]
    assert github.faults.pending == 0


@pytest.mark.parametrize("trouble", [server_error, broken_connection])
def test_an_answer_that_got_lost_leaves_one_comment(
    github: GitHubStandIn, open_forge: OpenForge, trouble: Callable[..., Fault]
) -> None:
    """The comment was written, only we were not told: written again, then tidied up."""
    github.add_pull_request()
    github.fail_next(trouble(too_late=True), method="POST")
    assert isinstance(open_forge().comment(1, BODY, create=True), Posted)
    assert len(github.asked("POST", "/comments")) == 2
    assert [comment.body for comment in github.comments(1)] == [BODY]


def test_a_deletion_whose_answer_got_lost(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """What is gone already need not be deleted again."""
    github.add_pull_request()
    for text in ("one", "two"):
        github.add_comment(1, "github-actions[bot]", f"{marker('gradegate')}\n{text}")
    github.fail_next(server_error(too_late=True), method="DELETE")
    assert isinstance(open_forge().comment(1, BODY, create=True), Posted)
    assert [comment.body for comment in github.comments(1)] == [BODY]


def test_lasting_trouble_is_told(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """An outage longer than our patience is a reason, not an exception."""
    github.add_pull_request()
    github.fail_next(server_error(503), times=10)
    outcome = open_forge(patience_seconds=0.5).comment(1, BODY, create=True)
    assert outcome == Skipped(
        "comment: HTTP 503, and the next attempt would be in 1 s, which is longer than we may wait"
    )


def test_a_github_that_is_not_there_is_told(open_forge: OpenForge) -> None:
    """Nobody listens at the address."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        forge = open_forge(api_url=f"http://127.0.0.1:{port}", patience_seconds=0.5)
        outcome = forge.complete_check(SHA, DONE)
    assert isinstance(outcome, Skipped)
    assert outcome.reason.startswith("check: NewConnectionError, and the next attempt would be in")


def test_an_answer_that_is_not_githubs(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """A proxy in between may answer anything; that too is a reason, not an exception."""
    github.add_pull_request()
    github.fail_next(Fault(Answer(404, "<html>no such host</html>")), method="POST")
    outcome = open_forge().comment(1, BODY, create=True)
    assert outcome == Skipped("comment: no reason given (HTTP 404)")


def test_an_answer_that_ends_in_the_middle(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """Nobody knows what it would have said."""
    github.add_pull_request()
    github.fail_next(cut_short(), method="POST")
    outcome = open_forge().comment(1, BODY, create=True)
    assert isinstance(outcome, Skipped)
    assert outcome.reason.startswith("comment: GitHub did not answer (")
    assert github.url not in outcome.reason


ACTS: list[Callable[[GitHubForge], object]] = [
    lambda forge: forge.start_check(SHA),
    lambda forge: forge.complete_check(SHA, DONE),
    lambda forge: forge.comment(1, BODY, create=True),
    lambda forge: forge.find_pull_request("octo", "change", SHA),
    lambda forge: forge.label_set(1, "accept"),
    lambda forge: forge.may_write("mona"),
    lambda forge: forge.remembered(SHA),
]


@pytest.mark.parametrize("act", ACTS)
def test_a_wrong_token_is_the_users_mistake(
    github: GitHubStandIn, open_forge: OpenForge, act: Callable[[GitHubForge], object]
) -> None:
    """It ends the command with a message that says what to set, and does not show the token."""
    github.add_pull_request()
    with pytest.raises(ForgeError, match="github-token") as raised:
        act(open_forge(token="ghs_expired"))  # noqa: S106 - opens nothing at all
    assert raised.value.exit_code == 2
    assert "ghs_expired" not in str(raised.value)


def test_no_token_is_the_users_mistake(open_forge: OpenForge) -> None:
    """GitHub need not be asked to know that."""
    with pytest.raises(ForgeError, match="github-token"):
        open_forge(token="")


@pytest.mark.parametrize("name", ["agents", "octo/agents/x", "/agents", "octo/", ""])
def test_a_repository_is_owner_and_name(open_forge: OpenForge, name: str) -> None:
    """Anything else is said to be none."""
    with pytest.raises(ForgeError, match="owner/name"):
        open_forge(repository=name)


def test_what_we_are_prepared_for_makes_no_noise(
    github: GitHubStandIn, open_forge: OpenForge, caplog: pytest.LogCaptureFixture
) -> None:
    """The job's log does not speak of failed requests when all went as it should."""
    github.add_pull_request()
    github.allow(checks="none")
    forge = open_forge()
    forge.complete_check(SHA, DONE)
    forge.comment(1, BODY, create=True)
    assert caplog.messages == []
