"""What the container does: event → plan → outcome."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gradegate import locales, wiring
from gradegate.compare.next_runs import BASELINE_RUNS
from gradegate.files.json_document import refuse_outside
from gradegate.files.report_json import read_report
from gradegate.github_action.acceptance import acceptance_of
from gradegate.github_action.base_records import HandedOn, hand_on
from gradegate.github_action.base_settings import report_settings_of_base
from gradegate.github_action.comment_reply import CommentJob
from gradegate.github_action.event import read_event
from gradegate.github_action.forks import (
    as_a_courtesy,
    name_for_forks,
    report_of_fork,
    reviewed_revisions,
)
from gradegate.github_action.inputs import Inputs, Mode
from gradegate.github_action.outcome import Destination, told
from gradegate.github_action.plan import (
    HEAD,
    AnswerComment,
    Baseline,
    Evaluate,
    Plan,
    Publish,
    PublishAgain,
    Refuse,
    RunShard,
    Skip,
    plan_for,
)
from gradegate.github_action.step import REPORT_FILE, WorkflowStep
from gradegate.model.errors import InputError
from gradegate.model.posting import Audience, Skipped
from gradegate.model.settings import ReportSettings
from gradegate.pipeline.confirming import NO_MATRIX, matrix_for, run_confirming, runs_wanted
from gradegate.pipeline.evaluate import Evaluation, baseline, evaluate, kept, run_shard
from gradegate.pipeline.prepare import EvaluationRequest
from gradegate.pipeline.shards import shard_done, write_shard
from gradegate.progress import run_until_signal
from gradegate.report.render import render_views
from gradegate.sides.checkout import Revisions
from gradegate.sides.git import NO_BASE


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
        case PublishAgain():
            return _publish_again(plan, step, file or step.report_folder / REPORT_FILE)
        case Evaluate():
            return _evaluate_and_publish(plan, step)
        case RunShard():
            return _run_shard(plan, step)
        case AnswerComment():
            return _answer_comment(plan, step)


def _step(environ: Mapping[str, str]) -> WorkflowStep:
    inputs = Inputs.from_environ(environ)
    given = inputs.store
    workspace = Path(environ.get("GITHUB_WORKSPACE") or ".")
    store = wiring.store_path(environ, str(workspace / given) if given else None)
    return WorkflowStep(environ, inputs, wiring.cache_folder(environ), store)


def _evaluate_and_publish(plan: Evaluate, step: WorkflowStep) -> int:
    token = step.inputs.require_token()
    repo = step.repository()
    audience = Audience(
        sha=plan.check_sha or repo.resolve(plan.revisions.head),
        pull_request=plan.pull_request,
        check_name=step.inputs.check_name,
        may_write=plan.may_write,
    )
    with (
        wiring.forge(step.environ, token, audience) as forge,
        told(Destination(step, forge, audience)) as destination,
    ):
        revisions = reviewed_revisions(plan, forge) if plan.reviewed else plan.revisions
        destination.begin(plan.replaces)
        step.files.refuse_foreign(repo)
        accepted = acceptance_of(plan, forge, repo)
        for acceptance in accepted.acceptances:
            step.tell(forge.remember(audience.sha, acceptance.line()))
        request = EvaluationRequest(
            repo=repo,
            revisions=revisions,
            overrides=step.inputs.overrides,
            shards=step.shards_folder if plan.merges else None,
            folder=step.inputs.working_directory,
            accepted=accepted.accepted,
            token=token.get_secret_value(),
            warnings=accepted.warnings,
        )
        if plan.merges and step.inputs.confirm_shards and _asks_for_a_matrix(request, step):
            return 0
        with wiring.services(step.machine(repo), step.store) as services:
            history = HandedOn(services.history, plan.base_branch, forge, step)
            evaluation = run_until_signal(evaluate(request, replace(services, history=history)))
        commit = evaluation.report.head.commit or audience.sha
        views = render_views(evaluation.report, step.view_options(evaluation.settings, commit))
        views.write(step.report_folder, evaluation.results)
        return destination.publish(evaluation, views)


def _asks_for_a_matrix(request: EvaluationRequest, step: WorkflowStep) -> bool:
    """Leave the runs that are wanted to other jobs, where there are many; another one decides."""
    with wiring.services(step.machine(request.repo), step.store) as services:
        runs = run_until_signal(runs_wanted(request, services))
    matrix = matrix_for(runs, step.inputs.confirm_shards or 0)
    if matrix == NO_MATRIX:
        return False
    step.ask_for(matrix)
    step.say(f"gradegate: {locales.some(runs, 'run')} to confirm what looks worse: a second matrix")
    return True


def _publish_from_file(plan: Publish, step: WorkflowStep, file: Path) -> int:
    """Post a fork's report, made without our token. Which pull request it is, GitHub tells."""
    token = step.inputs.require_token()
    name = name_for_forks(step.inputs.check_name)
    step = replace(step, inputs=step.inputs.model_copy(update={"check_name": name}))
    audience = Audience(sha=plan.head_sha, check_name=name)
    with wiring.forge(step.environ, token, audience) as forge:
        number = forge.find_pull_request(plan.head_owner, plan.head_branch, plan.head_sha)
        if isinstance(number, Skipped):
            step.tell(number)
            number = None
        elif number is None:
            step.say(f"gradegate: no pull request has {plan.head_sha[:7]} as its head any more")
            return 0
        audience = audience._replace(pull_request=number)
        with told(Destination(step, forge, audience)) as destination:
            if not os.path.lexists(file):
                destination.without_report()
                return 0
            refuse_outside(file.parent, file.name)
            report = step.secrets.hide_in(report_of_fork(file, plan.head_sha, forge))
            settings = report_settings_of_base(forge, number, step.inputs)
            if isinstance(settings, Skipped):
                step.say(f"gradegate: shown as by default: {settings.reason}")
                settings = ReportSettings(comment=step.inputs.comment or "always")
            shown = render_views(report, step.view_options(settings, plan.head_sha))
            views = as_a_courtesy(shown)
            destination.publish(Evaluation(report, settings), views)
    return 0


def _publish_again(plan: PublishAgain, step: WorkflowStep, file: Path) -> int:
    """Post this job's own report once more, with the links that are known by now.

    Raises:
        InputError: it is not the report that this workflow run's check is of.
    """
    token = step.inputs.require_token()
    sha = plan.check_sha or step.repository().resolve(HEAD)
    audience = Audience(sha=sha, pull_request=plan.pull_request, check_name=step.inputs.check_name)
    with wiring.forge(step.environ, token, audience) as forge:
        destination = Destination(step, forge, audience)
        mark = destination.mark_of_own()
        if isinstance(mark, Skipped):
            step.tell(mark)
            return 0
        report = read_report(file)
        if mark is None or not mark.is_of(file.read_text(encoding="utf-8")):
            raise InputError(
                f"{file}: this workflow run has no check of {sha[:7]} that this report is of: "
                "`mode: publish` posts the report of an earlier step, as that step left it"
            )
        settings = ReportSettings.model_validate({"language": mark.language})
        views = render_views(report, step.view_options(settings, report.head.commit or sha))
        destination.publish_again(report, views, mark)
    return 0


def _answer_comment(plan: AnswerComment, step: WorkflowStep) -> int:
    """Do what a person asks for in a comment. Nothing of the pull request is looked at or run."""
    audience = Audience(
        sha="", check_name=step.inputs.check_name, pull_request=plan.number, may_write=True
    )
    with wiring.forge(step.environ, step.inputs.require_token(), audience) as forge:
        settings = report_settings_of_base(forge, plan.number, step.inputs)
        language = "en" if isinstance(settings, Skipped) else settings.language
        done = CommentJob(plan, forge, locales.locale_of(language)).carry_out()
        step.tell(forge.answer(plan.number, plan.comment, done.reaction, done.said))
    return 0


def _store_runs(plan: Baseline, step: WorkflowStep) -> int:
    """Evaluate one side into the store, for the pull requests to come."""
    repo = step.checkout()
    request = EvaluationRequest(
        repo=repo,
        revisions=Revisions(head=plan.head, base=NO_BASE),
        overrides=step.inputs.overrides,
        shards=step.shards_folder if plan.merges else None,
        folder=step.inputs.working_directory,
    )
    with wiring.services(step.machine(repo), step.store, fresh=plan.fresh) as services:
        results = run_until_signal(baseline(request, services))
    step.say(kept(results, step.store))
    if plan.branch and step.inputs.github_token:
        audience = Audience(sha=results.commit, check_name=step.inputs.check_name)
        with wiring.forge(step.environ, step.inputs.github_token, audience) as forge:
            hand_on(plan.branch, results.commit, forge, step)
    return 0


def _run_shard(plan: RunShard, step: WorkflowStep) -> int:
    """Run one part of the cases for the job that merges; nothing is said of it elsewhere."""
    repo = step.checkout()
    token = step.inputs.github_token
    request = EvaluationRequest(
        repo=repo,
        revisions=plan.revisions,
        overrides=step.inputs.overrides,
        shards=step.shards_folder if plan.confirms else None,
        folder=step.inputs.working_directory,
        token=token.get_secret_value() if token else None,
    )
    at_least = BASELINE_RUNS if plan.keeps else 1
    with wiring.services(step.machine(repo), step.store) as services:
        outcome = run_until_signal(
            run_confirming(request, services, plan.shard)
            if plan.confirms
            else run_shard(request, services, plan.shard, at_least)
        )
    file = write_shard(step.report_folder, outcome)
    step.finish_shard(file)
    step.say(f"gradegate: {shard_done(outcome)}")
    return 0
