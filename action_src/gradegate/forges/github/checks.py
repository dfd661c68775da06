"""The check of one commit, or a commit status where the token may not write checks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from gradegate.forges.github.refusals import is_forbidden, or_skipped
from gradegate.model.marker import HIDDEN
from gradegate.model.posting import Annotation, CheckOutput, Posted, ReportedRun, Skipped

if TYPE_CHECKING:
    from github.CheckRun import CheckRun
    from github.GithubApp import GithubApp
    from github.Repository import Repository

Remark = dict[str, str | int]
"""An annotation as GitHub takes it."""
Key = tuple[str | int, ...]
"""What tells one from another."""

JOB_TOKEN_APP = "github-actions"  # noqa: S105 - whose token GITHUB_TOKEN is
ANNOTATIONS_PER_REQUEST = 50
MOST_LINES = 10
"""That are remembered in one check."""
STATUS_DESCRIPTION_LIMIT = 140
STATUS_STATE: Mapping[str, str] = {
    "success": "success",
    "neutral": "pending",  # a status knows nothing that decides nothing
    "failure": "failure",
    "action_required": "error",
    "cancelled": "error",
}


NO_CHECKS = (
    "the token may not write checks, so a commit status says the same: add `checks: write` under "
    "the job's `permissions:` (only the job's own token and GitHub Apps can write checks: leave "
    "the input `github-token` out to use the former)"
)


class Check:
    """Starts and completes the check; remembers when checks are forbidden.

    A rerun of a workflow goes on with the check of the earlier attempt, known by its name and by
    `external_id`. GitHub never shows a completed check as in progress again: such a one keeps its
    outcome until there is another.
    """

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
        self._external_id = external_id
        links = {"details_url": details_url, "external_id": external_id}
        self._links: dict[str, Any] = {key: value for key, value in links.items() if value}
        self._ours: dict[str, CheckRun] = {}
        self._listed: dict[str, list[CheckRun] | Skipped] = {}
        self._forbidden = False
        self._lines: tuple[str, ...] = ()
        self.app_slug: str | None = None

    def start(self, sha: str) -> Posted | Skipped:
        """Show the check as in progress."""
        fields = {"status": "in_progress", "started_at": datetime.now(UTC)}
        return self._check_or_status(
            lambda: self._begin(sha, fields),
            lambda: self._set_status(sha, "pending", "in progress"),
        )

    def complete(self, sha: str, output: CheckOutput) -> Posted | Skipped:
        """Show the outcome first, then the annotations that did not fit into one request."""
        return self._check_or_status(
            lambda: self._complete(sha, output),
            lambda: self._set_status(sha, STATUS_STATE[output.conclusion], output.title),
        )

    def close_left_behind(self, sha: str, output: CheckOutput) -> None:
        """Complete the checks of jobs that were killed, as far as GitHub says that they were."""
        listed = self.listed(sha)
        for run in [] if isinstance(listed, Skipped) else listed:
            if run.status != "completed" and self._has_ended(run):
                close = partial(run.edit, status="completed", conclusion=output.conclusion)
                or_skipped("check", partial(close, output=_shown(output, ())))

    def remember(self, sha: str, line: str) -> Posted | Skipped:
        """Keep the line before the check's summary, from now on."""
        run = self._ours.get(sha)
        if run is None:
            return Skipped("the acceptance cannot be remembered without a check", "checks: write")
        self._keep(run, line)
        shown = {"title": run.output.title or "in progress", "summary": run.output.summary or ""}
        if run.output.text:
            shown["text"] = run.output.text
        run.edit(output=self._with_lines(shown))
        return Posted(run.html_url)

    def remembered(self, sha: str) -> tuple[str, ...] | Skipped:
        """The lines that our own app's checks of this name begin with."""
        listed = self.listed(sha)
        if isinstance(listed, Skipped):
            return listed
        own = [run for run in listed if self.app_slug and _app(run) == self.app_slug]
        return tuple(line for run in own for line in _lines_before(run.output.summary))

    def reported(self, sha: str) -> ReportedRun | Skipped | None:
        """The run behind the newest outcome on a commit; what is remembered then goes there."""
        listed = self.listed(sha)
        if isinstance(listed, Skipped):
            return listed
        done = [
            run
            for run in listed
            if run.status == "completed"
            and run.completed_at
            and _app(run) == (self.app_slug or JOB_TOKEN_APP)
            and (run.external_id or "").isdecimal()
        ]
        if not done:
            return None
        newest = max(done, key=lambda run: run.id)
        self._ours[sha] = newest
        assert newest.external_id and newest.completed_at  # noqa: S101, PT018 - as `done` asks
        return ReportedRun(int(newest.external_id), newest.completed_at)

    def summary_of_own(self, sha: str) -> str | Skipped | None:
        """What the check says that this workflow run has completed on the commit."""
        listed = self.listed(sha)
        if isinstance(listed, Skipped):
            return listed
        run = self._of_earlier_attempt(sha)
        if run is None or run.status != "completed":
            return None
        return run.output.summary or ""

    def listed(self, sha: str) -> "list[CheckRun] | Skipped":
        """The checks of our name that this commit had before ours, or why nobody knows."""
        if sha not in self._listed:
            self._listed[sha] = or_skipped("earlier checks", lambda: self._list(sha))
        return self._listed[sha]

    def _list(self, sha: str) -> "list[CheckRun]":
        commit = self._repository.get_commit(sha)
        return list(commit.get_check_runs(check_name=self._name, filter="all"))

    def _has_ended(self, check: "CheckRun") -> bool:
        """Whether the workflow's run that made the check is another one, and over."""
        number = check.external_id or ""
        if number == self._external_id or not (number.isascii() and number.isdecimal()):
            return False
        status = or_skipped(
            "run", lambda: self._repository.get_workflow_run(int(number)).status == "completed"
        )
        return status is True

    def _begin(self, sha: str, fields: dict[str, Any]) -> Posted:
        run = self._of_earlier_attempt(sha)
        if run is not None and run.status == "completed":
            return self._take(sha, run)
        return self._update_or_create(sha, run, fields)

    def _complete(self, sha: str, output: CheckOutput) -> Posted | Skipped:
        run = self._ours.get(sha) or self._of_earlier_attempt(sha)
        if run is not None:
            self._keep(run)
        present = _remarks(run) if run is not None and run.output.annotations_count else set()
        wanted = [_annotation(one) for one in output.annotations]
        stale = len(present - {_key(one) for one in wanted})
        first, *rest = _batches([one for one in wanted if _key(one) not in present])
        fields = {
            "status": "completed",
            "conclusion": output.conclusion,
            "completed_at": datetime.now(UTC),
        }
        posted = self._update_or_create(sha, run, fields | {"output": self._shown(output, first)})
        if self._ours[sha].conclusion != output.conclusion:
            first, *rest = _batches(wanted)
            posted, stale = self._create(sha, fields | {"output": self._shown(output, first)}), 0
        for done, batch in enumerate(rest, start=1):
            added = self._annotate(sha, output, batch, done * ANNOTATIONS_PER_REQUEST)
            if isinstance(added, Skipped):
                return added
        if stale:
            told = f"{stale} remarks of an earlier attempt stay in the check: GitHub keeps them"
            return Posted(posted.url, told)
        return posted

    def _keep(self, run: "CheckRun", *more: str) -> None:
        """Lines stay with the check: whoever reads one looks whether it still holds."""
        found = dict.fromkeys((*_lines_before(run.output.summary), *self._lines, *more))
        self._lines = tuple(found)[-MOST_LINES:]

    def _shown(self, output: CheckOutput, remarks: Sequence[Remark]) -> dict[str, Any]:
        return self._with_lines(_shown(output, remarks))

    def _with_lines(self, shown: dict[str, Any]) -> dict[str, Any]:
        """The lines that are remembered go first, where no words of an agent can be."""
        if not self._lines:
            return shown
        before = _lines_before(shown["summary"])
        rest = shown["summary"].split("\n")[len(before) :]
        return shown | {"summary": "\n".join([*self._lines, "", *rest]).rstrip("\n")}

    def _annotate(
        self, sha: str, output: CheckOutput, batch: Sequence[Remark], done: int
    ) -> Skipped | None:
        total = len(output.annotations)
        return or_skipped(
            f"check: the outcome is shown, but only {done} of {total} annotations",
            lambda: self._ours[sha].edit(output=self._shown(output, batch)),
        )

    def _check_or_status(
        self, as_check: Callable[[], Posted | Skipped], as_status: Callable[[], Posted]
    ) -> Posted | Skipped:
        from github import GithubException

        if self._forbidden:
            return as_status()
        try:
            return as_check()
        except GithubException as error:
            if not is_forbidden(error):
                raise
            self._forbidden = True
        return as_status()._replace(warning=NO_CHECKS)

    def _of_earlier_attempt(self, sha: str) -> "CheckRun | None":
        listed = self.listed(sha)
        if isinstance(listed, Skipped) or self._external_id is None:
            return None
        ours = [run for run in listed if run.external_id == self._external_id]
        return max(ours, key=lambda run: run.id, default=None)

    def _update_or_create(self, sha: str, run: "CheckRun | None", fields: dict[str, Any]) -> Posted:
        """Change a check that may be ours; one that is another app's is left alone."""
        from github import GithubException

        if run is None:
            return self._create(sha, fields)
        try:
            run.edit(**fields)
        except GithubException as error:
            if sha in self._ours or not is_forbidden(error):
                raise
            return self._create(sha, fields)
        return self._take(sha, run)

    def _create(self, sha: str, fields: dict[str, Any]) -> Posted:
        run = self._repository.create_check_run(self._name, sha, **self._links, **fields)
        return self._take(sha, run)

    def _take(self, sha: str, run: "CheckRun") -> Posted:
        self._ours[sha] = run
        self.app_slug = _app(run)
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


def _lines_before(summary: str | None) -> tuple[str, ...]:
    """What is remembered in a summary: hidden lines, before anything that is shown."""
    return tuple(takewhile(lambda line: line.startswith(HIDDEN), (summary or "").split("\n")))


def _app(run: "CheckRun") -> str | None:
    """Whose check it is: GitHub's description allows it not to say."""
    app: GithubApp | None = run.app
    return app.slug if app is not None else None


def _batches(remarks: Sequence[Remark]) -> Iterator[Sequence[Remark]]:
    """At least one batch, be it empty."""
    for start in range(0, max(len(remarks), 1), ANNOTATIONS_PER_REQUEST):
        yield remarks[start : start + ANNOTATIONS_PER_REQUEST]


def _remarks(run: "CheckRun") -> set[Key]:
    """What a check is annotated with already."""
    return {
        (one.path, one.start_line, one.annotation_level, one.title or "", one.message)
        for one in run.get_annotations()
    }


def _key(remark: Remark) -> Key:
    return tuple(
        remark[name] for name in ("path", "start_line", "annotation_level", "title", "message")
    )


def _shown(output: CheckOutput, annotations: Sequence[Remark]) -> dict[str, Any]:
    shown: dict[str, Any] = {"title": output.title, "summary": output.summary}
    if output.text:
        shown["text"] = output.text
    if annotations:
        shown["annotations"] = list(annotations)
    return shown


def _annotation(annotation: Annotation) -> Remark:
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
