"""The check on a commit, and the commit status where checks are forbidden."""

from collections.abc import Callable

import pytest

from gradegate.forges.github.forge import GitHubForge
from gradegate.model.marker import marker
from gradegate.model.posting import Annotation, CheckOutput, Posted, Skipped
from tests.standins.github import PERSONAL_TOKEN, Fault, GitHubStandIn
from tests.standins.github.answer import message

OpenForge = Callable[..., GitHubForge]

SHA = "a" * 40
DETAILS = "https://github.example/octo/agents/actions/runs/7"


def output(annotations: int = 0, **fields: str) -> CheckOutput:
    """A completed check with so many annotations."""
    remarks = tuple(
        Annotation("evals/basic.evalset.json", number, "failure", f"case {number}", "got worse")
        for number in range(1, annotations + 1)
    )
    shown = {"conclusion": "failure", "title": "1 regression", "summary": "It got worse.", **fields}
    return CheckOutput(annotations=remarks, **shown)  # type: ignore[arg-type]


def test_in_progress_then_completed(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """It is one check run from beginning to end, with the links that were given."""
    github.add_commit(SHA)
    forge = open_forge(details_url=DETAILS, external_id="run-7")
    started = forge.start_check(SHA)
    (run,) = github.check_runs(SHA)
    assert (run.name, run.status, run.conclusion) == ("gradegate", "in_progress", None)
    assert run.started_at is not None

    completed = forge.complete_check(SHA, output(text="More of it."))
    (run,) = github.check_runs(SHA)
    assert (run.status, run.conclusion) == ("completed", "failure")
    assert (run.title, run.summary, run.text) == ("1 regression", "It got worse.", "More of it.")
    assert (run.details_url, run.external_id) == (DETAILS, "run-7")
    assert run.completed_at is not None
    assert started == completed
    assert isinstance(completed, Posted)
    assert completed.url.endswith(f"/octo/agents/runs/{run.id}")


def test_completed_without_having_been_started(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """The trusted half of a fork's pull request only has the end to show."""
    github.add_commit(SHA)
    open_forge().complete_check(SHA, output(conclusion="success"))
    (run,) = github.check_runs(SHA)
    assert (run.status, run.conclusion, run.annotations) == ("completed", "success", [])


@pytest.mark.parametrize("started", [True, False])
@pytest.mark.parametrize(
    ("count", "batches"), [(50, [50]), (51, [50, 1]), (100, [50, 50]), (120, [50, 50, 20])]
)
def test_many_annotations_arrive_over_several_requests(
    github: GitHubStandIn,
    open_forge: OpenForge,
    count: int,
    batches: list[int],
    *,
    started: bool,
) -> None:
    """None is lost, none comes twice; the outcome is shown with the first of them."""
    github.add_commit(SHA)
    forge = open_forge()
    if started:
        forge.start_check(SHA)
    posted = forge.complete_check(SHA, output(count))
    assert isinstance(posted, Posted)
    (run,) = github.check_runs(SHA)
    assert [annotation["start_line"] for annotation in run.annotations] == [*range(1, count + 1)]
    assert run.annotations[0] == {
        "path": "evals/basic.evalset.json",
        "start_line": 1,
        "end_line": 1,
        "annotation_level": "failure",
        "title": "case 1",
        "message": "got worse",
    }
    bodies = [r.body for r in github.requests if r.body]
    sent = [body for body in bodies if "annotations" in body.get("output", {})]
    assert [len(body["output"]["annotations"]) for body in sent] == batches
    assert sent[0]["conclusion"] == "failure"
    assert (run.status, run.conclusion) == ("completed", "failure")


def test_annotations_refused_half_way_are_told(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """The outcome stands; how many remarks are missing is said."""
    github.add_commit(SHA)
    github.fail_next(Fault(message(422, "Not today")), method="PATCH", path="/check-runs/")
    outcome = open_forge().complete_check(SHA, output(120))
    assert outcome == Skipped(
        "check: the outcome is shown, but only 50 of 120 annotations: Not today (HTTP 422)"
    )
    (run,) = github.check_runs(SHA)
    assert (run.conclusion, len(run.annotations)) == ("failure", 50)


def test_an_app_that_is_not_named(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """GitHub's description lets `app` be null."""
    github.add_pull_request(1, head_sha=SHA)
    github.state.names_apps = False
    forge = open_forge()
    assert isinstance(forge.start_check(SHA), Posted)
    assert isinstance(forge.complete_check(SHA, output()), Posted)
    assert isinstance(forge.comment(1, f"{marker('gradegate')}\nresult", create=True), Posted)
    (run,) = github.check_runs(SHA)
    assert (run.status, run.conclusion) == ("completed", "failure")


@pytest.mark.parametrize("started", [True, False])
@pytest.mark.parametrize("earlier", ["in_progress", "completed"])
def test_a_rerun_updates_its_own_check(
    github: GitHubStandIn, open_forge: OpenForge, earlier: str, *, started: bool
) -> None:
    """Known by its name and by the id of the run, whatever became of the first attempt."""
    github.add_commit(SHA)
    first = open_forge(external_id="77")
    first.start_check(SHA)
    if earlier == "completed":
        first.complete_check(SHA, output(2))
    again = open_forge(external_id="77")
    if started:
        again.start_check(SHA)
    again.complete_check(SHA, output(2, conclusion="success", title="All well"))
    (run,) = github.check_runs(SHA)
    assert (run.status, run.conclusion, run.title) == ("completed", "success", "All well")
    assert len(run.annotations) == 2, "GitHub adds annotations up: none is sent twice"


def test_remarks_of_an_earlier_attempt_that_stay_are_told(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """GitHub lets nobody take an annotation back."""
    github.add_commit(SHA)
    open_forge(external_id="77").complete_check(SHA, output(3))
    posted = open_forge(external_id="77").complete_check(SHA, output(1, conclusion="success"))
    assert isinstance(posted, Posted)
    assert "2 remarks of an earlier attempt" in posted.warning
    assert len(github.check_runs(SHA)[0].annotations) == 3


def test_a_completed_check_that_takes_no_other_outcome_is_followed_by_a_new_one(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """The newest of one name counts: rather two than an old green one."""
    github.add_commit(SHA)
    open_forge(external_id="77").complete_check(SHA, output(conclusion="success"))
    github.state.completed_for_good = True
    open_forge(external_id="77").complete_check(SHA, output(1))
    assert [run.conclusion for run in github.check_runs(SHA)] == ["success", "failure"]
    assert len(github.check_runs(SHA)[-1].annotations) == 1


@pytest.mark.parametrize("theirs", ["another run", "another name", "another app"])
def test_the_check_of_others_is_left_alone(
    github: GitHubStandIn, open_forge: OpenForge, theirs: str
) -> None:
    """Only the same name, the same run and the same app make it ours."""
    github.add_commit(SHA)
    github.add_check(
        SHA,
        name="other" if theirs == "another name" else "gradegate",
        app="stranger" if theirs == "another app" else "github-actions",
        external_id="78" if theirs == "another run" else "77",
        status="in_progress",
        title="theirs",
    )
    forge = open_forge(external_id="77")
    forge.start_check(SHA)
    assert isinstance(forge.complete_check(SHA, output()), Posted)
    other, ours = github.check_runs(SHA)
    assert (other.status, other.title) == ("in_progress", "theirs")
    assert (ours.conclusion, ours.external_id) == ("failure", "77")
    assert github.statuses(SHA) == []


CANCELLED = CheckOutput("cancelled", "cancelled", "The job ended early.")


@pytest.mark.parametrize(
    ("state", "app", "swept"),
    [
        ("completed", "github-actions", True),
        ("in_progress", "github-actions", False),
        (None, "github-actions", False),
        ("completed", "stranger", False),
    ],
)
def test_a_check_that_a_killed_job_left_is_closed(
    github: GitHubStandIn, open_forge: OpenForge, state: str | None, app: str, *, swept: bool
) -> None:
    """If GitHub says that its run has ended; what may still be running is left alone."""
    github.add_commit(SHA)
    github.add_check(SHA, app=app, external_id="76", status="in_progress")
    if state is not None:
        github.state.runs[76] = state
    forge = open_forge(external_id="77")
    forge.start_check(SHA)
    forge.close_left_behind(SHA, CANCELLED)
    dead, ours = github.check_runs(SHA)
    assert (dead.status, dead.conclusion) == (
        ("completed", "cancelled") if swept else ("in_progress", None)
    )
    assert ours.status == "in_progress"


def test_whether_a_run_has_ended_may_be_none_of_our_business(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """Without `actions: read` nothing is closed, and nothing fails."""
    github.add_commit(SHA)
    github.add_check(SHA, external_id="76", status="in_progress")
    github.state.runs[76] = "completed"
    github.allow(actions="none")
    open_forge(external_id="77").close_left_behind(SHA, CANCELLED)
    assert github.check_runs(SHA)[0].status == "in_progress"


def test_each_commit_has_its_own_check(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """Completing one does not touch the other."""
    other = github.add_commit("b" * 40)
    github.add_commit(SHA)
    forge = open_forge()
    forge.start_check(SHA)
    forge.start_check(other)
    forge.complete_check(other, output())
    assert github.check_runs(SHA)[0].status == "in_progress"
    assert github.check_runs(other)[0].status == "completed"


def forbid_checks(github: GitHubStandIn) -> dict[str, str]:
    """A token without `checks: write`."""
    github.allow(checks="read")
    return {}


def use_personal_token(_: GitHubStandIn) -> dict[str, str]:
    """A token that is no App's: GitHub takes no checks from people."""
    return {"token": PERSONAL_TOKEN}


@pytest.mark.parametrize("without_checks", [forbid_checks, use_personal_token])
def test_a_status_where_checks_are_forbidden(
    github: GitHubStandIn,
    open_forge: OpenForge,
    without_checks: Callable[[GitHubStandIn], dict[str, str]],
) -> None:
    """The commit still shows pending, then the outcome, under the check's name."""
    github.add_commit(SHA)
    forge = open_forge(**without_checks(github), details_url=DETAILS)
    started = forge.start_check(SHA)
    completed = forge.complete_check(SHA, output(120, title="t" * 200))
    assert isinstance(started, Posted)
    assert "`checks: write`" in started.warning
    assert completed == Posted(DETAILS), "told once"
    assert started.url == DETAILS
    assert github.check_runs(SHA) == []
    assert [(s.context, s.state, s.target_url) for s in github.statuses(SHA)] == [
        ("gradegate", "pending", DETAILS),
        ("gradegate", "failure", DETAILS),
    ]
    assert github.statuses(SHA)[-1].description == "t" * 139 + "…"
    assert len(github.asked("POST", "/check-runs")) == 1, "asked once, not again"


@pytest.mark.parametrize(
    ("conclusion", "state"),
    [
        ("success", "success"),
        ("neutral", "pending"),
        ("failure", "failure"),
        ("action_required", "error"),
        ("cancelled", "error"),
    ],
)
def test_every_conclusion_has_a_state(
    github: GitHubStandIn, open_forge: OpenForge, conclusion: str, state: str
) -> None:
    """A status knows fewer outcomes than a check; none that blocks becomes one that passes."""
    github.add_commit(SHA)
    github.allow(checks="none")
    posted = open_forge().complete_check(SHA, output(conclusion=conclusion))
    assert [status.state for status in github.statuses(SHA)] == [state]
    assert isinstance(posted, Posted)
    assert posted.url == f"{github.url}/repos/octo/agents/statuses/{SHA}"


def test_neither_check_nor_status_is_told(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """A fork's token may write nothing at all: the job goes on."""
    github.add_commit(SHA)
    github.allow(checks="read", statuses="read")
    forge = open_forge()
    reason = "check: Resource not accessible by integration (HTTP 403)"
    refused = Skipped(reason, needs="checks: write")
    assert forge.start_check(SHA) == refused
    assert forge.complete_check(SHA, output()) == refused


def test_a_check_that_could_not_be_started_is_still_completed(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """Trouble at the beginning is no reason to keep the outcome back."""
    github.add_commit(SHA)
    github.fail_next(Fault(message(422, "Not now")), method="POST", path="/check-runs")
    forge = open_forge()
    assert forge.start_check(SHA) == Skipped("check: Not now (HTTP 422)")
    assert isinstance(forge.complete_check(SHA, output()), Posted)
    assert [run.conclusion for run in github.check_runs(SHA)] == ["failure"]
    assert github.statuses(SHA) == []
