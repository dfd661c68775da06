"""GitHub's git database: blobs, trees, commits and branches, and when a branch may move."""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha1
from typing import Any

from tests.standins.github.answer import Answer, Refused, invalid, message, not_found
from tests.standins.github.model import EMPTY_TREE, State
from tests.standins.github.request import REPO, Request, Routes

NOT_AHEAD = "Update is not a fast forward"
EXISTS = "Reference already exists"


def _blob(request: Request, text: str) -> str:
    content = text.encode()
    sha = _sha(b"blob", content)
    request.state.git.blobs[sha] = content
    return sha


def _sha(kind: bytes, content: bytes) -> str:
    return sha1(b"%s %d\0%s" % (kind, len(content), content)).hexdigest()  # noqa: S324 - git's own


def _create_tree(request: Request) -> Answer:
    git = request.state.git
    base = request.body.get("base_tree", EMPTY_TREE)
    if base not in git.trees:
        raise invalid("base_tree is not a valid tree")
    entries = dict(git.trees[base])
    for entry in request.body["tree"]:
        if "content" in entry:
            entries[entry["path"]] = _blob(request, entry["content"])
        elif entry.get("sha") in git.blobs:
            entries[entry["path"]] = entry["sha"]
        else:
            raise invalid("tree.sha is not a valid blob")
    content = b"".join(
        b"100644 %s\0%s" % (path.encode(), bytes.fromhex(sha))
        for path, sha in sorted(entries.items())
    )
    sha = _sha(b"tree", content)
    git.trees[sha] = entries
    return Answer(201, _tree(request, sha))


def _tree(request: Request, sha: str) -> dict[str, Any]:
    git = request.state.git
    entries = [
        {
            "path": path,
            "mode": "100644",
            "type": "blob",
            "sha": blob,
            "size": len(git.blobs[blob]),
            "url": request.views.git("blobs", blob),
        }
        for path, blob in sorted(git.trees[sha].items())
    ]
    return {
        "sha": sha, "url": request.views.git("trees", sha), "tree": entries, "truncated": False
    }  # fmt: skip


def _get_tree(request: Request) -> Answer:
    sha = request.values["tree_sha"]
    if sha not in request.state.git.trees:
        raise not_found()
    return Answer(200, _tree(request, sha))


def _get_blob(request: Request) -> Answer:
    sha = request.values["file_sha"]
    content = request.state.git.blobs.get(sha)
    if content is None:
        raise not_found()
    shown = {
        "sha": sha,
        "url": request.views.git("blobs", sha),
        "size": len(content),
        "encoding": "base64",
        "content": b64encode(content).decode(),
    }
    return Answer(200, shown)


def _create_blob(request: Request) -> Answer:
    if request.body.get("encoding", "utf-8") != "utf-8":
        raise invalid("the stand-in takes text alone")
    sha = _blob(request, request.body["content"])
    return Answer(201, {"sha": sha, "url": request.views.git("blobs", sha)})


def _create_commit(request: Request) -> Answer:
    state, body = request.state, request.body
    parents = tuple(request.commit(parent) for parent in body.get("parents", ()))
    if body["tree"] not in state.git.trees:
        raise invalid("Tree SHA does not exist")
    about = f"{body['tree']} {' '.join(parents)} {next(state.ids)} {body['message']}"
    sha = _sha(b"commit", about.encode())
    state.commits.add(sha)
    state.parents[sha] = parents
    state.git.tree_of[sha] = body["tree"]
    return Answer(201, request.views.commit(sha, parents, body["tree"]))


def _get_commit(request: Request) -> Answer:
    sha = request.values["commit_sha"]
    state = request.state
    if sha not in state.commits:
        raise not_found()
    tree = state.git.tree_of.get(sha, EMPTY_TREE)
    return Answer(200, request.views.commit(sha, state.parents.get(sha, ()), tree))


def _list_commits(request: Request) -> Answer:
    """Of a branch or a commit, nearest first."""
    asked = request.query.get("sha", "main")
    begin = request.state.git.branches.get(asked, asked)
    if begin not in request.state.commits:
        raise not_found()
    commits = _ancestry(request.state, begin)
    parents = request.state.parents
    return request.pages(request.views.commit(sha, parents.get(sha, ())) for sha in commits)


def _ancestry(state: State, begin: str) -> Iterator[str]:
    seen, waiting = {begin}, [begin]
    for sha in waiting:
        yield sha
        new = [parent for parent in state.parents.get(sha, ()) if parent not in seen]
        seen.update(new)
        waiting.extend(new)


def _branch(ref: str) -> str:
    kind, _, name = ref.removeprefix("refs/").partition("/")
    if kind != "heads" or not name:
        raise not_found()
    return name


def _get_ref(request: Request) -> Answer:
    name = _branch(request.values["ref"])
    sha = request.state.git.branches.get(name)
    if sha is None:
        raise not_found()
    return Answer(200, request.views.branch(name, sha))


def _create_ref(request: Request) -> Answer:
    ref = request.body["ref"]
    if not ref.startswith("refs/heads/"):
        raise invalid("Reference name must start with 'refs/'")
    name, branches = _branch(ref), request.state.git.branches
    if name in branches:
        raise Refused(message(422, EXISTS))
    branches[name] = request.commit(request.body["sha"])
    return Answer(201, request.views.branch(name, branches[name]))


def _update_ref(request: Request) -> Answer:
    name, branches = _branch(request.values["ref"]), request.state.git.branches
    if name not in branches:
        raise Refused(message(422, "Reference does not exist"))
    sha = request.commit(request.body["sha"])
    ahead = branches[name] in _ancestry(request.state, sha)
    if not ahead and not request.body.get("force", False):
        raise Refused(message(422, NOT_AHEAD))
    branches[name] = sha
    return Answer(200, request.views.branch(name, sha))


ROUTES: Routes = {
    f"get {REPO}/commits": ("contents", "read", _list_commits),
    f"get {REPO}/git/commits/{{commit_sha}}": ("contents", "read", _get_commit),
    f"post {REPO}/git/commits": ("contents", "write", _create_commit),
    f"post {REPO}/git/blobs": ("contents", "write", _create_blob),
    f"get {REPO}/git/blobs/{{file_sha}}": ("contents", "read", _get_blob),
    f"post {REPO}/git/trees": ("contents", "write", _create_tree),
    f"get {REPO}/git/trees/{{tree_sha}}": ("contents", "read", _get_tree),
    f"get {REPO}/git/ref/{{ref}}": ("contents", "read", _get_ref),
    f"post {REPO}/git/refs": ("contents", "write", _create_ref),
    f"patch {REPO}/git/refs/{{ref}}": ("contents", "write", _update_ref),
}
