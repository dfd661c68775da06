"""A branch that only keeps data: read and written through GitHub's git database, no checkout."""

import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gradegate.model.posting import Posted, Skipped

if TYPE_CHECKING:
    from github.Repository import Repository

ATTEMPTS = 40
"""Of a change; each that fails has failed because somebody else's came first."""
LAST_DOUBLING = 5
"""Of the longest wait before the next attempt, which begins with the pause between two writes."""
_REFUSED = (409, 422)
"""What GitHub answers where the branch is no longer what the new commit was made on."""
_NOTHING = (404, 409)
"""No such branch, or a repository without a commit."""
_FILE = "100644"

Change = Callable[[str | None], str]
"""The new text, by the one that is there; None where there is none."""


class DataBranch:
    """One branch of files side by side, whose history is never rewritten."""

    def __init__(self, repository: "Repository", name: str, pause_seconds: float) -> None:
        self._repository = repository
        self._name = name
        self._pause_seconds = pause_seconds

    def read(self, path: str) -> str | None:
        """A file's text; None where there is no such branch or file."""
        tip = self._tip()
        return None if tip is None else self._text(self._tree_of(tip), path)

    def change(self, path: str, change: Change, message: str) -> Posted | Skipped:
        """Change a file by one commit, once more where another was faster: nothing is lost."""
        from github import GithubException

        tip = self._tip()
        for attempt in range(ATTEMPTS):
            tree = None if tip is None else self._tree_of(tip)
            present = None if tree is None else self._text(tree, path)
            text = change(present)
            if text == present:
                return Posted("")
            made = self._commit(tip, tree, path, text, message)
            try:
                self._move(tip, made["sha"])
                return Posted(made["html_url"])
            except GithubException as error:
                if error.status not in _REFUSED:
                    raise
                self._wait(attempt)
                seen, tip = tip, self._tip()
                if tip == seen:
                    raise
        return Skipped(f"{self._name}: others were faster {ATTEMPTS} times")

    def _wait(self, attempt: int) -> None:
        """Longer each time, and never as long as another: requests are limited by the hour."""
        longest = self._pause_seconds * 2 ** min(attempt, LAST_DOUBLING)
        time.sleep(random.uniform(0.0, longest))  # noqa: S311 - to keep writers apart

    def _tip(self) -> str | None:
        from github import GithubException

        try:
            return str(self._ask("GET", f"ref/heads/{quote(self._name)}")["object"]["sha"])
        except GithubException as error:
            if error.status in _NOTHING:
                return None
            raise

    def _tree_of(self, commit: str) -> str:
        return str(self._ask("GET", f"commits/{commit}")["tree"]["sha"])

    def _text(self, tree: str, path: str) -> str | None:
        """What is no text reads as such, with signs for what it is not."""
        from base64 import b64decode

        for entry in self._ask("GET", f"trees/{tree}")["tree"]:
            if entry["path"] == path and entry["type"] == "blob":
                content = self._ask("GET", f"blobs/{entry['sha']}")["content"]
                return b64decode(content).decode(errors="replace")
        return None

    def _commit(
        self, tip: str | None, tree: str | None, path: str, text: str, message: str
    ) -> dict[str, Any]:
        entry = {"path": path, "mode": _FILE, "type": "blob", "content": text}
        beside = {} if tree is None else {"base_tree": tree}
        made = self._ask("POST", "trees", tree=[entry], **beside)["sha"]
        parents = [] if tip is None else [tip]
        return self._ask("POST", "commits", message=message, tree=made, parents=parents)

    def _move(self, tip: str | None, commit: str) -> None:
        """Have the branch end in the commit; refused where it no longer ends in `tip`."""
        if tip is None:
            self._ask("POST", "refs", ref=f"refs/heads/{self._name}", sha=commit)
        else:
            self._ask("PATCH", f"refs/heads/{quote(self._name)}", sha=commit, force=False)

    def _ask(self, method: str, path: str, **body: Any) -> dict[str, Any]:
        url = f"{self._repository.url}/git/{path}"
        data: dict[str, Any]
        _, data = self._repository.requester.requestJsonAndCheck(method, url, input=body or None)
        return data
