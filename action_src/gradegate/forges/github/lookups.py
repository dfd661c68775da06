"""What GitHub's API says of pull requests, comments and people, and what people ask for there."""

import re
from collections.abc import Collection, Iterable
from itertools import islice
from typing import TYPE_CHECKING

from gradegate.model.posting import CommentNow, LabelSet, Posted, PullRequestNow, Reaction

if TYPE_CHECKING:
    from github.PullRequest import PullRequest
    from github.Repository import Repository

DELETED_ACCOUNT = "ghost"
MOST_COMMITS = 1_000
"""Of a branch that are looked at: ten requests."""
_SHA = re.compile(r"[0-9a-f]{40}")
_NO_SUCH_COMMIT = (404, 409, 422)


def find(
    repository: "Repository", head_repo_owner: str, head_branch: str, head_sha: str
) -> int | None:
    """The pull request whose head is this commit: an open one first, then the newest."""
    by_branch = repository.get_pulls(state="all", head=f"{head_repo_owner}:{head_branch}")
    number = _with_head(by_branch, head_sha)
    if number is not None:
        return number
    return _with_head(_of_commit(repository, head_sha), head_sha)


def pull_request(repository: "Repository", number: int) -> PullRequestNow:
    """Its head and its base branch."""
    pull = repository.get_pull(number)
    return PullRequestNow(pull.head.sha, pull.base.ref)


def file(repository: "Repository", path: str, branch: str) -> str | None:
    """A file's text; None where there is no such file."""
    from github import UnknownObjectException

    try:
        found = repository.get_contents(path, ref=branch)
    except UnknownObjectException:
        return None
    if isinstance(found, list):  # a folder
        return None
    return found.decoded_content.decode(errors="replace")


def parents(repository: "Repository", sha: str) -> tuple[str, ...]:
    """The parents of a commit, in order; none where it is not there."""
    from github import GithubException

    if not _SHA.fullmatch(sha):
        return ()
    try:
        return tuple(parent.sha for parent in repository.get_git_commit(sha).parents)
    except GithubException as error:
        if error.status in _NO_SUCH_COMMIT:
            return ()
        raise


def among_ancestors(
    repository: "Repository", branch: str, commits: Collection[str]
) -> frozenset[str]:
    """Those of the commits that are among the last ones of a branch."""
    missing = set(commits)
    latest = repository.get_commits(sha=branch) if missing else ()
    for commit in islice(latest, MOST_COMMITS):
        missing.discard(commit.sha)
        if not missing:
            break
    return frozenset(commits) - missing


def label_set(repository: "Repository", pull_request: int, label: str) -> LabelSet | None:
    """Who last put the label on the pull request, or None where it is not on it."""
    issue = repository.get_issue(pull_request)
    if all(present.name != label for present in issue.get_labels()):
        return None
    last = None
    for event in issue.get_events():
        if event.event == "labeled" and event.label.name == label:
            last = LabelSet(getattr(event.actor, "login", DELETED_ACCOUNT), event.id)
    return last


def may_write(repository: "Repository", login: str) -> bool:
    """Whether somebody may push; GitHub calls maintainers writers here, and triagers readers."""
    from github import UnknownObjectException

    try:
        return repository.get_collaborator_permission(login) in ("admin", "write")
    except UnknownObjectException:
        return False  # nobody's name, such as a deleted account's


def comment(repository: "Repository", pull_request: int, number: int) -> CommentNow | None:
    """Whose it is, and what it says; None where it was deleted."""
    from github import UnknownObjectException

    found = repository.get_issue(pull_request).get_comment(number)
    try:
        found.complete()
    except UnknownObjectException:
        return None
    author = getattr(found.user, "login", DELETED_ACCOUNT)
    return CommentNow(author, found.body or "", found.created_at)


def answer(
    repository: "Repository", number: int, comment: int, reaction: Reaction, body: str
) -> Posted:
    """React to the comment, and write another below it."""
    issue = repository.get_issue(number)
    issue.get_comment(comment).create_reaction(reaction)
    return Posted(issue.create_comment(body).html_url)


def rerun(repository: "Repository", run: int) -> Posted:
    """Have a run made again, all its jobs."""
    again = repository.get_workflow_run(run)
    again.requester.requestJsonAndCheck("POST", again.rerun_url)
    return Posted(again.html_url)


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
