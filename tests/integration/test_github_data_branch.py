"""A branch that only keeps data: written by many at once, through GitHub's API alone."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from gradegate.forges.github.forge import GitHubForge, ReadOnlyForge
from gradegate.model.posting import Posted, Skipped
from tests.standins.github import JOB_TOKEN, Fault, GitHubStandIn
from tests.standins.github.answer import message

OpenForge = Callable[..., GitHubForge]
BRANCH, FILE = "gradegate-data", "main.json"
WRITERS = 20


def adding(name: str) -> Callable[[str | None], str]:
    """Adds a name to the file's list."""
    return lambda text: json.dumps(sorted({*json.loads(text or "[]"), name}))


@pytest.fixture(autouse=True)
def _writable(github: GitHubStandIn) -> None:
    github.allow(contents="write")


def test_there_is_nothing_before_anything_is_written(open_forge: OpenForge) -> None:
    """No branch is no mistake of anyone."""
    assert open_forge().data(BRANCH, FILE) is None


def test_what_one_job_writes_another_reads(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """A branch of its own, which shares no commit with the code."""
    forge = open_forge()
    assert isinstance(forge.change_data(BRANCH, FILE, adding("a"), "Add a"), Posted)
    assert isinstance(forge.change_data(BRANCH, FILE, adding("\u6771"), "Add b"), Posted)
    assert isinstance(forge.change_data(BRANCH, "other.json", adding("c"), "Add c"), Posted)
    read = open_forge().data(BRANCH, FILE)
    assert isinstance(read, str)
    assert json.loads(read) == ["a", "\u6771"]
    assert open_forge().data(BRANCH, "none.json") is None
    commits = github.asked("POST", "/git/commits")
    assert [len(one.body["parents"]) for one in commits] == [0, 1, 1]


def test_what_changes_nothing_makes_no_commit(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """A rerun of a job has nothing new to say."""
    forge = open_forge()
    forge.change_data(BRANCH, FILE, adding("a"), "Add a")
    forge.change_data(BRANCH, FILE, adding("a"), "Add a")
    assert len(github.asked("POST", "/git/commits")) == 1


def test_twenty_writers_at_once_lose_nothing(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """All of them begin before there is a branch; each ends with a commit of its own."""
    github.limits.requests_per_hour = github.limits.writes_per_minute = 100_000
    github.gather("GET", "/git/ref/", WRITERS)
    names = [f"job {number:02}" for number in range(WRITERS)]
    forges = {name: open_forge(seconds_between_writes=0.1) for name in names}

    def write(name: str) -> Posted | Skipped:
        return forges[name].change_data(BRANCH, FILE, adding(name), f"Add {name}")

    with ThreadPoolExecutor(WRITERS) as pool:
        done = list(pool.map(write, names))
    assert [one for one in done if isinstance(one, Skipped)] == []
    assert json.loads(github.data(BRANCH, FILE) or "[]") == names
    moved = [one for one in github.asked("PATCH") if "/git/refs/" in one.path]
    assert len(moved) >= WRITERS - 1
    assert not any(one.body["force"] for one in moved)


def test_a_token_that_may_not_write_is_told_what_it_needs(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """The permission is named as a workflow writes it."""
    github.allow(contents="read")
    done = open_forge().change_data(BRANCH, FILE, adding("a"), "Add a")
    assert isinstance(done, Skipped)
    assert done.needs == "contents: write"
    assert github.data(BRANCH, FILE) is None


def test_a_fork_writes_nothing(github: GitHubStandIn) -> None:
    """Its token could not, and it does not try."""
    with ReadOnlyForge(JOB_TOKEN, github.url, "octo/agents", "gradegate") as forge:
        assert isinstance(forge.change_data(BRANCH, FILE, adding("a"), "Add a"), Skipped)
    assert github.requests == []


def test_a_branch_that_a_rule_protects_is_not_asked_for_ever(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """It did not move, so nobody else was faster: GitHub's reason is told, once."""
    forge = open_forge()
    forge.change_data(BRANCH, FILE, adding("a"), "Add a")
    refused = Fault(answer=message(422, "Repository rule violations found"))
    github.fail_next(refused, method="PATCH", path="/git/refs/")
    done = forge.change_data(BRANCH, FILE, adding("b"), "Add b")
    assert isinstance(done, Skipped)
    assert "rule violations" in done.reason
    assert len(github.asked("PATCH")) == 1


def test_what_is_no_text_is_read_as_such(github: GitHubStandIn, open_forge: OpenForge) -> None:
    """Somebody put a picture there: whoever parses it finds out."""
    forge = open_forge()
    forge.change_data(BRANCH, FILE, adding("a"), "Add a")
    github.put_data(BRANCH, FILE, b"\x89PNG\xff")
    assert forge.data(BRANCH, FILE) == "\ufffdPNG\ufffd"


def test_only_commits_of_the_branch_are_among_its_ancestors(
    github: GitHubStandIn, open_forge: OpenForge
) -> None:
    """Over several pages, and through both parents of a merge."""
    shas = [f"{number:040x}" for number in range(250)]
    github.add_commit("b" * 40)
    for older, sha in zip(["b" * 40, *shas], shas, strict=False):
        github.add_commit(sha, older)
    side = github.add_commit("c" * 40, shas[7])
    github.add_branch("main", "d" * 40, shas[-1], side)
    other = github.add_commit("e" * 40, shas[-1])
    forge = open_forge()
    assert forge.among_ancestors("main", [shas[3], side, other]) == frozenset({shas[3], side})
    assert forge.among_ancestors("main", []) == frozenset()
    assert isinstance(forge.among_ancestors("gone", [side]), Skipped)
