"""Getting the commits that a shallow checkout left out."""

import base64
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from gradegate.model.errors import InputError
from gradegate.sides.command import Git

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
    before = int(git.environ.get("GIT_CONFIG_COUNT") or 0)
    settings = {"GIT_CONFIG_COUNT": str(before + 2)}
    for number, value in enumerate(("", f"Authorization: Basic {basic}"), start=before):
        settings |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return settings


def _cannot(what: str, complaint: str) -> InputError:
    said = f" (git says: {complaint.splitlines()[0]})" if complaint else ""
    return InputError(
        f"{what}{said}: set `fetch-depth: 0` on actions/checkout, or name a base with `--base`"
    )
