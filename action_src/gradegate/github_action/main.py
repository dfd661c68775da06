"""`gradegate action`: what the container runs. Event in; comment, check and exit code out."""

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gradegate.commands.run import evaluate_here, wanted_of
from gradegate.files.report_json import read_report
from gradegate.forges.github.forge import GitHubForge
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
from gradegate.github_action.step import (
    WorkspaceFiles,
    append_summary,
    mask,
    neutralise,
    write_outputs,
)
from gradegate.model.errors import GradegateError, InputError, Interrupted
from gradegate.model.masking import SecretMasker
from gradegate.model.report import Report
from gradegate.model.settings import ReportSettings
from gradegate.pipeline.evaluate import Evaluation, EvaluationRequest
from gradegate.pipeline.prepare import CaseFilter
from gradegate.ports import CheckOutput, Posted, Skipped
from gradegate.report.escape import fenced
from gradegate.report.render import (
    EXIT_CODES,
    ViewOptions,
    check_of,
    outputs_of,
    post_comment,
    render,
    write_files,
)
from gradegate.sides.checkout import Wanted
from gradegate.sides.git import Repo
from gradegate.wiring import Machine, cache_folder, store_path

REPORT_FILE = "report.json"


@dataclass(frozen=True)
class WorkflowStep:
    """One step of a workflow: its environment and inputs."""

    environ: Mapping[str, str]
    inputs: Inputs

    @property
    def workspace(self) -> Path:
        """Where the repository was checked out."""
        return Path(self.environ.get("GITHUB_WORKSPACE") or ".")

    @property
    def report_dir(self) -> Path:
        """Where the report's files go."""
        return self.workspace / self.inputs.report_dir

    def style(self, report: ReportSettings | None = None) -> ViewOptions:
        """How the report is shown."""
        language = self.inputs.language or (report or ReportSettings()).language
        return ViewOptions(language, self.inputs.check_name, self.inputs.working_directory)

    def forge(self) -> GitHubForge:
        """GitHub, as this job's token sees it."""
        env = self.environ
        server = env.get("GITHUB_SERVER_URL", "https://github.com")
        repository = env.get("GITHUB_REPOSITORY", "")
        run_id = env.get("GITHUB_RUN_ID")
        return GitHubForge(
            self.inputs.require_token().get_secret_value(),
            env.get("GITHUB_API_URL", "https://api.github.com"),
            repository,
            self.inputs.check_name,
            f"{server}/{repository}/actions/runs/{run_id}" if run_id else None,
            external_id=run_id,
        )

    def say(self, text: str) -> None:
        """A line for the log; whatever it quotes cannot be read as a command."""
        sys.stderr.write(f"{neutralise(text)}\n")


def action(options: Namespace, environ: Mapping[str, str]) -> int:
    """Do what the event asks for."""
    del options
    job = WorkflowStep(environ, Inputs.from_environ(environ))
    _mask_secrets(job)
    plan = plan_for(read_event(environ), job.inputs)
    with _belongings(job).kept():
        return perform(plan, job)


def perform(plan: Plan, job: WorkflowStep, report: Path | None = None) -> int:
    """Carry out a plan; the exit code. `report` is what to publish, if not the usual file."""
    match plan:
        case Skip():
            job.say(f"gradegate: nothing to do: {plan.reason}")
            return 0
        case Refuse():
            raise InputError(plan.reason)
        case Baseline():
            return _baseline(job, plan)
        case Publish():
            return _publish(job, plan, report or job.report_dir / REPORT_FILE)
        case Evaluate():
            return _evaluate(job, plan)


def _mask_secrets(job: WorkflowStep) -> None:
    """Have the runner hide every value that looks like a secret from the log, in all steps."""
    for line in mask(SecretMasker.in_environ(job.environ)):
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _evaluate(job: WorkflowStep, plan: Evaluate) -> int:
    job.inputs.require_token()
    repo = _checkout(job)
    sha = plan.check_sha or repo.resolve(plan.head)
    with job.forge() as forge:
        if plan.may_write:
            _tell(job, forge.start_check(sha))
        else:
            job.say("this pull request comes from a fork: the workflow on workflow_run posts it")
        finish = _finisher(job, forge, sha, may_write=plan.may_write)
        try:
            done = evaluate_here(_task(job, plan, repo, forge), _outside(job, repo), _store(job))
        except BaseException as error:
            finish(_unfinished(error))
            raise
        urls = _announce(job, plan, forge, done, finish)
    _write_runner_files(job, done.report, urls, job.style(done.setup.policy.report))
    return EXIT_CODES[done.report.decision.state]


def _checkout(job: WorkflowStep) -> Repo:
    """The repository, which must not have brought along what only we may write."""
    repo = Repo.open(job.workspace, job.environ)
    _belongings(job).refuse_foreign(repo)
    return repo


def _belongings(job: WorkflowStep) -> WorkspaceFiles:
    return WorkspaceFiles(job.workspace, cache_folder(job.environ), job.report_dir, _store(job))


def _task(job: WorkflowStep, plan: Evaluate, repo: Repo, forge: GitHubForge) -> EvaluationRequest:
    accepted = None
    if plan.accepted and plan.pull_request is not None:
        accepted = forge.labels_and_actor(plan.pull_request, ACCEPT_LABEL)
    return EvaluationRequest(
        repo=repo,
        wanted=wanted_of(plan.base, plan.head),
        inputs=job.inputs,
        selection=CaseFilter(shard=job.inputs.shard),
        accepted_by=accepted,
        token=job.inputs.require_token().get_secret_value(),
        warnings=plan.warnings,
    )


def _outside(job: WorkflowStep, repo: Repo) -> Machine:
    return Machine(environ=job.environ, repository=repo.top, cache=cache_folder(job.environ))


def _store(job: WorkflowStep) -> Path:
    given = job.inputs.store
    return store_path(job.environ, str(job.workspace / given) if given else None)


def _finisher(
    job: WorkflowStep, forge: GitHubForge, sha: str, *, may_write: bool
) -> Callable[[CheckOutput], str]:
    """Completes the check, whatever happened; its address."""

    def finish(output: CheckOutput) -> str:
        return _tell(job, forge.complete_check(sha, output)) if may_write else ""

    return finish


def _unfinished(error: BaseException) -> CheckOutput:
    """The check of a job that came to no report."""
    if isinstance(error, Interrupted | KeyboardInterrupt):
        return CheckOutput("cancelled", "cancelled", "The job was cancelled before it was done.")
    if isinstance(error, GradegateError):
        return CheckOutput("failure", "cannot be evaluated", fenced(str(error)))
    return CheckOutput(
        "failure", "gradegate itself failed", fenced(f"{type(error).__name__}: {error}")
    )


def _announce(
    job: WorkflowStep,
    plan: Evaluate,
    forge: GitHubForge,
    done: Evaluation,
    finish: Callable[[CheckOutput], str],
) -> dict[str, str]:
    """Write the files, complete the check, comment; the addresses."""
    settings = done.setup.policy.report
    style = job.style(settings)
    write_files(done.report, job.report_dir, style, head=done.head, base=done.base)
    check_url = finish(check_of(done.report, style))
    comment_url = ""
    if plan.may_write and plan.pull_request is not None and job.inputs.shard is None:
        when = settings.comment
        comment_url = _tell(job, post_comment(done.report, forge, plan.pull_request, when, style))
    return {"comment-url": comment_url, "check-url": check_url}


def _tell(job: WorkflowStep, outcome: Posted | Skipped) -> str:
    """The address of what was posted; what was not is told in the log."""
    if isinstance(outcome, Posted):
        return outcome.url
    job.say(f"gradegate: not posted: {outcome.reason}")
    return ""


def _write_runner_files(
    job: WorkflowStep, report: Report, urls: dict[str, str], style: ViewOptions
) -> None:
    outputs = {**outputs_of(report, job.report_dir), **urls}
    if path := job.environ.get("GITHUB_OUTPUT"):
        write_outputs(Path(path), outputs)
    if path := job.environ.get("GITHUB_STEP_SUMMARY"):
        append_summary(Path(path), render(report, "summary", language=style.language))
    job.say(render(report, "text", language=style.language))


def _baseline(job: WorkflowStep, plan: Baseline) -> int:
    """Evaluate one side into the store, for the pull requests to come."""
    from gradegate.commands.baseline import measure_baseline

    repo = _checkout(job)
    task = EvaluationRequest(
        repo=repo, wanted=Wanted(head=plan.head, rev="none"), inputs=job.inputs
    )
    summary = measure_baseline(task, _outside(job, repo), _store(job))
    job.say(summary)
    return 0


def _publish(job: WorkflowStep, plan: Publish, file: Path) -> int:
    """Post a report made without our token. Which pull request it is, GitHub tells."""
    with job.forge() as forge:
        number = forge.find_pull_request(plan.head_owner, plan.head_branch, plan.head_sha)
        if number is None:
            job.say(f"gradegate: no pull request has {plan.head_sha[:7]} as its head any more")
            return 0
        style = job.style()
        finish = _finisher(job, forge, plan.head_sha, may_write=True)
        try:
            report = _with_true_acceptance(read_report(file), forge, number)
        except InputError as error:
            finish(_unfinished(error))
            raise
        when = job.inputs.comment or "always"
        urls = {
            "check-url": finish(check_of(report, style)),
            "comment-url": _tell(job, post_comment(report, forge, number, when, style)),
        }
    _write_runner_files(job, report, urls, style)
    return 0


def _with_true_acceptance(report: Report, forge: GitHubForge, number: int) -> Report:
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


def publish(options: Namespace, environ: Mapping[str, str]) -> int:
    """`gradegate publish report.json`: the trusted half of a fork's pull request."""
    job = WorkflowStep(environ, Inputs.from_environ(environ))
    inputs = job.inputs.model_copy(update={"mode": Mode.PUBLISH})
    return perform(plan_for(read_event(environ), inputs), job, options.report)
