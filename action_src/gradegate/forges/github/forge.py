"""GitHub: one check and one comment per check name, and what the API says of a pull request."""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Self

from gradegate.forges.github.checks import Check
from gradegate.forges.github.comments import StickyComment
from gradegate.forges.github.refusals import or_forge_error, or_skipped
from gradegate.model.errors import ForgeError
from gradegate.ports import CheckOutput, Posted, Skipped

if TYPE_CHECKING:
    from github.PullRequest import PullRequest
    from github.Repository import Repository

DELETED_ACCOUNT = "ghost"


def find(
    repository: "Repository", head_repo_owner: str, head_branch: str, head_sha: str
) -> int | None:
    """The pull request whose head is this commit: an open one first, then the newest."""
    by_branch = repository.get_pulls(state="all", head=f"{head_repo_owner}:{head_branch}")
    number = _with_head(by_branch, head_sha)
    if number is not None:
        return number
    return _with_head(_of_commit(repository, head_sha), head_sha)


def who_set_label(repository: "Repository", pull_request: int, label: str) -> str | None:
    """Who last put the label on the pull request, or None where it is not on it."""
    issue = repository.get_issue(pull_request)
    if all(present.name != label for present in issue.get_labels()):
        return None
    actor = None
    for event in issue.get_events():
        if event.event == "labeled" and event.label.name == label:
            actor = event.actor
    return actor.login if actor is not None else DELETED_ACCOUNT


def _of_commit(repository: "Repository", sha: str) -> "list[PullRequest]":
    from github import GithubException

    try:
        return list(repository.get_commit(sha).get_pulls())
    except GithubException as error:
        if error.status == 422:  # noqa: PLR2004 - GitHub's way of not knowing the commit
            return []
        raise


def _with_head(pulls: "Iterable[PullRequest]", sha: str) -> int | None:
    matching = [(pull.state == "open", pull.number) for pull in pulls if pull.head.sha == sha]
    return max(matching)[1] if matching else None


if TYPE_CHECKING:
    from github import Github
    from github.Repository import Repository


class GitHubForge:
    """Posts through GitHub's API. What GitHub does not allow is skipped, with the reason.

    `details_url` is where the check's "Details" leads; `external_id` is kept with the
    check for whoever wants to find the run again. All waiting for GitHub's rate limits
    together takes at most `patience_seconds`. PyGithub is imported with the first thing asked
    of GitHub: a fork's own job asks nothing.
    """

    def __init__(  # noqa: PLR0913 - what GitHub needs to know, each by name
        self,
        token: str,
        api_url: str,
        repository: str,
        check_name: str,
        details_url: str | None = None,
        *,
        external_id: str | None = None,
        patience_seconds: float = 300.0,
        seconds_between_writes: float = 1.0,
    ) -> None:
        if not token:
            raise ForgeError("no GitHub token: set `github-token: ${{ github.token }}`")
        if repository.count("/") != 1 or not all(repository.split("/")):
            raise ForgeError(f"{repository!r} is no repository: write it as owner/name")
        self._token = token
        self._api_url = api_url
        self._name = repository
        self._check_name = check_name
        self._details_url = details_url
        self._external_id = external_id
        self._patience_seconds = patience_seconds
        self._seconds_between_writes = seconds_between_writes

    @cached_property
    def _client(self) -> "Github":
        from gradegate.forges.github.connection import connect

        return connect(
            self._token,
            self._api_url,
            patience_seconds=self._patience_seconds,
            seconds_between_writes=self._seconds_between_writes,
        )

    @cached_property
    def _repository(self) -> "Repository":
        return self._client.get_repo(self._name)

    @cached_property
    def _check(self) -> Check:
        return Check(self._repository, self._check_name, self._details_url, self._external_id)

    @cached_property
    def _comment(self) -> StickyComment:
        return StickyComment(self._client, self._repository, self._check_name)

    def start_check(self, sha: str) -> Posted | Skipped:
        """Show the check as in progress."""
        return or_skipped("check", lambda: self._check.start(sha), needs="checks: write")

    def complete_check(self, sha: str, output: CheckOutput) -> Posted | Skipped:
        """Show the outcome, with annotations; a commit status where checks are forbidden."""
        return or_skipped("check", lambda: self._check.complete(sha, output), needs="checks: write")

    def close_left_behind(self, sha: str, output: CheckOutput) -> None:
        """Complete the checks that killed jobs left in progress on a commit."""
        self._check.close_left_behind(sha, output)

    def comment(self, pull_request: int, body: str, *, create: bool) -> Posted | Skipped:
        """Edit our sticky comment, or write it where there is none and `create` is set."""
        return or_skipped(
            "comment",
            lambda: self._comment.post(
                pull_request, body, create=create, app_slug=self._check.app_slug
            ),
            needs="pull-requests: write",
        )

    def find_pull_request(
        self, head_repo_owner: str, head_branch: str, head_sha: str
    ) -> int | None:
        """The pull request whose head is this commit, for events that do not name it."""
        return or_forge_error(
            "finding the pull request (needs `pull-requests: read`)",
            lambda: find(self._repository, head_repo_owner, head_branch, head_sha),
        )

    def labels_and_actor(self, pull_request: int, label: str) -> str | None:
        """Who set the label, or None where it is not on the pull request (any more)."""
        return or_forge_error(
            f"reading who set the label {label!r} (needs `pull-requests: read`)",
            lambda: who_set_label(self._repository, pull_request, label),
        )

    def close(self) -> None:
        """Close the connections, where there are any."""
        if "_client" in vars(self):
            self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ReadOnlyForge(GitHubForge):
    """For a fork's pull request, whose token may only read: says so once, and posts nothing."""

    def start_check(self, sha: str) -> Skipped:
        """Nothing is posted, and why."""
        del sha
        return Skipped("this pull request comes from a fork: the workflow on workflow_run posts it")

    def complete_check(self, sha: str, output: CheckOutput) -> Skipped:
        """Nothing is posted."""
        del sha, output
        return Skipped("")

    def close_left_behind(self, sha: str, output: CheckOutput) -> None:
        """Nothing is closed."""

    def comment(self, pull_request: int, body: str, *, create: bool) -> Skipped:
        """Nothing is posted."""
        del pull_request, body, create
        return Skipped("")
