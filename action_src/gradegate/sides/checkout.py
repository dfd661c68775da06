"""Both sides as folders of files: which commits they are, and copies of them apart from git."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gradegate.model.errors import InputError
from gradegate.sides.git import NO_BASE, WORKTREE, Repo, base_of

REMOTE = "origin"


@dataclass(frozen=True)
class Side:
    """One side's files. `commit` is empty for files as they are in the work tree."""

    commit: str
    top: Path
    """The whole repository: an agent may read more than its project's folder."""
    root: Path
    """The project's folder in it."""


@dataclass(frozen=True)
class Sides:
    """Head, the base it is compared with (None: nothing), and what a reader should know."""

    head: Side
    base: Side | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """Which two commits are meant; see plan.BaseRule for how base is found."""

    head: str
    rev: str | None = None
    merge_of: str | None = None
    meets: str | None = None


def check_out(
    repo: Repo, wanted: Wanted, into: Path, *, folder: str = ".", token: str | None = None
) -> Sides:
    """Copy both sides below `into`, without `.git`; the repository stays as it was.

    Args:
        repo: where the commits are, or can be fetched to.
        wanted: which ones.
        into: an empty folder of ours.
        folder: the project's folder inside the repository.
        token: for fetching what a shallow checkout left out.

    Raises:
        InputError: a commit or the folder is not there; the message says what to set.
    """
    _refuse_outside(folder)
    base = find_base(repo, wanted, token)
    head, warnings = _copied(repo, wanted.head, into / "head", folder)
    if not head.root.is_dir():
        raise InputError(
            f"there is no folder {folder!r} in {repo.top}: correct the working directory"
        )
    if base is None:
        return Sides(head, None, warnings)
    other, more = _copied(repo, base, into / "base", folder)
    notes = tuple(f"base: {warning}" for warning in more)
    if not other.root.is_dir():
        missing = f"base {base[:7]} has no folder {folder!r}: thresholds alone decide"
        return Sides(head, None, (*warnings, *notes, missing))
    return Sides(head, other, (*warnings, *notes))


def _refuse_outside(folder: str) -> None:
    path = PurePosixPath(folder)
    if path.is_absolute() or ".." in path.parts:
        raise InputError(
            f"the working directory {folder!r} leads outside the repository: write the project's "
            "folder from the repository's top, as in `services/agent`"
        )


def find_base(repo: Repo, wanted: Wanted, token: str | None = None) -> str | None:
    """The sha of the commit to compare with; None for none."""
    if wanted.rev == NO_BASE:
        return None
    if wanted.rev is not None:
        return _present(repo, wanted.rev, token)
    head = repo.resolve("HEAD" if wanted.head == WORKTREE else wanted.head)
    parents = repo.parents(head)
    if wanted.merge_of and len(parents) > 1 and wanted.merge_of in parents[1:]:
        return _present(repo, parents[0], token)
    if wanted.meets is not None:
        other = repo.fetch_missing(REMOTE, wanted.meets, meets=head, token=token)
        return repo.merge_base(head, other)
    return base_of(repo, wanted.head, None)


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


def _copied(repo: Repo, rev: str, into: Path, folder: str) -> tuple[Side, tuple[str, ...]]:
    if rev == WORKTREE:
        return Side("", into, into / folder), repo.export_worktree(into)
    commit = repo.resolve(rev)
    return Side(commit, into, into / folder), repo.export(commit, into)
