"""The one comment per check name that a pull request carries."""

from typing import TYPE_CHECKING

from gradegate.forges.github.checks import JOB_TOKEN_APP
from gradegate.forges.github.refusals import is_forbidden
from gradegate.model.marker import carries_marker, marker
from gradegate.model.posting import Posted, Skipped

if TYPE_CHECKING:
    from github import Github
    from github.Issue import Issue
    from github.IssueComment import IssueComment
    from github.Repository import Repository


class StickyComment:
    """Finds, writes, edits and, after a race, tidies up our comment."""

    def __init__(self, client: "Github", repository: "Repository", check_name: str) -> None:
        self._client = client
        self._repository = repository
        self._check_name = check_name
        self._login: str | None = None

    def post(
        self, pull_request: int, body: str, *, create: bool, app_slug: str | None
    ) -> Posted | Skipped:
        """Make `body` our only comment. `app_slug` is the App we know to be acting as."""
        if not carries_marker(body, self._check_name):
            raise ValueError(f"comment without {marker(self._check_name)} as first or last line")
        issue = self._repository.get_issue(pull_request)
        login = self._own_login(app_slug)
        ours = self._ours(issue, login)
        if not ours:
            if not create:
                return Skipped("comment: there is none yet, and none is wanted now")
            ours = self._create(issue, body)
        kept, *others = ours
        if kept.body != body:
            kept.edit(body)
        for other in others:
            _delete(other)
        return Posted(kept.html_url)

    def _create(self, issue: "Issue", body: str) -> "list[IssueComment]":
        """Write it, then look again: another job may have done so at the same time.

        The answer also says who we are, should we have guessed wrong before.
        """
        created = issue.create_comment(body)
        self._login = created.user.login
        found = {comment.id: comment for comment in self._ours(issue, self._login)}
        return [comment for _, comment in sorted({created.id: created, **found}.items())]

    def _ours(self, issue: "Issue", login: str) -> "list[IssueComment]":
        """Our comments over all pages, oldest first."""
        ours = [
            comment
            for comment in issue.get_comments()
            if _author(comment) == login and carries_marker(comment.body or "", self._check_name)
        ]
        return sorted(ours, key=lambda comment: comment.id)

    def _own_login(self, app_slug: str | None) -> str:
        """The author of what this token writes.

        An App's token, such as GITHUB_TOKEN, may not ask for its user: it writes as
        the App's bot.
        """
        from github import GithubException

        if self._login is None:
            try:
                self._login = self._client.get_user().login
            except GithubException as error:
                if not is_forbidden(error):
                    raise
                self._login = f"{app_slug or JOB_TOKEN_APP}[bot]"
        return self._login


def _author(comment: "IssueComment") -> str | None:
    """The author's login; a deleted account has none."""
    return getattr(comment.user, "login", None)


def _delete(comment: "IssueComment") -> None:
    from github import UnknownObjectException

    try:
        comment.delete()
    except UnknownObjectException:
        return  # the job we raced with was faster
