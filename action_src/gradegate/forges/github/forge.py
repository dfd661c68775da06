"""GitHub: one check and one comment per check name, and what the API says of a pull request."""

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING, Self

from gradegate.forges.github import lookups
from gradegate.forges.github.checks import Check
from gradegate.forges.github.comments import StickyComment
from gradegate.forges.github.data_branch import Change, DataBranch
from gradegate.forges.github.refusals import or_skipped
from gradegate.model.errors import ForgeError
from gradegate.model.posting import (
    CheckOutput,
    CommentNow,
    LabelSet,
    Posted,
    PullRequestNow,
    Reaction,
    ReportedRun,
    Skipped,
)

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
    ) -> int | Skipped | None:
        """The pull request whose head is this commit, for events that do not name it."""
        return or_skipped(
            "finding the pull request",
            lambda: lookups.find(self._repository, head_repo_owner, head_branch, head_sha),
            needs="pull-requests: read",
        )

    def pull_request(self, number: int) -> PullRequestNow | Skipped:
        """The pull request as it is now."""
        return or_skipped(
            f"pull request {number}",
            lambda: lookups.pull_request(self._repository, number),
            needs="pull-requests: read",
        )

    def file(self, path: str, branch: str) -> str | Skipped | None:
        """A file's text as a branch has it, or None where it has none."""
        return or_skipped(
            f"{path} of {branch}",
            lambda: lookups.file(self._repository, path, branch),
            needs="contents: read",
        )

    def parents(self, sha: str) -> tuple[str, ...] | Skipped:
        """The parents of a commit; none where the repository does not know it."""
        return or_skipped(
            f"the parents of {sha}",
            lambda: lookups.parents(self._repository, sha),
            needs="contents: read",
        )

    def among_ancestors(self, branch: str, commits: Collection[str]) -> frozenset[str] | Skipped:
        """Those of the commits that are on a branch; ones far back may be missing."""
        return or_skipped(
            f"the commits of {branch}",
            lambda: lookups.among_ancestors(self._repository, branch, commits),
            needs="contents: read",
        )

    def data(self, branch: str, path: str) -> str | Skipped | None:
        """A file's text on a branch that only keeps data, or None where it has none."""
        return or_skipped(
            f"{path} of {branch}",
            lambda: self._data_branch(branch).read(path),
            needs="contents: read",
        )

    def change_data(self, branch: str, path: str, change: Change, message: str) -> Posted | Skipped:
        """Put there what `change` makes of what is there, whoever else does so meanwhile."""
        return or_skipped(
            f"{path} of {branch}",
            lambda: self._data_branch(branch).change(path, change, message),
            needs="contents: write",
        )

    def _data_branch(self, name: str) -> DataBranch:
        return DataBranch(self._repository, name, self._seconds_between_writes)

    def label_set(self, pull_request: int, label: str) -> LabelSet | Skipped | None:
        """Who set the label last, or None where it is not on the pull request (any more)."""
        return or_skipped(
            f"who set the label {label!r}",
            lambda: lookups.label_set(self._repository, pull_request, label),
            needs="pull-requests: read",
        )

    def may_write(self, login: str) -> bool | Skipped:
        """Whether somebody may push to the repository."""
        return or_skipped(
            f"what {login} may do", lambda: lookups.may_write(self._repository, login)
        )

    def remember(self, sha: str, line: str) -> Posted | Skipped:
        """Keep a line in our check of a commit, for later jobs on it."""
        return or_skipped("check", lambda: self._check.remember(sha, line), needs="checks: write")

    def summary_of_check(self, sha: str) -> str | Skipped | None:
        """What this workflow run's own completed check of a commit says; None: there is none."""
        return self._check.summary_of_own(sha)

    def remembered(self, sha: str) -> tuple[str, ...] | Skipped:
        """The lines that earlier checks of ours on the commit keep, and nobody else's."""
        return self._check.remembered(sha)

    def reported(self, sha: str) -> ReportedRun | Skipped | None:
        """The run that reported on a commit last; None where there is no report yet."""
        return self._check.reported(sha)

    def rerun(self, run: int) -> Posted | Skipped:
        """Have a run of a workflow made again."""
        return or_skipped(
            f"run {run}", lambda: lookups.rerun(self._repository, run), needs="actions: write"
        )

    def read_comment(self, number: int, comment: int) -> CommentNow | Skipped | None:
        """A comment; None where it is gone."""
        return or_skipped(
            f"comment {comment}",
            lambda: lookups.comment(self._repository, number, comment),
            needs="pull-requests: read",
        )

    def answer(self, number: int, comment: int, reaction: Reaction, body: str) -> Posted | Skipped:
        """React to a comment, and reply below it."""
        return or_skipped(
            "reply",
            lambda: lookups.answer(self._repository, number, comment, reaction, body),
            needs="pull-requests: write",
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

    def change_data(self, branch: str, path: str, change: Change, message: str) -> Skipped:
        """Nothing is changed."""
        del branch, path, change, message
        return Skipped("")

    def comment(self, pull_request: int, body: str, *, create: bool) -> Skipped:
        """Nothing is posted."""
        del pull_request, body, create
        return Skipped("")
