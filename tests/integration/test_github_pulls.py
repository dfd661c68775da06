"""What the API says about a pull request where the event does not."""

from collections.abc import Callable

import pytest

from gradegate.forges.github.forge import GitHubForge
from gradegate.model.posting import PullRequestNow, Skipped
from tests.standins.github import Fault, GitHubStandIn
from tests.standins.github.answer import message

OpenForge = Callable[..., GitHubForge]

READS: list[Callable[[GitHubForge], object]] = [
    lambda forge: forge.find_pull_request("octo", "change", SHA),
    lambda forge: forge.label_set(1, "accept"),
    lambda forge: forge.pull_request(1),
]
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


def who(forge: GitHubForge, number: int, label: str) -> str | None:
    """Who set the label."""
    found = forge.label_set(number, label)
    assert not isinstance(found, Skipped)
    return found and found.who


def test_who_set_the_label(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """The name is that of whoever set it last, not of who set another label."""
    github.add_pull_request()
    github.label(1, "accept", by="alice")
    github.unlabel(1, "accept", by="bob")
    github.label(1, "accept", by="carol")
    github.label(1, "bug", by="dave")
    github.add_event(1, "closed", by="erin")
    assert who(open_forge(), 1, "accept") == "carol"


def test_a_label_that_was_taken_away(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """It counts no more."""
    github.add_pull_request()
    github.label(1, "accept", by="alice")
    github.unlabel(1, "accept", by="bob")
    assert who(open_forge(), 1, "accept") is None


def test_a_label_set_by_a_deleted_account(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """It still counts; the name is GitHub's for such accounts."""
    github.add_pull_request()
    github.label(1, "accept", by=None)
    assert who(open_forge(), 1, "accept") == "ghost"


def test_a_label_set_long_ago(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """All pages of labels and events are read."""
    github.add_pull_request()
    for number in range(120):
        github.label(1, f"label {number}", by="alice")
    github.label(1, "accept", by="bob")
    assert who(open_forge(), 1, "accept") == "bob"
    assert who(open_forge(), 1, "label 3") == "alice"


def test_each_setting_of_a_label_has_a_number_of_its_own(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """One that was taken off and set again is another one."""
    github.add_pull_request()
    github.label(1, "accept", by="alice")
    first = open_forge().label_set(1, "accept")
    assert open_forge().label_set(1, "accept") == first
    github.unlabel(1, "accept", by="alice")
    github.label(1, "accept", by="alice")
    assert open_forge().label_set(1, "accept") != first


@pytest.mark.parametrize(
    ("role", "may"),
    [
        ("admin", True),
        ("maintain", True),
        ("write", True),
        ("triage", False),
        ("read", False),
        (None, False),
    ],
)
def test_who_may_write(
    github: GitHubStandIn, open_forge: OpenForge, role: str | None, *, may: bool
) -> None:
    """By GitHub's word; a stranger may not."""
    if role is not None:
        github.let("mona", role)
    assert open_forge().may_write("mona") is may


def test_nobody_may_write(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """A name that nobody has (any more)."""
    github.fail_next(Fault(message(404, "Not Found")), path="/permission")
    assert open_forge().may_write("ghost") is False


def test_the_pull_request_as_it_is_now(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """Its head may have moved since the event."""
    github.add_pull_request(4, head_sha=OTHER)
    assert open_forge().pull_request(4) == PullRequestNow(OTHER, "main")


@pytest.mark.parametrize("read", READS)
def test_without_permission_the_reason_names_it(
    github: GitHubStandIn, open_forge: OpenForge, read: Callable[[GitHubForge], object]
) -> None:
    """The job goes on without."""
    github.add_pull_request()
    github.allow(pull_requests="none")
    outcome = read(open_forge())
    assert isinstance(outcome, Skipped)
    assert outcome.needs == "pull-requests: read"
    assert "not accessible" in outcome.reason


def test_a_file_as_a_branch_has_it(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """Or None; in whatever script it is written."""
    github.add_file("a b/gradegate.toml", "# 設定\n", ref="release/1")
    forge = open_forge()
    assert forge.file("a b/gradegate.toml", "release/1") == "# 設定\n"
    assert forge.file("a b/gradegate.toml", "main") is None


def test_a_file_that_may_not_be_read_names_the_permission(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """And raises nothing."""
    github.allow(contents="none")
    found = open_forge().file("gradegate.toml", "main")
    assert isinstance(found, Skipped)
    assert found.needs == "contents: read"
