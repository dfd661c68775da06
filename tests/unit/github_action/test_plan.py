import pytest

from gradegate.github_action.comment_command import Rerun
from gradegate.github_action.event import (
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
from gradegate.model.overrides import Shard
from gradegate.sides.checkout import Revisions
from gradegate.sides.git import NO_BASE, WORKTREE

OPEN = PullRequest(number=7, head_sha="b", base_sha="a", base_branch="main")
CLOSED = OPEN.model_copy(update={"closed": True})
FORK = OPEN.model_copy(update={"from_fork": True})
LABELS = ("bug", "gradegate-accept")
LABELLED = OPEN.model_copy(update={"labels": LABELS})
ACCEPTED = LABELLED.model_copy(update={"labeled": "gradegate-accept", "sender": "mona"})
OTHER_LABEL = LABELLED.model_copy(update={"labeled": "bug", "sender": "mona"})
TARGET = PullRequestTarget(number=7)
PUSH = Push(ref="refs/heads/main", default_branch="main")
BRANCH = Push(ref="refs/heads/feature", default_branch="main")
TAG = Push(ref="refs/tags/v1", default_branch="main")
DELETED = Push(ref="refs/heads/feature", default_branch="main", deleted=True)
QUEUE = MergeGroup(head_sha="c", base_sha="a", base_branch="main")
QUEUED = QUEUE.model_copy(update={"pull_request": 7})
RUN_OF_PULL = WorkflowRun(
    event="pull_request", head_sha="b", head_branch="feature", head_owner="guest"
)
RUN_OF_PUSH = RUN_OF_PULL.model_copy(update={"event": "push"})
DISPATCH = Dispatch(ref="refs/heads/main", default_branch="main")
REVIEWED = DISPATCH.model_copy(update={"reviewed": Reviewed(pull_request=7, head_sha="b" * 40)})
DISPATCH_BRANCH = Dispatch(ref="refs/heads/feature", default_branch="main")

COMMENT = IssueComment(number=7, comment=9, author="mona", body="/gradegate rerun")
ANSWERED = AnswerComment(number=7, comment=9, author="mona", command=Rerun())
AUTO, EVALUATE, PUBLISH, BASELINE = Mode.AUTO, Mode.EVALUATE, Mode.PUBLISH, Mode.BASELINE
MERGE = Mode.MERGE
PART = Shard(number=2, total=8)

OF_PULL = Evaluate(
    revisions=Revisions(head=HEAD, merge_of="b", branched_from="a"),
    pull_request=7,
    check_sha="b",
    base_branch="main",
)
OF_REVIEWED = Evaluate(
    revisions=Revisions(head="b" * 40, branched_from="main"),
    pull_request=7,
    check_sha="b" * 40,
    reviewed=True,
    base_branch="main",
)
OF_LABELLED = OF_PULL.model_copy(update={"labelled": True})
OF_QUEUE = Evaluate(revisions=Revisions(head=HEAD, base="a"), check_sha="c", base_branch="main")
FROM_DEFAULT = Evaluate(revisions=Revisions(head=HEAD, branched_from="main"), base_branch="main")
HERE = Evaluate(revisions=Revisions(head=WORKTREE))
MEASURED = Baseline(head=HEAD)
OF_MAIN = Baseline(head=HEAD, branch="main")
OF_FEATURE = Baseline(head=HEAD, branch="feature")
MEASURED_ANEW = Baseline(head=HEAD, fresh=True)
POSTED = Publish(head_sha="b", head_branch="feature", head_owner="guest")


@pytest.mark.parametrize(
    ("event", "mode", "plan"),
    [
        (OPEN, AUTO, OF_PULL),
        (OPEN, EVALUATE, OF_PULL),
        (OPEN, BASELINE, MEASURED),
        (FORK, AUTO, OF_PULL.model_copy(update={"may_write": False})),
        (FORK, EVALUATE, OF_PULL.model_copy(update={"may_write": False})),
        (LABELLED, AUTO, OF_LABELLED),
        (OTHER_LABEL, AUTO, OF_LABELLED),
        (ACCEPTED, AUTO, OF_LABELLED.model_copy(update={"accepting": "mona"})),
        (ACCEPTED, EVALUATE, OF_LABELLED.model_copy(update={"accepting": "mona"})),
        (QUEUED, AUTO, OF_QUEUE.model_copy(update={"queued": 7})),
        (REVIEWED, AUTO, OF_REVIEWED),
        (REVIEWED, EVALUATE, OF_REVIEWED),
        (REVIEWED, MERGE, OF_REVIEWED.model_copy(update={"merges": True})),
        (PUSH, AUTO, OF_MAIN),
        (PUSH, EVALUATE, FROM_DEFAULT),
        (PUSH, BASELINE, OF_MAIN),
        (BRANCH, AUTO, FROM_DEFAULT),
        (BRANCH, EVALUATE, FROM_DEFAULT),
        (BRANCH, BASELINE, OF_FEATURE),
        (TAG, EVALUATE, FROM_DEFAULT),
        (TAG, BASELINE, MEASURED),
        (QUEUE, AUTO, OF_QUEUE),
        (QUEUE, EVALUATE, OF_QUEUE),
        (QUEUE, BASELINE, MEASURED),
        (RUN_OF_PULL, AUTO, POSTED),
        (RUN_OF_PULL, PUBLISH, POSTED),
        (OPEN, PUBLISH, PublishAgain(check_sha="b", pull_request=7)),
        (QUEUE, PUBLISH, PublishAgain(check_sha="c", pull_request=None)),
        (BRANCH, PUBLISH, PublishAgain(check_sha=None, pull_request=None)),
        (DISPATCH, AUTO, OF_MAIN),
        (DISPATCH, EVALUATE, FROM_DEFAULT),
        (DISPATCH_BRANCH, AUTO, FROM_DEFAULT),
        (DISPATCH_BRANCH, BASELINE, OF_FEATURE),
        (Schedule(), AUTO, MEASURED_ANEW),
        (Schedule(), EVALUATE, Evaluate(revisions=Revisions(head=HEAD))),
        (Schedule(), BASELINE, MEASURED_ANEW),
        *((COMMENT, mode, ANSWERED) for mode in Mode),
        (
            Schedule(ref="refs/heads/main"),
            AUTO,
            Baseline(head=HEAD, fresh=True, branch="main"),
        ),
        (Local(), AUTO, HERE),
        (Local(), EVALUATE, HERE),
        (Local(), BASELINE, Baseline(head=WORKTREE)),
    ],
)
def test_what_an_event_asks_for(event: Event, mode: Mode, plan: Plan) -> None:
    """Every event in every mode that has something to do."""
    assert plan_for(event, Inputs(mode=mode)) == plan


@pytest.mark.parametrize(
    ("event", "mode", "said"),
    [
        (CLOSED, AUTO, "pull request 7 is closed"),
        (CLOSED, EVALUATE, "closed"),
        (TAG, AUTO, "refs/tags/v1 is no branch"),
        (DELETED, AUTO, "refs/heads/feature was deleted"),
        (DELETED, EVALUATE, "deleted"),
        (DELETED, BASELINE, "deleted"),
        (DELETED, PUBLISH, "deleted"),
        (COMMENT.model_copy(update={"body": "well done"}), AUTO, "does not begin with /gradegate"),
        (COMMENT.model_copy(update={"written": False}), AUTO, "no new comment"),
        (COMMENT.model_copy(update={"on_pull_request": False}), AUTO, "no new comment"),
        (COMMENT.model_copy(update={"by_bot": True}), AUTO, "no new comment"),
        (RUN_OF_PUSH, AUTO, "ran on push"),
        (RUN_OF_PUSH, PUBLISH, "ran on push"),
        (FORK, PUBLISH, "posted by the workflow on workflow_run"),
        (TAG, PUBLISH, "is no branch"),
        *((event, PUBLISH, "a baseline has no report") for event in (PUSH, DISPATCH, Schedule())),
    ],
)
def test_what_there_is_nothing_to_do_about(event: Event, mode: Mode, said: str) -> None:
    """The job passes, and says why it did nothing."""
    plan = plan_for(event, Inputs(mode=mode))
    assert isinstance(plan, Skip)
    assert said in plan.reason


@pytest.mark.parametrize(
    ("event", "mode", "said"),
    [
        *((TARGET, mode, "workflow_run") for mode in Mode),
        (RUN_OF_PULL, EVALUATE, "fork's code"),
        (RUN_OF_PUSH, EVALUATE, "fork's code"),
        (RUN_OF_PULL, MERGE, "leave `mode` out"),
        (RUN_OF_PUSH, MERGE, "leave `mode` out"),
        *(
            (event, PUBLISH, said)
            for event, said in ((Local(), "gradegate show"), (TARGET, "workflow_run"))
        ),
    ],
)
def test_what_could_not_be_done_safely(event: Event, mode: Mode, said: str) -> None:
    """The job fails, and says what to write instead."""
    plan = plan_for(event, Inputs(mode=mode))
    assert isinstance(plan, Refuse)
    assert said in plan.reason


@pytest.mark.parametrize("event", [OPEN, FORK, QUEUE, BRANCH, DISPATCH_BRANCH, Local()])
@pytest.mark.parametrize("base", ["origin/release", "none"])
def test_a_base_that_is_asked_for_is_the_base(event: Event, base: str) -> None:
    """The base branch's records are not of it; all else stays as the event has it."""
    usual, asked = plan_for(event, Inputs()), plan_for(event, Inputs(base=base))
    assert isinstance(usual, Evaluate)
    assert asked == usual.model_copy(
        update={
            "revisions": Revisions(head=usual.revisions.head, base=base),
            "base_branch": "",
        }
    )


@pytest.mark.parametrize("event", [PUSH, Schedule(), RUN_OF_PULL, CLOSED, TARGET])
def test_a_base_makes_no_difference_where_nothing_is_compared(event: Event) -> None:
    """A baseline has none, and a skipped event needs none."""
    assert plan_for(event, Inputs(base="none")) == plan_for(event, Inputs())


@pytest.mark.parametrize("event", [OPEN, FORK, QUEUED, BRANCH, DISPATCH_BRANCH, Local()])
def test_a_shard_runs_its_part_of_what_would_be_compared(event: Event) -> None:
    """And the merge does all that the event's one job would have done."""
    usual = plan_for(event, Inputs())
    assert isinstance(usual, Evaluate)
    part = plan_for(event, Inputs(shard=PART))
    assert part == RunShard(revisions=usual.revisions, shard=PART)
    assert plan_for(event, Inputs(mode=MERGE)) == usual.model_copy(update={"merges": True})


@pytest.mark.parametrize("event", [PUSH, DISPATCH, Schedule(ref="refs/heads/main")])
def test_a_baseline_is_measured_in_parts_too(event: Event) -> None:
    """More than once, as one that is measured whole."""
    part = RunShard(revisions=Revisions(head=HEAD, base=NO_BASE), shard=PART, keeps=True)
    assert plan_for(event, Inputs(shard=PART)) == part
    assert plan_for(event, Inputs(mode=MERGE)) == Baseline(head=HEAD, merges=True, branch="main")


@pytest.mark.parametrize("event", [CLOSED, TAG, DELETED])
def test_where_there_is_nothing_to_do_no_shard_has_anything(event: Event) -> None:
    """Nor the merge of them."""
    for inputs in (Inputs(shard=PART), Inputs(mode=MERGE)):
        assert plan_for(event, inputs) == plan_for(event, Inputs())


def test_a_part_of_the_merge_confirms() -> None:
    """For a second matrix; a baseline has nothing to confirm."""
    usual = plan_for(OPEN, Inputs())
    assert isinstance(usual, Evaluate)
    part = plan_for(OPEN, Inputs(mode=MERGE, shard=PART))
    assert part == RunShard(revisions=usual.revisions, shard=PART, confirms=True)
    plan = plan_for(PUSH, Inputs(mode=MERGE, shard=PART))
    assert isinstance(plan, Refuse)
    assert "leave `shard` out" in plan.reason
