"""Where the outcome of a job goes: a commit's check, a pull request's comment, the summary."""

from collections.abc import Iterator
from contextlib import contextmanager

from gradegate.github_action.step import WorkflowStep
from gradegate.model.errors import GradegateError, Interrupted
from gradegate.model.report import Change, Report, State, Verdict
from gradegate.model.settings import CommentWhen
from gradegate.pipeline.evaluate import Evaluation
from gradegate.ports import Audience, CheckOutput, Forge, Posted, Skipped
from gradegate.report.render import EXIT_CODES, Views
from gradegate.report.unfinished import Unfinished, Why, unfinished

QUIET_VERDICTS = frozenset({Verdict.UNCHANGED, Verdict.UNCERTAIN})


class Destination:
    """Tells everybody in the audience what became of one commit."""

    def __init__(self, step: WorkflowStep, forge: Forge, audience: Audience) -> None:
        self.step = step
        self.forge = forge
        self.audience = audience
        self._completed = False

    def begin(self, replaces: str | None = None) -> None:
        """Show the check in progress; close those that killed jobs left here and on that commit."""
        self.step.tell(self.forge.start_check(self.audience.sha))
        for sha in filter(None, (self.audience.sha, replaces)):
            self.forge.close_left_behind(sha, self._unfinished("left_behind").check)

    def publish(self, evaluation: Evaluation, views: Views) -> int:
        """Check, comment, outputs, summary and log, as rendered; the exit code."""
        report = evaluation.report
        urls = {
            "check-url": self._complete(views.check),
            "comment-url": self.step.tell(self._comment(evaluation, views)),
        }
        self.step.finish(report, views, urls)
        return EXIT_CODES[report.decision.state]

    def fail(self, error: BaseException) -> None:
        """Say that there is no report, and why, wherever an older one could be taken for it."""
        if self._completed:
            return
        if isinstance(error, Interrupted | KeyboardInterrupt):
            self._complete(self._unfinished("cancelled").check)
            return
        shown = (
            self._unfinished("input", str(error))
            if isinstance(error, GradegateError)
            else self._unfinished("internal", f"{type(error).__name__}: {error}")
        )
        self.tell_unfinished(shown)

    def tell_unfinished(self, shown: Unfinished) -> None:
        """Check, summary, and the comment where there is one already."""
        shown = self.step.secrets.hide_all(shown)
        self._complete(shown.check)
        self.step.append_summary(shown.summary)
        if (number := self.audience.pull_request) is not None:
            self.step.tell(self.forge.comment(number, shown.comment, create=False))

    def _unfinished(self, why: Why, detail: str = "") -> Unfinished:
        return unfinished(why, self.audience.sha, self.step.view_options(), detail)

    def _complete(self, output: CheckOutput) -> str:
        self._completed = True
        output = self.step.secrets.hide_all(output)
        return self.step.tell(self.forge.complete_check(self.audience.sha, output))

    def _comment(self, evaluation: Evaluation, views: Views) -> Posted | Skipped:
        """Write or edit the pull request's comment, as the settings want it."""
        when, number = evaluation.settings.comment, self.audience.pull_request
        if number is None:
            return Skipped("")
        if when == "never":
            return Skipped("comment: the settings want none")
        create = comment_wanted(evaluation.report, when)
        return self.forge.comment(number, views.comment, create=create)


@contextmanager
def told(destination: Destination) -> Iterator[Destination]:
    """Whatever happens, the audience is told; the error goes on."""
    try:
        yield destination
    except BaseException as error:
        destination.fail(error)
        raise


def comment_wanted(report: Report, when: CommentWhen) -> bool:
    """Whether the pull request gets a comment where it has none yet."""
    match when:
        case "always":
            return True
        case "never":
            return False
        case "failures":
            return report.decision.state is not State.PASS
        case "changes":
            return report.decision.state is not State.PASS or _has_changes(report)


def _has_changes(report: Report) -> bool:
    return any(
        case.change is not Change.SAME
        or any(one.verdict not in QUIET_VERDICTS for one in case.criteria.values())
        for case in report.cases
    )
