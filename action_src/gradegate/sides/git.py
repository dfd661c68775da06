"""A repository: its revisions, fetched where a shallow checkout left them out, and its files.

It is left as it was: files are copied without `.git`.
"""

import base64
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from gradegate.files.temporary import temporary_folder
from gradegate.model.errors import InputError
from gradegate.model.notice import Notice, notice
from gradegate.sides.git_command import Git
from gradegate.sides.large_files import put_in_place

_SUBMODULE = "160000"


def export_commit(git: Git, rev: str, dest: Path) -> tuple[Notice, ...]:
    """Write the commit's files to `dest`; returns warnings.

    The commit is read into an index of our own and checked out with `dest` as its work tree:
    `export-ignore` hides nothing then, and the attributes that apply are the commit's. They start
    no program: which files a filter of this machine is for, the commit itself would say.
    """
    dest.mkdir(parents=True, exist_ok=True)
    with temporary_folder("index") as temporary:
        elsewhere = {
            "GIT_DIR": git.must("rev-parse", "--absolute-git-dir").text,
            "GIT_INDEX_FILE": str(temporary / "index"),
            "GIT_WORK_TREE": str(dest.resolve()),
            **git.with_settings(("core.sparseCheckout", "false"), *_no_filters(git)),
        }
        there = Git(dest.resolve(), git.environ)
        there.must("read-tree", rev, env=elsewhere)
        there.must("checkout-index", "--all", "--force", env=elsewhere)
    warnings = [*put_in_place(git, dest)]
    for path, commit in _submodules(git, rev):
        (dest / path).mkdir(parents=True, exist_ok=True)
        inner = _populated(git, path)
        if inner and inner.call("cat-file", "-e", f"{commit}^{{commit}}").ok:
            warnings += export_commit(inner, commit, dest / path)
        else:
            warnings.append(_left_empty(path))
    return tuple(warnings)


def export_files(git: Git, dest: Path) -> tuple[Notice, ...]:
    """Write the work tree's files as they are to `dest`, but for ignored ones; returns warnings."""
    dest.mkdir(parents=True, exist_ok=True)
    listed = git.must("ls-files", "-z", "--cached", "--others", "--exclude-standard").paths
    warnings: list[Notice] = []
    behind_link: dict[PurePosixPath, bool] = {}
    for path in dict.fromkeys(listed):
        source, target = git.folder / path, dest / path
        if _is_behind_link(git.folder, PurePosixPath(path).parent, behind_link):
            continue
        if source.is_dir() and not source.is_symlink():
            warnings += _export_nested(git, path, target)
        else:
            _copy(source, target)
    return tuple(warnings)


def _export_nested(git: Git, path: str, target: Path) -> tuple[Notice, ...]:
    target.mkdir(parents=True, exist_ok=True)
    inner = _populated(git, path)
    return export_files(inner, target) if inner else (_left_empty(path),)


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a link; what was deleted, or is neither, has nothing to copy."""
    try:
        mode = source.lstat().st_mode
    except FileNotFoundError:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if stat.S_ISLNK(mode):
        target.symlink_to(source.readlink())
    elif stat.S_ISREG(mode):
        shutil.copy(source, target)


def _is_behind_link(top: Path, folder: PurePosixPath, known: dict[PurePosixPath, bool]) -> bool:
    """Whether a folder was replaced by a link: writing through its copy would leave `dest`."""
    if folder == PurePosixPath():
        return False
    if folder not in known:
        linked = (top / folder).is_symlink()
        known[folder] = linked or _is_behind_link(top, folder.parent, known)
    return known[folder]


def _no_filters(git: Git) -> Iterator[tuple[str, str]]:
    """Settings that make every filter of this machine do nothing, and none of them required."""
    named = git.call("config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.").paths
    for driver in sorted({name.rpartition(".")[0] for name in named}):
        yield f"{driver}.smudge", ""
        yield f"{driver}.process", ""
        yield f"{driver}.required", "false"


def _submodules(git: Git, rev: str) -> Iterator[tuple[str, str]]:
    for entry in git.must("ls-tree", "-r", "-z", "--full-tree", rev).paths:
        about, _, path = entry.partition("\t")
        mode, _, commit = about.split(" ")
        if mode == _SUBMODULE:
            yield path, commit


def _populated(git: Git, path: str) -> Git | None:
    folder = git.folder / path
    if folder.resolve() != git.folder.resolve() / path:
        return None  # a link leads to another repository
    return Git(folder, git.environ) if os.path.lexists(folder / ".git") else None


def _left_empty(path: str) -> Notice:
    return notice("submodule.empty", path=path)


_SHA = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_STEPS = ("--deepen=50", "--deepen=200", "--deepen=1000", "--unshallow")
_QUIETLY = ("--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--no-recurse-submodules")


def fetch_missing(
    git: Git, remote: str, wanted: str, *, meets: str | None = None, token: str | None = None
) -> str:
    """Have `wanted` (a sha, or a branch of the remote), and where it parted from `meets`.

    History is deepened step by step until the merge base is there. Objects and the shallow
    boundary are all that changes in the repository: no ref, no FETCH_HEAD, no setting.

    Returns:
        The sha of `wanted`.

    Raises:
        InputError: it cannot be had; the message says what to set.
    """
    credentials = _credentials(git, remote, token)
    sha = _sha_of(git, remote, wanted, credentials)
    if not _has(git, sha):
        depth = ("--depth=1",) if _boundary(git) else ()  # in a whole clone it would cut history
        fetched = git.call("fetch", *_QUIETLY, *depth, remote, sha, env=credentials)
        if not fetched.ok:
            raise _cannot(f"commit {sha} cannot be fetched from {remote}", fetched.complaint)
    if meets is None or _parted(git, sha, meets):
        return sha
    complaint = _deepen(git, remote, (sha, meets), credentials)
    if _parted(git, sha, meets):
        return sha
    raise _cannot(f"{wanted} and {meets} have no commit in common here", complaint)


def _deepen(git: Git, remote: str, ends: tuple[str, str], credentials: Mapping[str, str]) -> str:
    """Fetch behind the shallow boundary until the two ends meet; git's last complaint."""
    complaint = ""
    for step in _STEPS:
        # The boundary's own commits came from the remote; a local head may be unknown there.
        boundary = _boundary(git)
        if not boundary or _parted(git, *ends):
            break
        fetched = git.call("fetch", *_QUIETLY, step, remote, *boundary, env=credentials)
        complaint = fetched.complaint
    return complaint


def _sha_of(git: Git, remote: str, wanted: str, credentials: Mapping[str, str]) -> str:
    if _SHA.fullmatch(wanted):
        return wanted
    branch = wanted.removeprefix("refs/heads/").removeprefix(f"{remote}/")
    listed = git.call("ls-remote", "--exit-code", remote, f"refs/heads/{branch}", env=credentials)
    if not listed.ok:
        raise _cannot(f"{remote} has no branch {branch!r}, or cannot be reached", listed.complaint)
    return listed.text.split()[0]


def _has(git: Git, sha: str) -> bool:
    return git.call("cat-file", "-e", f"{sha}^{{commit}}").ok


def _parted(git: Git, one: str, other: str) -> bool:
    return git.call("merge-base", one, other).ok


def _boundary(git: Git) -> list[str]:
    """The commits whose parents were left out; none where history is whole."""
    shallow = git.folder / git.must("rev-parse", "--git-path", "shallow").text
    return shallow.read_text().split() if shallow.exists() else []


def _credentials(git: Git, remote: str, token: str | None) -> dict[str, str]:
    """The token as settings in the environment, for the remote's host and nobody else.

    An empty value first: it clears what actions/checkout left in the repository's settings,
    and two Authorization headers are one too many for GitHub.
    """
    url = urlsplit(git.call("remote", "get-url", remote).text or remote)
    if not token or url.scheme not in ("http", "https"):
        return {}
    host = url.netloc.rpartition("@")[2]
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    key = f"http.{url.scheme}://{host}/.extraheader"
    return git.with_settings((key, ""), (key, f"Authorization: Basic {basic}"))


def _cannot(what: str, complaint: str) -> InputError:
    said = f" (git says: {complaint.splitlines()[0]})" if complaint else ""
    return InputError(
        f"{what}{said}: set `fetch-depth: 0` on actions/checkout, or name a base with `--base`"
    )


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

    def export(self, rev: str, dest: Path) -> tuple[Notice, ...]:
        """Write the commit's files to `dest`, an empty folder or a new one; returns warnings."""
        return export_commit(self.git, self.resolve(rev), dest)

    def export_worktree(self, dest: Path) -> tuple[Notice, ...]:
        """Write the files as they are, tracked or new but not ignored; returns warnings."""
        return export_files(self.git, dest)

    def fetch_missing(
        self, remote: str, wanted: str, *, meets: str | None = None, token: str | None = None
    ) -> str:
        """Have `wanted` and its merge base with `meets` in a shallow clone; `wanted`'s sha."""
        return fetch_missing(self.git, remote, wanted, meets=meets, token=token)

    def _commit(self, rev: str) -> str | None:
        if rev in self._commits:
            return rev
        name = f"{rev}^{{commit}}"
        found = self.git.call("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        if not found.ok:
            return None
        self._commits.add(found.text)
        return found.text
