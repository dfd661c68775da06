"""Where the outcome of a job goes: a commit's check, a pull request's comment, the summary."""

from collections.abc import Iterator
from contextlib import contextmanager

from gradegate.github_action.own_report import ReportMark
from gradegate.github_action.step import WorkflowStep
from gradegate.model.errors import GradegateError, Interrupted
from gradegate.model.posting import Audience, CheckOutput, Posted, Skipped
from gradegate.model.report import Change, Report, State, Verdict
from gradegate.model.settings import CommentWhen
from gradegate.pipeline.evaluate import Evaluation
from gradegate.ports import Forge
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
        language = self.step.view_options(evaluation.settings).language
        mark = ReportMark.of(views.json, language)
        urls = {
            "check-url": self._complete(_marked(views.check, mark)),
            "comment-url": self.step.tell(self._comment(evaluation, views)),
        }
        self.step.finish(report, views, urls)
        return EXIT_CODES[report.decision.state]

    def mark_of_own(self) -> ReportMark | Skipped | None:
        """Which report this workflow run's check is of; None: there is no such check."""
        summary = self.forge.summary_of_check(self.audience.sha)
        if isinstance(summary, Skipped):
            return summary
        return ReportMark.read(summary or "")

    def publish_again(self, report: Report, views: Views, mark: ReportMark) -> None:
        """The check and the comment where there is one, with the links that are known by now."""
        urls = {"check-url": self._complete(_marked(views.check, mark))}
        if (number := self.audience.pull_request) is not None:
            urls["comment-url"] = self.step.tell(
                self.forge.comment(number, views.comment, create=False)
            )
        self.step.finish_again(report, urls)

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

    def without_report(self) -> None:
        """Say that a fork's own job came to none."""
        self.tell_unfinished(self._unfinished("no_report"))

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


def _marked(output: CheckOutput, mark: ReportMark) -> CheckOutput:
    return output._replace(summary=f"{output.summary}\n{mark.line()}\n")


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
