"""A repository: what its revisions are and what is in them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gradegate.model.errors import FileError, InputError
from gradegate.sides import export, fetch
from gradegate.sides.command import Git

WORKTREE = "worktree"
NO_BASE = "none"


@dataclass(frozen=True)
class Repo:
    """A git repository that is read and left as it was. Made by `Repo.open`."""

    git: Git
    _commits: set[str] = field(default_factory=set, compare=False, repr=False)
    """Known to be the shas of commits, so that git is asked once for each."""

    @classmethod
    def open(cls, path: Path, environ: Mapping[str, str] | None = None) -> "Repo":
        """The repository that `path` is in."""
        environ = os.environ if environ is None else environ
        found = Git(path, environ).call("rev-parse", "--show-toplevel")
        if not found.ok:
            raise InputError(
                f"{path} is not in a git repository with files: run gradegate in a clone, "
                f"name one with `--repo DIR`, or use actions/checkout first ({found.complaint})"
            )
        return cls(Git(Path(found.raw.decode(errors="surrogateescape").rstrip("\n")), environ))

    @property
    def top(self) -> Path:
        """The work tree's root."""
        return self.git.folder

    def has_remote(self, name: str) -> bool:
        """Whether there is anywhere to fetch from under this name."""
        return self.git.call("remote", "get-url", name).ok

    def resolve(self, rev: str) -> str:
        """The sha of the commit that `rev` names."""
        found = self._commit(rev)
        if found is None and rev == "HEAD":
            raise InputError(f"there is no commit in {self.top} yet: make a first one")
        if found is None:
            raise InputError(
                f"there is no commit {rev!r} in {self.top}: check its spelling; on a runner set "
                "`fetch-depth: 0` on actions/checkout, elsewhere fetch it first, as in "
                "`git fetch origin main`"
            )
        return found

    def default_branch(self) -> str:
        """What pull requests are made against, as far as the clone tells."""
        origin = self.git.call("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
        configured = self.git.call("config", "--get", "init.defaultBranch")
        names = (origin.text, "origin/main", "origin/master", "main", "master", configured.text)
        for name in names:
            if name and self._commit(name):
                return name
        raise InputError(
            f"the default branch of {self.top} cannot be told: say what to compare with, as in "
            "`--base origin/develop`, or `--base none` to compare with nothing"
        )

    def merge_base(self, one: str, other: str) -> str | None:
        """Where the two parted; None where they have nothing in common, or not in this clone."""
        found = self.git.call("merge-base", self.resolve(one), self.resolve(other))
        return found.text if found.ok else None

    def parents(self, rev: str) -> tuple[str, ...]:
        """The commit's parents as it names them, also those a shallow clone has not got."""
        commit = self.git.must("cat-file", "commit", self.resolve(rev)).raw
        header = commit.partition(b"\n\n")[0].splitlines()
        return tuple(line.split()[1].decode() for line in header if line.startswith(b"parent "))

    def show(self, rev: str, path: str) -> str | None:
        """A file's text in a commit; None where there is no such file."""
        blob = self.git.call("cat-file", "blob", f"{self.resolve(rev)}:{path}")
        if not blob.ok:
            return None
        try:
            return blob.raw.decode()
        except UnicodeDecodeError:
            raise FileError(path, f"is not UTF-8 text in {rev}: save it as UTF-8") from None

    def export(self, rev: str, dest: Path) -> tuple[str, ...]:
        """Write the commit's files to `dest`, an empty folder or a new one; returns warnings."""
        return export.export_commit(self.git, self.resolve(rev), dest)

    def export_worktree(self, dest: Path) -> tuple[str, ...]:
        """Write the files as they are, tracked or new but not ignored; returns warnings."""
        return export.export_files(self.git, dest)

    def fetch_missing(
        self, remote: str, wanted: str, *, meets: str | None = None, token: str | None = None
    ) -> str:
        """Have `wanted` and its merge base with `meets` in a shallow clone; `wanted`'s sha."""
        return fetch.fetch_missing(self.git, remote, wanted, meets=meets, token=token)

    def _commit(self, rev: str) -> str | None:
        if rev in self._commits:
            return rev
        name = f"{rev}^{{commit}}"
        found = self.git.call("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        if not found.ok:
            return None
        self._commits.add(found.text)
        return found.text


def base_of(repo: Repo, head: str, base: str | None) -> str | None:
    """The commit to compare `head` with; None for none.

    Args:
        repo: where both are.
        head: a revision, or `worktree` for the files as they are.
        base: what the user asked for: a revision, `none`, or None for the default, which is
            where head parted from the default branch. Files changed on that branch itself are
            compared with its last commit that both have.
    """
    if base == NO_BASE:
        return None
    if base is not None:
        return repo.resolve(base)
    commit = repo.resolve("HEAD" if head == WORKTREE else head)
    branch = repo.default_branch()
    found = repo.merge_base(commit, branch)
    if found is None:
        raise InputError(
            f"{head} and {branch} have no commit in common in {repo.top}: set `fetch-depth: 0` on "
            "actions/checkout, run `git fetch --unshallow`, or name a base with `--base`"
        )
    return found
