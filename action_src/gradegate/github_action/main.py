"""What the container does: event → plan → outcome."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from gradegate import wiring
from gradegate.files.report_json import read_report
from gradegate.github_action.event import read_event
from gradegate.github_action.inputs import Inputs, Mode
from gradegate.github_action.plan import (
    ACCEPT_LABEL,
    Baseline,
    Evaluate,
    Plan,
    Publish,
    Refuse,
    Skip,
    plan_for,
)
from gradegate.github_action.step import REPORT_FILE, WorkflowStep
from gradegate.model.errors import GradegateError, InputError, Interrupted
from gradegate.model.report import Change, Report, State, Verdict
from gradegate.model.settings import CommentWhen, ReportSettings
from gradegate.pipeline.evaluate import Evaluation, baseline, evaluate, kept
from gradegate.pipeline.prepare import CaseFilter, EvaluationRequest
from gradegate.ports import Audience, CheckOutput, Forge, Posted, Skipped
from gradegate.progress import run_until_signal
from gradegate.report.escape import fenced
from gradegate.report.render import EXIT_CODES, Views, render_views
from gradegate.sides.checkout import Revisions
from gradegate.sides.git import NO_BASE

QUIET_VERDICTS = frozenset({Verdict.UNCHANGED, Verdict.UNCERTAIN})
Complete = Callable[[CheckOutput], str]
"""Completes the check; its address."""


class Destination(NamedTuple):
    """Where the outcome goes."""

    forge: Forge
    complete: Complete
    pull_request: int | None


def main(environ: Mapping[str, str]) -> int:
    """Do what the event asks for."""
    step = _step(environ)
    step.mask_secrets()
    plan = plan_for(read_event(environ), step.inputs)
    with step.files.kept():
        return perform(plan, step)


def publish_file(environ: Mapping[str, str], file: Path | None) -> int:
    """The trusted half of a fork's pull request, whatever the inputs ask for."""
    step = _step(environ)
    inputs = step.inputs.model_copy(update={"mode": Mode.PUBLISH})
    return perform(plan_for(read_event(environ), inputs), step, file)


def perform(plan: Plan, step: WorkflowStep, file: Path | None = None) -> int:
    """Carry out a plan; the exit code. `file` is what to publish, if not the usual one."""
    match plan:
        case Skip():
            step.say(f"gradegate: nothing to do: {plan.reason}")
            return 0
        case Refuse():
            raise InputError(plan.reason)
        case Baseline():
            return _store_runs(plan, step)
        case Publish():
            return _publish_from_file(plan, step, file or step.report_folder / REPORT_FILE)
        case Evaluate():
            return _evaluate_and_publish(plan, step)


def _step(environ: Mapping[str, str]) -> WorkflowStep:
    inputs = Inputs.from_environ(environ)
    given = inputs.store
    workspace = Path(environ.get("GITHUB_WORKSPACE") or ".")
    store = wiring.store_path(environ, str(workspace / given) if given else None)
    return WorkflowStep(environ, inputs, wiring.cache_folder(environ), store)


def _evaluate_and_publish(plan: Evaluate, step: WorkflowStep) -> int:
    token = step.inputs.require_token()
    repo = step.checkout()
    audience = Audience(
        sha=plan.check_sha or repo.resolve(plan.revisions.head),
        pull_request=None if step.inputs.shard else plan.pull_request,
        check_name=step.inputs.check_name,
        may_write=plan.may_write,
    )
    with (
        wiring.forge(step.environ, token, audience) as forge,
        _check(step, forge, audience.sha) as complete,
    ):
        request = EvaluationRequest(
            repo=repo,
            revisions=plan.revisions,
            overrides=step.inputs.overrides,
            cases=CaseFilter(shard=step.inputs.shard),
            folder=step.inputs.working_directory,
            accepted_by=_acceptance(plan, forge),
            token=token.get_secret_value(),
            warnings=plan.warnings,
        )
        with wiring.services(step.machine(repo), step.store) as services:
            evaluation = run_until_signal(evaluate(request, services))
        views = render_views(evaluation.report, step.view_options(evaluation.settings))
        views.write(step.report_folder, evaluation.results)
        return _publish(
            evaluation, views, step, Destination(forge, complete, audience.pull_request)
        )


def _publish_from_file(plan: Publish, step: WorkflowStep, file: Path) -> int:
    """Post a report made without our token. Which pull request it is, GitHub tells."""
    token = step.inputs.require_token()
    audience = Audience(sha=plan.head_sha, check_name=step.inputs.check_name)
    with wiring.forge(step.environ, token, audience) as forge:
        number = forge.find_pull_request(plan.head_owner, plan.head_branch, plan.head_sha)
        if number is None:
            step.say(f"gradegate: no pull request has {plan.head_sha[:7]} as its head any more")
            return 0
        with _check(step, forge, audience.sha, start=False) as complete:
            report = _with_true_acceptance(read_report(file), forge, number)
            report = step.secrets.hide_in(report)
            settings = ReportSettings(comment=step.inputs.comment or "always")
            views = render_views(report, step.view_options(settings))
            _publish(
                Evaluation(report, settings), views, step, Destination(forge, complete, number)
            )
    return 0


def _publish(evaluation: Evaluation, views: Views, step: WorkflowStep, to: Destination) -> int:
    """Check, comment, outputs, summary and log, as rendered."""
    report = evaluation.report
    urls = {
        "check-url": to.complete(views.check),
        "comment-url": step.tell(_comment(evaluation, views, to)),
    }
    step.finish(report, views, urls)
    return EXIT_CODES[report.decision.state]


def _comment(evaluation: Evaluation, views: Views, to: Destination) -> Posted | Skipped:
    """Write or edit the pull request's comment, as the settings want it."""
    when = evaluation.settings.comment
    if to.pull_request is None:
        return Skipped("")
    if when == "never":
        return Skipped("comment: the settings want none")
    create = comment_wanted(evaluation.report, when)
    return to.forge.comment(to.pull_request, views.comment, create=create)


def _store_runs(plan: Baseline, step: WorkflowStep) -> int:
    """Evaluate one side into the store, for the pull requests to come."""
    repo = step.checkout()
    request = EvaluationRequest(
        repo=repo,
        revisions=Revisions(head=plan.head, base=NO_BASE),
        overrides=step.inputs.overrides,
        folder=step.inputs.working_directory,
    )
    with wiring.services(step.machine(repo), step.store) as services:
        results = run_until_signal(baseline(request, services))
    step.say(kept(results, step.store))
    return 0


@contextmanager
def _check(step: WorkflowStep, forge: Forge, sha: str, *, start: bool = True) -> Iterator[Complete]:
    """The check, in progress until it is completed, which it is whatever happens."""
    completed: list[str] = []

    def complete(output: CheckOutput) -> str:
        completed.append(step.tell(forge.complete_check(sha, step.secrets.hide_all(output))))
        return completed[-1]

    if start:
        step.tell(forge.start_check(sha))
    try:
        yield complete
    except BaseException as error:
        if not completed:
            complete(_unfinished(error))
        raise


def _unfinished(error: BaseException) -> CheckOutput:
    """The check of a job that came to no report."""
    if isinstance(error, Interrupted | KeyboardInterrupt):
        return CheckOutput("cancelled", "cancelled", "The job was cancelled before it was done.")
    if isinstance(error, GradegateError):
        return CheckOutput("failure", "cannot be evaluated", fenced(str(error)))
    return CheckOutput(
        "failure", "gradegate itself failed", fenced(f"{type(error).__name__}: {error}")
    )


def _acceptance(plan: Evaluate, forge: Forge) -> str | None:
    """Who accepted the pull request, if somebody did."""
    if not plan.accepted or plan.pull_request is None:
        return None
    return forge.labels_and_actor(plan.pull_request, ACCEPT_LABEL)


def _with_true_acceptance(report: Report, forge: Forge, number: int) -> Report:
    """The report with GitHub's word on who accepted it, whatever name it gives."""
    if report.decision.accepted_by is None:
        return report
    actor = forge.labels_and_actor(number, ACCEPT_LABEL)
    if actor is None:
        raise InputError(
            f"the report says that somebody accepted it, and the pull request has no label "
            f"`{ACCEPT_LABEL}`"
        )
    decision = report.decision.model_copy(update={"accepted_by": actor})
    return report.model_copy(update={"decision": decision})


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
