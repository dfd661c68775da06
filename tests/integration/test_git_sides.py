"""Revisions, exports and fetches on real repositories."""

import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from gradegate.model.errors import InputError
from gradegate.sides.checkout import Revisions, find_base
from gradegate.sides.git import Repo
from gradegate.sides.identity import tree_digest

ENVIRON = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


def git(where: Path, *arguments: str) -> str:
    """What git says to a user in that folder."""
    command = ["git", "-c", "protocol.file.allow=always", *arguments]
    done = subprocess.run(command, cwd=where, env=ENVIRON, capture_output=True, check=True)
    return done.stdout.decode().strip()


def commit(where: Path, **files: str) -> str:
    """A commit with these files (`__` stands for a slash); its sha."""
    for name, text in files.items():
        file = where / (name.replace("__", "/") + ".txt")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git(where, "add", "-A")
    git(where, "commit", "-q", "--allow-empty", "-m", "change")
    return git(where, "rev-parse", "HEAD")


def everything(repo: Path) -> dict[str, str]:
    """All that a user would notice in their repository, and its very index.

    But for the shallow boundary, which deepening is there to move.
    """
    return {
        "status": git(repo, "--no-optional-locks", "status", "--porcelain", "--ignored"),
        "refs": git(repo, "for-each-ref"),
        "head": (repo / ".git/HEAD").read_text(),
        "config": (repo / ".git/config").read_text(),
        "worktrees": git(repo, "worktree", "list"),
        "index": (repo / ".git/index").read_bytes().hex(),
        "top": " ".join(sorted(p.name for p in (repo / ".git").iterdir() if p.name != "shallow")),
        "files": tree_digest(repo, [".git"]),
    }


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A repository in an awkward place, with one commit on main."""
    path = tmp_path / "my repo 日本"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    (path / ".gitignore").write_text("*.log\n")
    (path / ".gitattributes").write_text("hidden.txt export-ignore\n*.crlf text eol=crlf\n")
    (path / "run.sh").write_text("#!/bin/sh\n")
    (path / "run.sh").chmod(0o755)
    (path / "link").symlink_to("a.txt")
    commit(path, a="one", hidden="here", folder__名前="x")
    return path


def opened(path: Path, **more: str) -> Repo:
    """The repository as gradegate sees it."""
    return Repo.open(path, {**ENVIRON, **more})


def test_a_clean_work_tree_and_its_commit_export_alike(work: Path, tmp_path: Path) -> None:
    """Also what `export-ignore` names, links and x bits; and no `.git`."""
    repo = opened(work)
    assert repo.export("HEAD", tmp_path / "rev") == ()
    assert repo.export_worktree(tmp_path / "files") == ()
    assert tree_digest(tmp_path / "rev") == tree_digest(tmp_path / "files")
    assert (tmp_path / "rev/hidden.txt").read_text() == "here"
    assert (tmp_path / "rev/folder/名前.txt").read_text() == "x"
    assert (tmp_path / "rev/link").readlink() == Path("a.txt")
    assert os.access(tmp_path / "files/run.sh", os.X_OK)
    assert not (tmp_path / "rev/.git").exists()


def test_the_work_tree_is_exported_as_it_is(work: Path, tmp_path: Path) -> None:
    """New and changed files are in it, ignored and deleted ones are not."""
    (work / "new.txt").write_text("new")
    (work / "a.txt").write_text("changed")
    (work / "noise.log").write_text("ignored")
    (work / "hidden.txt").unlink()
    opened(work).export_worktree(tmp_path / "out")
    assert (tmp_path / "out/new.txt").read_text() == "new"
    assert (tmp_path / "out/a.txt").read_text() == "changed"
    assert not (tmp_path / "out/noise.log").exists()
    assert not (tmp_path / "out/hidden.txt").exists()


def test_nothing_is_written_through_a_folder_that_became_a_link(work: Path, tmp_path: Path) -> None:
    """A link out of the export must not be followed by the export itself."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (work / "folder/名前.txt").unlink()
    (work / "folder").rmdir()
    (work / "folder").symlink_to(outside)
    (outside / "名前.txt").write_text("theirs")
    os.utime(outside / "名前.txt", (1, 1))
    opened(work).export_worktree(tmp_path / "out")
    assert (tmp_path / "out/folder").is_symlink()
    assert (outside / "名前.txt").stat().st_mtime == 1


def test_a_commit_is_exported_by_its_own_attributes(work: Path, tmp_path: Path) -> None:
    """What the work tree's .gitattributes says now makes no difference."""
    commit(work)
    (work / "x.crlf").write_text("line\n")
    sha = commit(work)
    (work / ".gitattributes").write_text("")
    opened(work).export(sha, tmp_path / "out")
    assert (tmp_path / "out/x.crlf").read_bytes() == b"line\r\n"


def test_the_users_repository_stays_as_it_was(work: Path, tmp_path: Path) -> None:
    """Staged, changed and new files included."""
    first = git(work, "rev-parse", "HEAD")
    commit(work, a="two")
    (work / "staged.txt").write_text("s")
    git(work, "add", "staged.txt")
    (work / "a.txt").write_text("dirty")
    before = everything(work)
    repo = opened(work)
    repo.export(first, tmp_path / "rev")
    repo.export_worktree(tmp_path / "files")
    find_base(repo, Revisions(head="worktree"))
    assert everything(work) == before


def test_submodules_are_exported_where_they_are_checked_out(work: Path, tmp_path: Path) -> None:
    """An empty one stays an empty folder, with a warning that says what to set."""
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q", "-b", "main")
    commit(other, inner="inside")
    git(work, "submodule", "--quiet", "add", str(other), "sub")
    commit(work)
    git(tmp_path, "clone", "-q", str(work), "bare clone")
    repo, bare = opened(work), opened(tmp_path / "bare clone")
    assert repo.export("HEAD", tmp_path / "rev") == ()
    assert repo.export_worktree(tmp_path / "files") == ()
    for out in ("rev", "files"):
        assert (tmp_path / out / "sub/inner.txt").read_text() == "inside"
        assert not (tmp_path / out / "sub/.git").exists()
    for warnings in (
        bare.export("HEAD", tmp_path / "rev2"),
        bare.export_worktree(tmp_path / "files2"),
    ):
        assert "submodule sub is not checked out" in warnings[0].text
    assert (tmp_path / "rev2/sub").is_dir()


def test_a_ref_that_is_not_there_says_what_to_do(work: Path) -> None:
    """The message names it; an option-like name is only a name."""
    for rev in ("no-such-branch", "--all", "0" * 40):
        with pytest.raises(InputError, match=f"{rev}.*fetch-depth: 0"):
            opened(work).resolve(rev)


def test_a_folder_outside_any_repository_is_refused(tmp_path: Path) -> None:
    """As is one that does not exist."""
    with pytest.raises(InputError, match="not in a git repository"):
        opened(tmp_path)
    with pytest.raises(InputError, match="not a folder"):
        opened(tmp_path / "gone")


def test_a_hooks_environment_does_not_lead_elsewhere(work: Path, tmp_path: Path) -> None:
    """GIT_DIR and the like are git's words to its hooks, not to us."""
    (work / "folder").mkdir(exist_ok=True)
    repo = opened(work / "folder", GIT_DIR=str(tmp_path), GIT_INDEX_FILE="nowhere")
    assert repo.top == work


def test_base_is_where_a_branch_parted_from_the_default_branch(work: Path) -> None:
    """Whether head is a commit or the files; and it can be named, or none."""
    parted = git(work, "rev-parse", "HEAD")
    git(work, "checkout", "-q", "-b", "feature")
    feature = commit(work, a="feature")
    git(work, "checkout", "-q", "main")
    tip = commit(work, b="main goes on")
    repo = opened(work)
    assert repo.default_branch() == "main"
    assert find_base(repo, Revisions(head="feature")) == parted
    assert find_base(repo, Revisions(head=feature, base="main")) == tip
    assert find_base(repo, Revisions(head=feature, base="none")) is None
    assert find_base(repo, Revisions(head="worktree")) == tip
    git(work, "checkout", "-q", "feature")
    assert find_base(repo, Revisions(head="worktree")) == parted


def test_the_remotes_default_branch_goes_first(work: Path, tmp_path: Path) -> None:
    """A clone knows it; without a usual name one has to say."""
    git(work, "branch", "-m", "trunk")
    with pytest.raises(InputError, match="--base origin/develop"):
        opened(work).default_branch()
    git(tmp_path, "clone", "-q", str(work), "clone")
    assert opened(tmp_path / "clone").default_branch() == "origin/trunk"


def merged(work: Path) -> tuple[str, str]:
    """A pull request's merge commit far from where the branch parted: (merge, first parent)."""
    git(work, "checkout", "-q", "-b", "feature")
    commit(work, feature="f")
    git(work, "checkout", "-q", "main")
    first = [commit(work, main=str(number)) for number in range(60)][-1]
    git(work, "merge", "-q", "--no-ff", "-m", "merge", "feature")
    git(work, "update-ref", "refs/pull/1/merge", "HEAD")
    merge = git(work, "rev-parse", "HEAD")
    git(work, "reset", "-q", "--hard", first)
    return merge, first


def shallow_checkout(work: Path, where: Path, ref: str) -> Path:
    """One detached commit, as actions/checkout leaves it."""
    where.mkdir()
    git(where, "init", "-q")
    git(where, "remote", "add", "origin", work.as_uri())
    git(where, "fetch", "-q", "--depth=1", "origin", ref)
    git(where, "checkout", "-q", "--detach", "FETCH_HEAD")
    return where


def test_the_first_parent_of_a_detached_merge_commit_is_fetched(work: Path, tmp_path: Path) -> None:
    """The shallow clone names the parents it has not got."""
    merge, first = merged(work)
    checkout = shallow_checkout(work, tmp_path / "ci", "refs/pull/1/merge")
    repo = opened(checkout)
    assert repo.resolve("HEAD") == merge
    assert repo.parents("HEAD")[0] == first
    before = everything(checkout)
    assert repo.fetch_missing("origin", first) == first
    assert everything(checkout) == before
    repo.export(first, tmp_path / "base")
    assert (tmp_path / "base/main.txt").read_text() == "59"


def test_a_shallow_clone_is_deepened_until_the_merge_base_is_there(
    work: Path, tmp_path: Path
) -> None:
    """More than one step is needed, and no ref is left behind; a local head is no hindrance."""
    parted = git(work, "rev-parse", "HEAD")
    _, first = merged(work)
    checkout = shallow_checkout(work, tmp_path / "ci", "refs/heads/feature")
    local = commit(checkout, local="unknown to the remote")
    repo = opened(checkout)
    with pytest.raises(InputError, match="no commit 'origin/main'"):
        repo.resolve("origin/main")
    before = everything(checkout)
    assert repo.fetch_missing("origin", "main", meets=local) == first
    assert repo.merge_base(first, local) == parted
    assert everything(checkout) == before


def test_a_whole_clone_does_not_become_shallow(work: Path, tmp_path: Path) -> None:
    """Fetching with a depth would cut its history off."""
    git(tmp_path, "clone", "-q", str(work), "clone")
    new = commit(work, a="newer")
    repo = opened(tmp_path / "clone")
    repo.fetch_missing("origin", new, meets="HEAD")
    assert not (tmp_path / "clone/.git/shallow").exists()
    assert repo.resolve(new) == new


def test_what_the_remote_has_not_got_says_what_to_set(work: Path, tmp_path: Path) -> None:
    """A branch and a commit."""
    checkout = shallow_checkout(work, tmp_path / "ci", "refs/heads/main")
    for wanted in ("no-such-branch", "1" * 40):
        with pytest.raises(InputError, match=f"{wanted}.*fetch-depth: 0"):
            opened(checkout).fetch_missing("origin", wanted)


@pytest.fixture
def headers() -> Iterator[tuple[str, list[str]]]:
    """A server's address, and the Authorization headers it gets."""
    seen: list[str] = []

    class Refuse(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.extend(self.headers.get_all("Authorization") or [])
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    server = HTTPServer(("127.0.0.1", 0), Refuse)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/o/r", seen
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_token_is_sent_once_and_kept_nowhere(
    work: Path, headers: tuple[str, list[str]]
) -> None:
    """It takes the place of what actions/checkout left in the repository's settings."""
    url, seen = headers
    origin = url.removesuffix("/o/r")
    git(work, "remote", "add", "origin", url)
    git(work, "config", f"http.{origin}/.extraheader", "Authorization: Basic old")
    before = everything(work)
    with pytest.raises(InputError) as refused:
        opened(work).fetch_missing("origin", "main", token="secret")  # noqa: S106 - a made-up one
    assert set(seen) == {"Basic eC1hY2Nlc3MtdG9rZW46c2VjcmV0"}
    assert "secret" not in str(refused.value)
    assert everything(work) == before


def test_the_digest_sees_names_contents_x_bits_and_links(tmp_path: Path) -> None:
    """And neither times nor what is excluded."""
    root = tmp_path / "tree"
    (root / "b").mkdir(parents=True)
    (root / "b/file").write_text("x")
    (root / "link").symlink_to("b")
    digests = [tree_digest(root)]
    (root / "b/file").chmod(0o755)
    digests.append(tree_digest(root))
    (root / "b/file").write_text("y")
    digests.append(tree_digest(root))
    (root / "link").unlink()
    (root / "link").symlink_to("b/file")
    digests.append(tree_digest(root))
    (root / "b/file").rename(root / "b/other")
    digests.append(tree_digest(root))
    assert len(set(digests)) == 5
    os.utime(root / "b/other", (1, 1))
    (root / "cache").mkdir()
    (root / "cache/z").write_text("z")
    assert tree_digest(root, ["cache"]) == digests[-1]
    assert tree_digest(root) != digests[-1]
