"""What the API says about a pull request where the event does not."""

from collections.abc import Callable

import pytest

from gradegate.forges.github.forge import GitHubForge
from gradegate.model.errors import ForgeError
from tests.standins.github import GitHubStandIn

OpenForge = Callable[..., GitHubForge]

SHA = "a" * 40
OTHER = "b" * 40


def test_found_by_branch_and_commit(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """The owner, the branch and the commit must all be the head's."""
    github.add_pull_request(1, head_sha=OTHER, branch="change", owner="octo")
    github.add_pull_request(2, head_sha=SHA, branch="change", owner="a-fork")
    assert open_forge().find_pull_request("a-fork", "change", SHA) == 2
    assert github.asked("GET", "/pulls")[0].query["head"] == "a-fork:change"


def test_a_branch_that_moved_on_is_found_by_none(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """The result of an older commit is not posted as if it were the head's."""
    github.add_pull_request(1, head_sha=OTHER)
    github.add_commit(SHA)
    assert open_forge().find_pull_request("octo", "change", SHA) is None


def test_found_by_commit_where_the_branch_was_renamed(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """The commit alone is enough."""
    github.add_pull_request(3, head_sha=SHA, branch="renamed")
    assert open_forge().find_pull_request("octo", "change", SHA) == 3


def test_an_open_one_before_a_newer_closed_one(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """One branch may have several; the open one is where people look."""
    github.add_pull_request(1, head_sha=SHA, state="open")
    github.add_pull_request(2, head_sha=SHA, state="closed")
    assert open_forge().find_pull_request("octo", "change", SHA) == 1


def test_the_newest_of_closed_ones(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """Merged while the job was running: the result still goes there."""
    github.add_pull_request(1, head_sha=SHA, state="closed")
    github.add_pull_request(2, head_sha=SHA, state="closed")
    assert open_forge().find_pull_request("octo", "change", SHA) == 2


def test_found_among_many_of_one_branch(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """All pages are read."""
    github.add_pull_request(1, head_sha=SHA)
    for number in range(2, 150):
        github.add_pull_request(number, head_sha=OTHER, state="closed")
    assert open_forge().find_pull_request("octo", "change", SHA) == 1


def test_a_commit_that_github_does_not_know_has_none(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """There is no pull request for it, and that is all."""
    assert open_forge().find_pull_request("octo", "change", SHA) is None
    github.violations.clear()  # asking for an unknown commit is the very point


def test_who_set_the_label(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """The name is that of whoever set it last, not of who set another label."""
    github.add_pull_request()
    github.label(1, "accept", by="alice")
    github.unlabel(1, "accept", by="bob")
    github.label(1, "accept", by="carol")
    github.label(1, "bug", by="dave")
    github.add_event(1, "closed", by="erin")
    assert open_forge().labels_and_actor(1, "accept") == "carol"


def test_a_label_that_was_taken_away(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """It counts no more."""
    github.add_pull_request()
    github.label(1, "accept", by="alice")
    github.unlabel(1, "accept", by="bob")
    assert open_forge().labels_and_actor(1, "accept") is None


def test_a_label_set_by_a_deleted_account(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """It still counts; the name is GitHub's for such accounts."""
    github.add_pull_request()
    github.label(1, "accept", by=None)
    assert open_forge().labels_and_actor(1, "accept") == "ghost"


def test_a_label_set_long_ago(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """All pages of labels and events are read."""
    github.add_pull_request()
    for number in range(120):
        github.label(1, f"label {number}", by="alice")
    github.label(1, "accept", by="bob")
    assert open_forge().labels_and_actor(1, "accept") == "bob"
    assert open_forge().labels_and_actor(1, "label 3") == "alice"


@pytest.mark.parametrize(
    ("read", "what"),
    [
        (lambda forge: forge.find_pull_request("octo", "change", SHA), "finding the pull request"),
        (lambda forge: forge.labels_and_actor(1, "accept"), "the label 'accept'"),
    ],
)
def test_without_permission_the_job_cannot_go_on(
    github: GitHubStandIn, open_forge: OpenForge, read: Callable[[GitHubForge], object], what: str
) -> None:
    """The message names the permission to give."""
    github.add_pull_request()
    github.allow(pull_requests="none")
    with pytest.raises(ForgeError, match=f"{what}.*`pull-requests: read`.*not accessible"):
        read(open_forge())
