"""The check of one commit, or a commit status where the token may not write checks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gradegate.forges.github.refusals import is_forbidden, or_skipped
from gradegate.ports import Annotation, CheckOutput, Posted, Skipped

if TYPE_CHECKING:
    from github.CheckRun import CheckRun
    from github.Repository import Repository

ANNOTATIONS_PER_REQUEST = 50
STATUS_DESCRIPTION_LIMIT = 140
STATUS_STATE: Mapping[str, str] = {
    "success": "success",
    "neutral": "success",  # a neutral check lets the merge through as well
    "failure": "failure",
    "action_required": "error",
    "cancelled": "error",
}


class Check:
    """Starts and completes the check; remembers when checks are forbidden."""

    def __init__(
        self,
        repository: "Repository",
        name: str,
        details_url: str | None,
        external_id: str | None,
    ) -> None:
        self._repository = repository
        self._name = name
        self._details_url = details_url
        links = {"details_url": details_url, "external_id": external_id}
        self._links: dict[str, Any] = {key: value for key, value in links.items() if value}
        self._started: dict[str, CheckRun] = {}
        self._forbidden = False
        self.app_slug: str | None = None

    def start(self, sha: str) -> Posted:
        """Show the check as in progress."""
        return self._check_or_status(
            lambda: self._create(sha, {"status": "in_progress", "started_at": datetime.now(UTC)}),
            lambda: self._set_status(sha, "pending", "in progress"),
        )

    def complete(self, sha: str, output: CheckOutput) -> Posted | Skipped:
        """Show the outcome first, then the annotations that did not fit into one request."""
        first, *rest = _batches(output.annotations)
        completed = {
            "status": "completed",
            "conclusion": output.conclusion,
            "completed_at": datetime.now(UTC),
            "output": _shown(output, first),
        }
        posted = self._check_or_status(
            lambda: self._update_or_create(sha, completed),
            lambda: self._set_status(sha, STATUS_STATE[output.conclusion], output.title),
        )
        if self._forbidden:
            return posted
        for done, batch in enumerate(rest, start=1):
            added = self._annotate(sha, output, batch, done * ANNOTATIONS_PER_REQUEST)
            if isinstance(added, Skipped):
                return added
        return posted

    def _annotate(
        self, sha: str, output: CheckOutput, batch: Sequence[Annotation], done: int
    ) -> Skipped | None:
        total = len(output.annotations)
        return or_skipped(
            f"check: the outcome is shown, but only {done} of {total} annotations",
            lambda: self._started[sha].edit(output=_shown(output, batch)),
        )

    def _check_or_status(
        self, as_check: Callable[[], Posted], as_status: Callable[[], Posted]
    ) -> Posted:
        from github import GithubException

        if not self._forbidden:
            try:
                return as_check()
            except GithubException as error:
                if not is_forbidden(error):
                    raise
                self._forbidden = True
        return as_status()

    def _update_or_create(self, sha: str, fields: dict[str, Any]) -> Posted:
        run = self._started.get(sha)
        if run is None:
            return self._create(sha, fields)
        run.edit(**fields)
        return Posted(run.html_url)

    def _create(self, sha: str, fields: dict[str, Any]) -> Posted:
        run = self._repository.create_check_run(self._name, sha, **self._links, **fields)
        self._started[sha] = run
        self.app_slug = run.app.slug
        return Posted(run.html_url)

    def _set_status(self, sha: str, state: str, description: str) -> Posted:
        from github.GithubObject import NotSet

        status = self._repository.get_commit(sha).create_status(
            state,
            target_url=self._details_url or NotSet,
            description=_clip(description, STATUS_DESCRIPTION_LIMIT),
            context=self._name,
        )
        return Posted(self._details_url or status.url)


def _batches(annotations: Sequence[Annotation]) -> Iterator[Sequence[Annotation]]:
    """At least one batch, be it empty."""
    for start in range(0, max(len(annotations), 1), ANNOTATIONS_PER_REQUEST):
        yield annotations[start : start + ANNOTATIONS_PER_REQUEST]


def _shown(output: CheckOutput, annotations: Sequence[Annotation]) -> dict[str, Any]:
    shown: dict[str, Any] = {"title": output.title, "summary": output.summary}
    if output.text:
        shown["text"] = output.text
    if annotations:
        shown["annotations"] = [_annotation(annotation) for annotation in annotations]
    return shown


def _annotation(annotation: Annotation) -> dict[str, str | int]:
    return {
        "path": annotation.path,
        "start_line": annotation.line,
        "end_line": annotation.line,
        "annotation_level": annotation.level,
        "title": annotation.title,
        "message": annotation.message,
    }


def _clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
