"""Both sides as folders of files: which commits they are, and copies of them apart from git."""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gradegate import locales
from gradegate.model.base import Value
from gradegate.model.errors import InputError
from gradegate.model.notice import Notice, notice
from gradegate.model.runs import Side
from gradegate.sides.git import NO_BASE, WORKTREE, Repo

REMOTE = "origin"
_FULL_SHA = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Sides:
    """Head, the base it is compared with (None: nothing), and what a reader should know."""

    head: Side
    base: Side | None
    warnings: tuple[Notice, ...] = ()


class Revisions(Value):
    """Which two commits are meant. Of the rules for base the first that is given decides."""

    head: str
    """A revision, or `worktree` for the files as they are."""
    base: str | None = None
    """A revision, or `none`."""
    merge_of: str | None = None
    """A pull request's head sha: where head is its merge commit, base is the first parent."""
    branched_from: str | None = None
    """A commit or a branch: base is where head parted from it. None: the default branch."""


def check_out(
    repo: Repo, revisions: Revisions, into: Path, *, folder: str = ".", token: str | None = None
) -> Sides:
    """Copy both sides below `into`, without `.git`; the repository stays as it was.

    Args:
        repo: where the commits are, or can be fetched to.
        revisions: which ones.
        into: an empty folder of ours.
        folder: the project's folder inside the repository.
        token: for fetching what a shallow checkout left out.

    Raises:
        InputError: a commit or the folder is not there; the message says what to set.
    """
    _refuse_outside(folder)
    base = find_base(repo, revisions, token)
    head, warnings = _copied(repo, revisions.head, into / "head", folder)
    if not head.root.is_dir():
        raise InputError(
            f"there is no folder {folder!r} in {repo.top}: correct the working directory"
        )
    if base is None:
        return Sides(head, None, warnings)
    other, more = _copied(repo, base, into / "base", folder)
    notes = tuple(notice("base.told", what=one) for one in more)
    if not other.root.is_dir():
        missing = notice("base.no_folder", commit=locales.commit(base), folder=folder)
        return Sides(head, None, (*warnings, *notes, missing))
    return Sides(head, other, (*warnings, *notes))


def _refuse_outside(folder: str) -> None:
    path = PurePosixPath(folder)
    if path.is_absolute() or ".." in path.parts:
        raise InputError(
            f"the working directory {folder!r} leads outside the repository: write the project's "
            "folder from the repository's top, as in `services/agent`"
        )


def find_base(repo: Repo, revisions: Revisions, token: str | None = None) -> str | None:
    """The sha of the commit to compare with; None for none."""
    if revisions.base == NO_BASE:
        return None
    if revisions.base is not None:
        return _present(repo, revisions.base, token)
    head = _head(repo, revisions.head, token)
    parents = repo.parents(head)
    if revisions.merge_of and len(parents) > 1 and revisions.merge_of in parents[1:]:
        return _present(repo, parents[0], token)
    if revisions.branched_from is not None:
        other = repo.fetch_missing(REMOTE, revisions.branched_from, meets=head, token=token)
        return repo.merge_base(head, other)
    return _parted_from_default(repo, revisions.head, head)


def _head(repo: Repo, rev: str, token: str | None) -> str:
    """Head's commit; one that is named in full may be elsewhere, as a fork's is."""
    if _FULL_SHA.fullmatch(rev):
        return _present(repo, rev, token)
    return repo.resolve("HEAD" if rev == WORKTREE else rev)


def _parted_from_default(repo: Repo, name: str, head: str) -> str:
    """Where head left the default branch; on that branch itself, its last commit."""
    branch = repo.default_branch()
    found = repo.merge_base(head, branch)
    if found is None:
        raise InputError(
            f"{name} and {branch} have no commit in common in {repo.top}: set `fetch-depth: 0` on "
            "actions/checkout, run `git fetch --unshallow`, or name a base with `--base`"
        )
    return found


def _present(repo: Repo, rev: str, token: str | None) -> str:
    """The commit, fetched where a shallow checkout has not got it."""
    try:
        return repo.resolve(rev)
    except InputError as absent:
        if not repo.has_remote(REMOTE):
            raise
        try:
            return repo.fetch_missing(REMOTE, rev, token=token)
        except InputError as unfetched:
            raise InputError(f"{absent} ({unfetched})") from unfetched


def _copied(repo: Repo, rev: str, into: Path, folder: str) -> tuple[Side, tuple[Notice, ...]]:
    if rev == WORKTREE:
        warnings = repo.export_worktree(into)
        return Side("", into, _project_in(into, folder)), warnings
    commit = repo.resolve(rev)
    warnings = repo.export(commit, into)
    return Side(commit, into, _project_in(into, folder)), warnings


def _project_in(top: Path, folder: str) -> Path:
    """The project's folder, which may be a link in the pull request, but to a folder of it."""
    root = top / folder
    if not root.resolve().is_relative_to(top.resolve()):
        raise InputError(
            f"the working directory {folder!r} is a link that leads outside the repository: "
            "have a folder there"
        )
    return root
