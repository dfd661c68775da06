"""What to do about an event: one pure function, and the plans it chooses from."""

from gradegate.github_action.event import (
    Dispatch,
    Event,
    Local,
    MergeGroup,
    PullRequest,
    PullRequestTarget,
    Push,
    Schedule,
    WorkflowRun,
)
from gradegate.github_action.inputs import Inputs, Mode
from gradegate.model.base import Value

HEAD = "HEAD"
WORKTREE = "worktree"
NO_BASE = "none"
ACCEPT_LABEL = "gradegate-accept"


class BaseRule(Value):
    """How to find the commit to compare with; the first that is given decides."""

    rev: str | None = None
    """A revision, or `none`."""
    merge_of: str | None = None
    """A pull request's head sha: where head is its merge commit, base is the first parent."""
    meets: str | None = None
    """A commit or a branch: base is where head parted from it. None: the default branch."""


class Evaluate(Value):
    """Evaluate both sides, compare, decide, and say so where there is someone to tell."""

    head: str
    base: BaseRule
    pull_request: int | None = None
    check_sha: str | None = None
    """Where the check belongs; None: on head itself, or nowhere at a terminal."""
    may_write: bool = True
    """Whether the token may post; a fork's may not, and the second workflow does."""
    accepted: bool = False
    """Whether the pull request got the label that waives what base would object to."""
    warnings: tuple[str, ...] = ()


class Baseline(Value):
    """Evaluate one side and keep it for the pull requests to come."""

    head: str


class Publish(Value):
    """Post a report that a job without our token made."""

    head_sha: str
    head_branch: str
    head_owner: str


class Skip(Value):
    """Nothing to do, and why; the job passes."""

    reason: str


class Refuse(Value):
    """Nothing that could be done safely, and why; the job fails."""

    reason: str


Plan = Evaluate | Baseline | Publish | Skip | Refuse

DANGEROUS = (
    "pull_request_target hands the job base's secrets and a token that may write, so the pull "
    "request's code must not run in it: let the workflow start on `pull_request`, and post the "
    "reports of forks from a second workflow on `workflow_run` (`gradegate init` writes both)"
)


LABEL_TOO_OLD = (
    f"the label `{ACCEPT_LABEL}` was set for an earlier commit and waives nothing of this one: "
    "take it off and set it again"
)


def plan_for(event: Event, inputs: Inputs) -> Plan:
    """The plan for an event, and for what the workflow asks by its inputs."""
    if isinstance(event, PullRequestTarget):
        return Refuse(reason=DANGEROUS)
    if isinstance(event, Push) and event.deleted:
        return Skip(reason=f"{event.ref} was deleted")
    plan = _asked(event, inputs.mode)
    if isinstance(plan, Evaluate) and inputs.base is not None:
        return plan.model_copy(update={"base": BaseRule(rev=inputs.base)})
    return plan


def _asked(event: Event, mode: Mode) -> Plan:
    match mode:
        case Mode.AUTO:
            return _usual(event)
        case Mode.EVALUATE:
            return _evaluate(event)
        case Mode.BASELINE:
            return Baseline(head=WORKTREE if isinstance(event, Local) else HEAD)
        case Mode.PUBLISH:
            return _publish(event)


def _usual(event: Event) -> Plan:
    """What people expect of each event."""
    match event:
        case Push() if not event.ref.startswith("refs/heads/"):
            return Skip(reason=f"{event.ref} is no branch, so there is nothing to compare it with")
        case Push() | Dispatch() if event.ref == f"refs/heads/{event.default_branch}":
            return Baseline(head=HEAD)
        case Schedule():
            return Baseline(head=HEAD)
        case WorkflowRun():
            return _publish(event)
    return _evaluate(event)


def _evaluate(event: Event) -> Plan:
    match event:
        case PullRequest(closed=True):
            return Skip(reason=f"pull request {event.number} is closed")
        case PullRequest():
            return Evaluate(
                head=HEAD,
                base=BaseRule(merge_of=event.head_sha, meets=event.base_sha),
                pull_request=event.number,
                check_sha=event.head_sha,
                may_write=not event.from_fork,
                accepted=ACCEPT_LABEL in event.labels and event.labels_are_new,
                warnings=(LABEL_TOO_OLD,) if _has_old_label(event) else (),
            )
        case MergeGroup():
            return Evaluate(head=HEAD, base=BaseRule(rev=event.base_sha), check_sha=event.head_sha)
        case Push() | Dispatch():
            return Evaluate(head=HEAD, base=BaseRule(meets=event.default_branch))
        case Local():
            return Evaluate(head=WORKTREE, base=BaseRule())
        case WorkflowRun():
            return Refuse(
                reason="`mode: evaluate` on workflow_run would run a fork's code with a token that "
                "may write: leave `mode` out, and the report of the other workflow is posted"
            )
    return Evaluate(head=HEAD, base=BaseRule())


def _has_old_label(event: PullRequest) -> bool:
    """A label stays through every push; what nobody has seen yet, nobody has accepted."""
    return ACCEPT_LABEL in event.labels and not event.labels_are_new


def _publish(event: Event) -> Plan:
    if not isinstance(event, WorkflowRun):
        return Refuse(
            reason="`mode: publish` posts the report of another workflow, and so needs the event "
            "workflow_run"
        )
    if event.event != "pull_request":
        return Skip(reason=f"the workflow before this one ran on {event.event}, not a pull request")
    return Publish(
        head_sha=event.head_sha, head_branch=event.head_branch, head_owner=event.head_owner
    )
