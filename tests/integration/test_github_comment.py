"""One comment per check name, whoever else writes on the pull request."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from gradegate.forges.github.forge import GitHubForge
from gradegate.model.marker import marker
from gradegate.model.posting import Posted, Skipped
from tests.standins.github import JOB_TOKEN, PERSONAL_TOKEN, GitHubStandIn
from tests.standins.github.model import Level

OpenForge = Callable[..., GitHubForge]

BOT = "github-actions[bot]"


def body(text: str, check_name: str = "gradegate") -> str:
    """A comment as the report renders it."""
    return f"{marker(check_name)}\n{text}"


def bodies(github: GitHubStandIn) -> list[str]:
    """What the comments on the pull request say, oldest first."""
    return [comment.body for comment in github.comments(1)]


def test_first_time_a_comment_is_written(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """Without a comment of ours there is one afterwards, and its page is returned."""
    github.add_pull_request()
    posted = open_forge().comment(1, body("all well"), create=True)
    (comment,) = github.comments(1)
    assert (comment.author, comment.body) == (BOT, body("all well"))
    assert isinstance(posted, Posted)
    assert posted.url.endswith(f"/octo/agents/pull/1#issuecomment-{comment.id}")


def test_next_time_it_is_edited(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """A later run, with a connection of its own, edits the comment of the earlier one."""
    github.add_pull_request()
    first = open_forge().comment(1, body("first"), create=True)
    second = open_forge().comment(1, body("second"), create=True)
    assert bodies(github) == [body("second")]
    assert first == second


def test_same_text_is_not_written_again(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """A comment that already says so is left alone: nobody is notified for nothing."""
    github.add_pull_request()
    for _ in range(2):
        open_forge().comment(1, body("same"), create=True)
    assert [request.method for request in github.requests if request.method != "GET"] == ["POST"]


def test_found_on_the_third_page(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """A long discussion does not hide our comment."""
    github.add_pull_request()
    for number in range(250):
        ours = number == 230
        github.add_comment(1, BOT if ours else "octocat", body("old") if ours else f"talk {number}")
    open_forge().comment(1, body("new"), create=True)
    pages = [request.query.get("page", "1") for request in github.asked("GET", "/comments")]
    assert pages == ["1", "2", "3"]
    assert len(bodies(github)) == 250
    assert bodies(github)[230] == body("new")


@pytest.mark.parametrize("author", ["mallory", "another-app[bot]", None])
def test_a_strangers_comment_with_our_marker_is_not_touched(
    github: GitHubStandIn, open_forge: OpenForge, author: str | None
) -> None:
    """The marker alone does not make a comment ours: its author must be us."""
    github.add_pull_request()
    github.add_comment(1, author, body("pretending"))
    open_forge().comment(1, body("ours"), create=True)
    assert [(c.author, c.body) for c in github.comments(1)] == [
        (author, body("pretending")),
        (BOT, body("ours")),
    ]


def test_our_own_comment_that_quotes_the_marker_is_not_touched(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """The same bot writes for other actions too: a marker inside their text means nothing."""
    github.add_pull_request()
    other = f"somebody said\n{marker('gradegate')}\nin their report"
    github.add_comment(1, BOT, other)
    open_forge().comment(1, body("ours"), create=True)
    assert bodies(github) == [other, body("ours")]


def test_each_check_name_keeps_its_own_comment(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """A matrix or a monorepo has several, and none overwrites the other's."""
    github.add_pull_request()
    names = ["evals (weather)", "evals-weather", "evals"]
    for text in ("first", "second"):
        for name in names:
            forge = open_forge(check_name=name)
            forge.comment(1, body(f"{name} {text}", name), create=True)
    assert bodies(github) == [body(f"{name} second", name) for name in names]


@pytest.mark.parametrize("jobs", [2, 5])
@pytest.mark.parametrize("together", [("POST",), ("POST", "DELETE")])
def test_jobs_that_race_end_with_one_comment(
    github: GitHubStandIn, open_forge: OpenForge, jobs: int, together: tuple[str, ...]
) -> None:
    """Jobs that all find no comment and all write one tidy up until one is left.

    Held together at the write, and where asked also at the first clearing up, so that
    all want to delete what only one can.
    """
    github.add_pull_request()
    github.gather("POST", "/comments$", jobs)
    if "DELETE" in together:
        github.gather("GET", "/comments$", jobs)
        github.gather("GET", "/comments$", jobs)
        github.gather("DELETE", "/issues/comments/", jobs)
    forges = [open_forge() for _ in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        posted = list(pool.map(lambda f: f.comment(1, body("result"), create=True), forges))
    assert len(github.asked("POST", "/comments")) == jobs
    assert bodies(github) == [body("result")]
    assert len(set(posted)) == 1
    assert isinstance(posted[0], Posted)


def test_leftovers_of_an_earlier_race_are_cleared_up(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """Two comments of ours, however they came to be, become one: the oldest."""
    github.add_pull_request()
    oldest = github.add_comment(1, BOT, body("one"))
    github.add_comment(1, "octocat", "nice")
    github.add_comment(1, BOT, body("two"))
    open_forge().comment(1, body("three"), create=True)
    assert bodies(github) == [body("three"), "nice"]
    assert github.comments(1)[0].id == oldest.id


def test_where_none_is_wanted_none_is_written(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """Without leave to create, nothing happens and the reason is told."""
    github.add_pull_request()
    outcome = open_forge().comment(1, body("all well"), create=False)
    assert outcome == Skipped("comment: there is none yet, and none is wanted now")
    assert bodies(github) == []


def test_where_none_is_wanted_an_old_one_is_still_edited(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """A comment that said "failed" must not go on saying so."""
    github.add_pull_request()
    open_forge().comment(1, body("failed"), create=True)
    open_forge().comment(1, body("all well"), create=False)
    assert bodies(github) == [body("all well")]


def test_a_person_writes_under_their_own_name(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """A personal token finds its own comments, not the bot's."""
    github.add_pull_request()
    github.add_comment(1, BOT, body("the bot's"))
    for text in ("first", "second"):
        open_forge(token=PERSONAL_TOKEN).comment(1, body(text), create=True)
    assert [(c.author, c.body) for c in github.comments(1)] == [
        (BOT, body("the bot's")),
        ("octo-tester", body("second")),
    ]


@pytest.mark.parametrize("check_first", [True, False])
def test_an_apps_own_token_keeps_one_comment(
    github: GitHubStandIn, open_forge: OpenForge, *, check_first: bool
) -> None:
    """An App other than GitHub Actions may not ask who it is; it finds out all the same."""
    token = "ghs_reviewer"  # noqa: S105 - opens nothing but the stand-in
    pull_request = github.add_pull_request()
    github.add_token(token, "reviewer[bot]", app_slug="reviewer")
    for text in ("first", "second"):
        forge = open_forge(token=token)
        if check_first:
            forge.start_check(pull_request.head_sha)
        forge.comment(1, body(text), create=True)
    assert [(c.author, c.body) for c in github.comments(1)] == [("reviewer[bot]", body("second"))]
    assert len(github.asked("POST", "/comments")) == (1 if check_first else 2), "no detour"


@pytest.mark.parametrize("level", ["read", "none"])
def test_forbidden_is_told_and_not_raised(
    github: GitHubStandIn, open_forge: OpenForge, level: Level
) -> None:
    """A fork's token may not comment: the job goes on, and the reason can be shown."""
    github.add_pull_request()
    github.allow(pull_requests=level)
    outcome = open_forge().comment(1, body("all well"), create=True)
    assert outcome == Skipped(
        "comment: Resource not accessible by integration (HTTP 403)", needs="pull-requests: write"
    )


def test_a_pull_request_that_is_not_there_is_told(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """A wrong number does not end the job."""
    github.add_pull_request()
    outcome = open_forge().comment(7, body("all well"), create=True)
    assert outcome == Skipped("comment: Not Found (HTTP 404)")


def test_what_github_does_not_take_is_told(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """A comment over GitHub's limit is refused; GitHub's own words are passed on."""
    github.add_pull_request()
    outcome = open_forge().comment(1, body("x" * 65_536), create=True)
    assert isinstance(outcome, Skipped)
    assert "Validation Failed" in outcome.reason
    assert "maximum is 65536 characters" in outcome.reason
    assert [problem.split(": ")[1] for problem in github.violations] == [
        "body is too long (maximum is 65536 characters)"
    ]
    github.violations.clear()


def test_a_comment_without_its_marker_is_a_mistake_of_ours(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """What could never be found again is not written."""
    github.add_pull_request()
    with pytest.raises(ValueError, match="gradegate:comment"):
        open_forge().comment(1, "no marker", create=True)
    assert bodies(github) == []


def test_an_enterprise_server_has_another_address() -> None:
    """Its API lives below a path; answers of several pages lead there too."""
    with GitHubStandIn(prefix="/api/v3") as github:
        github.add_pull_request()
        for number in range(101):
            github.add_comment(1, "octocat", f"talk {number}")
        github.add_comment(1, BOT, body("old"))
        with GitHubForge(
            JOB_TOKEN, f"{github.url}/", "octo/agents", "gradegate", seconds_between_writes=0
        ) as forge:
            forge.comment(1, body("new"), create=True)
        assert github.comments(1)[-1].body == body("new")
        assert github.violations == []
