"""What to do about an event: one pure function, and the plans it chooses from."""

from gradegate.github_action.comment_command import WORD, Command, command_in
from gradegate.github_action.event import (
    BRANCH,
    Dispatch,
    Event,
    IssueComment,
    Local,
    MergeGroup,
    PullRequest,
    PullRequestTarget,
    Push,
    Reviewed,
    Schedule,
    WorkflowRun,
)
from gradegate.github_action.inputs import Inputs, Mode
from gradegate.model.base import Value
from gradegate.model.overrides import Shard
from gradegate.sides.checkout import Revisions
from gradegate.sides.git import NO_BASE, WORKTREE

HEAD = "HEAD"
ACCEPT_LABEL = "gradegate-accept"


class Evaluate(Value):
    """Evaluate both sides, compare, decide, and say so where there is someone to tell."""

    revisions: Revisions
    pull_request: int | None = None
    check_sha: str | None = None
    """Where the check belongs; None: on head itself, or nowhere at a terminal."""
    replaces: str | None = None
    """The commit that a push has replaced; a killed job may have left its check in progress."""
    may_write: bool = True
    """Whether the token may post; a fork's may not, and the second workflow does."""
    labelled: bool = False
    """Whether the pull request has the label that waives what base would object to."""
    accepting: str | None = None
    """Who has set it just now."""
    queued: int | None = None
    """The pull request that a merge queue asks about."""
    merges: bool = False
    """Whether shards have made the first pass."""
    reviewed: bool = False
    """Whether somebody started it for a commit that they have reviewed, such as a fork's."""
    base_branch: str = ""
    """Whose kept records are held against head; empty where base is no branch."""


class Baseline(Value):
    """Evaluate one side and keep it for the pull requests to come."""

    head: str
    fresh: bool = False
    """Whether what is stored is ignored, so that base's history grows where nothing changes."""
    merges: bool = False
    """Whether shards have made the runs."""
    branch: str = ""
    """The base branch whose commit this is; empty where it may not speak for one."""


class RunShard(Value):
    """Make the first pass of one part of the cases, and leave it to the job that merges.

    It writes no check, comment or decision: of several jobs' checks the newest would count.
    """

    revisions: Revisions
    shard: Shard
    keeps: bool = False
    """Whether this is a baseline's part, which is measured more than once."""
    confirms: bool = False
    """Whether this is a part of what the merge of others wants to be run."""


class Publish(Value):
    """Post a report that a job without our token made."""

    head_sha: str
    head_branch: str
    head_owner: str


class PublishAgain(Value):
    """Post once more what this very job has found, now that the report's address is known."""

    check_sha: str | None
    """The commit whose check it is; None: head itself."""
    pull_request: int | None


class AnswerComment(Value):
    """Do what a comment asks for, if whoever wrote it may."""

    number: int
    comment: int
    author: str
    command: Command


class Skip(Value):
    """Nothing to do, and why; the job passes."""

    reason: str


class Refuse(Value):
    """Nothing that could be done safely, and why; the job fails."""

    reason: str


Plan = Evaluate | Baseline | RunShard | Publish | PublishAgain | AnswerComment | Skip | Refuse

DANGEROUS = (
    "pull_request_target hands the job base's secrets and a token that may write, so the pull "
    "request's code must not run in it: let the workflow start on `pull_request`, and post the "
    "reports of forks from a second workflow on `workflow_run` (`gradegate init` writes both)"
)


def plan_for(event: Event, inputs: Inputs) -> Plan:
    """The plan for an event, and for what the workflow asks by its inputs."""
    if isinstance(event, PullRequestTarget):
        return Refuse(reason=DANGEROUS)
    if isinstance(event, IssueComment):
        return _commanded(event)
    if isinstance(event, Push) and event.deleted:
        return Skip(reason=f"{event.ref} was deleted")
    plan = _asked(event, inputs.mode)
    if isinstance(plan, Evaluate) and inputs.base is not None:
        revisions = Revisions(head=plan.revisions.head, base=inputs.base)
        plan = plan.model_copy(update={"revisions": revisions, "base_branch": ""})
    return plan if inputs.shard is None else _part(plan, inputs.shard)


def _commanded(event: IssueComment) -> Plan:
    """What a comment asks for, whatever the inputs say: nothing is evaluated with its token."""
    if not event.on_pull_request or not event.written or event.by_bot:
        return Skip(reason="this is no new comment of a person on a pull request")
    command = command_in(event.body)
    if command is None:
        return Skip(reason=f"the comment does not begin with {WORD}")
    return AnswerComment(
        number=event.number, comment=event.comment, author=event.author, command=command
    )


def _asked(event: Event, mode: Mode) -> Plan:
    match mode:
        case Mode.AUTO:
            return _usual(event)
        case Mode.EVALUATE:
            return _evaluate(event)
        case Mode.BASELINE:
            head = WORKTREE if isinstance(event, Local) else HEAD
            return Baseline(head=head, fresh=isinstance(event, Schedule), branch=_branch_of(event))
        case Mode.PUBLISH:
            return _publish(event)
        case Mode.MERGE:
            return _merge(event)


def _merge(event: Event) -> Plan:
    """What the event would have done in one job, by what shards have run."""
    if isinstance(event, WorkflowRun):
        return Refuse(
            reason="`mode: merge` runs agents, and so belongs into the workflow that ran the "
            "shards: on workflow_run leave `mode` out, and the report of that workflow is posted"
        )
    plan = _usual(event)
    if isinstance(plan, Baseline):  # what shards made may come from the store
        return Baseline(head=plan.head, merges=True, branch=plan.branch)
    if isinstance(plan, Evaluate):
        return plan.model_copy(update={"merges": True})
    return plan


def _part(plan: Plan, shard: Shard) -> Plan:
    """One part of what was planned."""
    match plan:
        case Evaluate(merges=True):
            return RunShard(revisions=plan.revisions, shard=shard, confirms=True)
        case Baseline(merges=True):
            return Refuse(
                reason="a baseline confirms nothing: leave `shard` out beside `mode: merge`"
            )
        case Evaluate():
            return RunShard(revisions=plan.revisions, shard=shard)
        case Baseline():
            revisions = Revisions(head=plan.head, base=NO_BASE)
            return RunShard(revisions=revisions, shard=shard, keeps=True)
    return plan


def _usual(event: Event) -> Plan:
    """What people expect of each event."""
    match event:
        case Dispatch(reviewed=Reviewed()):
            return _evaluate(event)
        case Push() if not event.ref.startswith(BRANCH):
            return Skip(reason=f"{event.ref} is no branch, so there is nothing to compare it with")
        case Push() | Dispatch() if event.ref == f"{BRANCH}{event.default_branch}":
            return Baseline(head=HEAD, branch=event.default_branch)
        case Schedule():
            return Baseline(head=HEAD, fresh=True, branch=_branch_of(event))
        case WorkflowRun():
            return _publish(event)
    return _evaluate(event)


def _evaluate(event: Event) -> Plan:
    match event:
        case PullRequest(closed=True):
            return Skip(reason=f"pull request {event.number} is closed")
        case PullRequest():
            return Evaluate(
                revisions=Revisions(
                    head=HEAD, merge_of=event.head_sha, branched_from=event.base_sha
                ),
                pull_request=event.number,
                check_sha=event.head_sha,
                replaces=event.before,
                may_write=not event.from_fork,
                labelled=ACCEPT_LABEL in event.labels,
                accepting=event.sender if event.labeled == ACCEPT_LABEL else None,
                base_branch=event.base_branch,
            )
        case MergeGroup():
            return Evaluate(
                revisions=Revisions(head=HEAD, base=event.base_sha),
                check_sha=event.head_sha,
                queued=event.pull_request,
                base_branch=event.base_branch,
            )
        case Dispatch(reviewed=Reviewed() as one):
            return Evaluate(
                revisions=Revisions(head=one.head_sha, branched_from=event.default_branch),
                pull_request=one.pull_request,
                check_sha=one.head_sha,
                reviewed=True,
                base_branch=event.default_branch,
            )
        case Push() | Dispatch():
            return Evaluate(
                revisions=Revisions(head=HEAD, branched_from=event.default_branch),
                base_branch=event.default_branch,
            )
        case Local():
            return Evaluate(revisions=Revisions(head=WORKTREE))
        case WorkflowRun():
            return Refuse(
                reason="`mode: evaluate` on workflow_run would run a fork's code with a token that "
                "may write: leave `mode` out, and the report of the other workflow is posted"
            )
    return Evaluate(revisions=Revisions(head=HEAD))


def _branch_of(event: Event) -> str:
    """The branch whose own commit the event is of: a pull request speaks for none."""
    if isinstance(event, Push | Dispatch | Schedule) and event.ref.startswith(BRANCH):
        return event.ref.removeprefix(BRANCH)
    return ""


def _publish(event: Event) -> Plan:
    if not isinstance(event, WorkflowRun):
        return _publish_own(event)
    if event.event != "pull_request":
        return Skip(reason=f"the workflow before this one ran on {event.event}, not a pull request")
    return Publish(
        head_sha=event.head_sha, head_branch=event.head_branch, head_owner=event.head_owner
    )


def _publish_own(event: Event) -> Plan:
    """After the step that evaluated, in the same job."""
    plan = _usual(event)
    match plan:
        case Evaluate() if isinstance(event, Local):
            return Refuse(
                reason="`mode: publish` posts the report of a workflow: at a terminal use "
                "`gradegate show` or `gradegate open`"
            )
        case Evaluate(may_write=False):
            return Skip(reason="a fork's report is posted by the workflow on workflow_run")
        case Evaluate():
            return PublishAgain(check_sha=plan.check_sha, pull_request=plan.pull_request)
        case Baseline():
            return Skip(reason="a baseline has no report to post")
    return plan
