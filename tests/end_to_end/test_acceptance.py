"""The label that accepts a commit as it is: who may set it, for which commit, and how long."""

from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.project import scripted
from tests.standins.github import GitHubStandIn, server_error
from tests.workflow_step import BROKEN, CASES, Change, breaking, pull_request

LABEL = "gradegate-accept"


@pytest.fixture
def change(tmp_path: Path, github: GitHubStandIn) -> Change:
    """A pull request that breaks a case; mona may write, eve may not."""
    github.let("mona", "write")
    github.let("eve", "triage")
    return breaking(tmp_path, github)


def happens(change: Change, action: str, label: str = "", by: str = "mona") -> int:
    """Let the workflow run on what somebody does to the pull request; the exit code."""
    done = tell(change, action, label, by)
    assert "Traceback" not in done.stderr
    return done.returncode


def tell(change: Change, action: str, label: str = "", by: str = "mona") -> CompletedProcess[str]:
    """The same; what the job said."""
    pull = change.runner.github.state.pulls[1]
    payload = pull_request(change.head, change.base, labels=[{"name": one} for one in pull.labels])
    payload |= {"action": action, "sender": {"login": by}}
    if label:
        payload["label"] = {"name": label}
    change.runs += 1
    return change.runner.run("pull_request", payload, run_id=str(100 + change.runs))


def accepts(change: Change, by: str = "mona") -> int:
    """Let somebody set the label, and the workflow run on it."""
    change.runner.github.label(1, LABEL, by=by)
    return happens(change, "labeled", LABEL, by)


def pushes(change: Change, name: str = "notes.txt") -> Change:
    """The same pull request with one more commit."""
    project = change.project
    project.git("checkout", "-q", "change")
    project.put(name, "more")
    github, runs = change.runner.github, change.runs
    pull = github.state.pulls[1]
    later = Change(project, github, change.runner.folder)
    github.state.pulls[1].labels, github.state.pulls[1].events = pull.labels, pull.events
    later.runs = runs
    return later


def comment(change: Change) -> str:
    """The pull request's one comment."""
    (only,) = change.runner.github.comments(1)
    return only.body


def test_an_acceptance_holds_for_its_commit_and_says_whose_it_is(change: Change) -> None:
    """Also for events after it, and for a rerun of one before it."""
    assert happens(change, "synchronize") == 1
    assert accepts(change) == 0
    assert "Accepted by mona" in comment(change)
    for action, label in (("reopened", ""), ("labeled", "bug"), ("synchronize", "")):
        assert happens(change, action, label) == 0, action
    assert "Accepted by mona" in comment(change)


@pytest.mark.trust
def test_an_old_acceptance_is_not_revived_by_another_label(change: Change) -> None:
    """An acceptance of an earlier commit, revived by another label."""
    assert accepts(change) == 0
    later = pushes(change)
    assert happens(later, "synchronize") == 1
    assert happens(later, "labeled", "bug") == 1
    assert happens(later, "reopened") == 1
    assert "was set for an earlier commit" in comment(later)
    later.runner.github.unlabel(1, LABEL, by="mona")
    assert accepts(later) == 0, "the control: this label, set anew, accepts this commit"


@pytest.mark.trust
def test_a_label_of_somebody_who_may_not_write_counts_for_nothing(change: Change) -> None:
    """An acceptance by somebody without write access."""
    assert accepts(change, by="eve") == 1
    assert "eve, who may not write to this repository" in comment(change)
    assert happens(change, "reopened") == 1
    change.runner.github.unlabel(1, LABEL, by="eve")
    assert accepts(change) == 0, "the control"


@pytest.mark.trust
def test_the_event_of_one_person_is_not_answered_with_the_label_of_another(
    change: Change,
) -> None:
    """A rerun of eve's label on an old commit, after mona accepted a new one."""
    github = change.runner.github
    assert accepts(change, by="eve") == 1
    later = pushes(change)
    github.unlabel(1, LABEL, by="eve")
    assert accepts(later) == 0, "the control"
    assert happens(change, "labeled", LABEL, by="eve") == 1
    assert happens(change, "reopened") == 1, "nor once the branch was reset to it"


@pytest.mark.trust
def test_taking_the_label_off_takes_the_acceptance_back(change: Change) -> None:
    """An acceptance that was taken back."""
    assert accepts(change) == 0
    change.runner.github.unlabel(1, LABEL, by="mona")
    assert happens(change, "unlabeled", LABEL) == 1
    assert happens(change, "reopened") == 1
    change.runner.github.label(1, LABEL, by="eve")
    assert happens(change, "labeled", LABEL, by="eve") == 1, "mona's is not found again"


@pytest.mark.trust
def test_an_acceptance_lasts_as_long_as_the_right_to_give_one(change: Change) -> None:
    """An acceptance by somebody who has lost write access."""
    assert accepts(change) == 0
    change.runner.github.let("mona", "read")
    assert happens(change, "reopened") == 1


def record(change: Change, **other: Any) -> str:
    """What is remembered of an acceptance, with parts of it exchanged."""
    lines = [
        str(run.summary).split("\n", 1)[0] for run in change.runner.github.check_runs(change.head)
    ]
    line = next(line for line in lines if "gradegate:acceptance" in line)
    for old, new in other.items():
        line = line.replace(str(getattr(change, old)), str(new))
    return line


@pytest.mark.trust
@pytest.mark.parametrize("where", ["app", "name", "commit", "ours"])
def test_a_check_of_somebody_elses_accepts_nothing(change: Change, where: str) -> None:
    """An acceptance copied into a check of another app, another name or another commit."""
    assert accepts(change) == 0
    later = pushes(change)
    line = record(change) if where == "commit" else record(change, head=later.head)
    later.runner.github.add_check(
        later.head,
        name="lint" if where == "name" else "gradegate",
        app="stranger" if where == "app" else "github-actions",
        external_id="5",
        status="completed",
        conclusion="success",
        summary=f"{line}\n\nAll well.",
    )
    expected = 0 if where == "ours" else 1  # the control; docs/trust.md says who could write it
    assert happens(later, "synchronize") == expected


@pytest.mark.trust
def test_an_agent_that_speaks_of_an_acceptance_is_no_acceptance(change: Change) -> None:
    """An acceptance among the words of an agent."""
    assert accepts(change) == 0
    line = record(change)
    later = pushes(change)
    words = [{"text": f"{line}\n\n{line.replace(change.head, later.head)}"}]
    later.project.answers({"paris": words, "rome": BROKEN})
    loud = pushes(later)
    assert happens(loud, "synchronize") == 1
    assert happens(loud, "reopened") == 1


@pytest.mark.trust
def test_an_acceptance_is_found_only_where_github_says_whose_check_it_is(change: Change) -> None:
    """An acceptance in a check that names no app."""
    assert accepts(change) == 0
    change.runner.github.state.names_apps = False
    assert happens(change, "reopened") == 1


def queued(change: Change, head: str, base: str, number: int = 1) -> int:
    """Let a merge queue ask about a commit; the exit code."""
    change.project.git("checkout", "-q", "--detach", head)
    change.runner.github.add_commit(head)
    ref = f"refs/heads/gh-readonly-queue/main/pr-{number}-{base}"
    group = {"head_sha": head, "base_sha": base, "head_ref": ref}
    change.runs += 1
    run_id = str(100 + change.runs)
    return change.runner.run("merge_group", {"merge_group": group}, run_id=run_id).returncode


def merged(change: Change, head: str, onto: str) -> str:
    """The merge queue's commit of a head onto a base."""
    change.project.git("checkout", "-q", "--detach", onto)
    change.project.git("merge", "-q", "--no-ff", "-m", "queue", head)
    return change.project.git("rev-parse", "HEAD")


def test_the_merge_group_that_carries_an_accepted_commit_passes(change: Change) -> None:
    """With a merge commit, or squashed."""
    group = merged(change, change.head, change.base)
    assert queued(change, group, change.base) == 1, "the control: nobody accepted it"
    assert accepts(change) == 0
    assert queued(change, group, change.base) == 0
    change.project.git("checkout", "-q", "--detach", change.base)
    change.project.git("merge", "-q", "--squash", change.head)
    squashed = change.project.commit("squashed")
    assert queued(change, squashed, change.base) == 0


@pytest.mark.trust
def test_a_merge_group_with_anything_else_in_it_is_not_accepted(change: Change) -> None:
    """An accepted pull request that carries another one through the merge queue."""
    assert accepts(change) == 0
    later = pushes(change)
    other = merged(change, later.head, change.base)
    change.runner.github.state.pulls[1].head_sha = change.head
    assert queued(change, other, change.base) == 1, "another commit than the accepted one"
    change.project.git("checkout", "-q", "--detach", change.base)
    change.project.put("README.md", "another pull request, queued before")
    first = change.project.commit("first")
    both = merged(change, change.head, first)
    assert queued(change, both, change.base) == 1, "two pull requests, of which one was accepted"
    assert queued(change, both, first) == 0, "the control: GitHub names the one before as base"


def test_a_label_that_cannot_be_looked_up_is_not_red_by_itself(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """The evaluation goes on without it, and says so."""
    project = scripted(tmp_path / "repo", CASES)
    project.git("switch", "-qc", "change")
    project.put("notes.txt", "harmless")
    harmless = Change(project, github, tmp_path / "runner")
    github.label(1, LABEL, by="mona")
    github.fail_next(server_error(502), times=50, path="/issues/1/(events|labels)")
    done = tell(harmless, "labeled", LABEL)
    assert done.returncode == 0, done.stderr
    assert "could not be found out" in comment(harmless)
    assert "502" in comment(harmless)


def test_without_a_check_an_acceptance_is_of_one_run(change: Change) -> None:
    """Nothing can be remembered where checks are forbidden: that is told."""
    change.runner.github.allow(checks="none")
    change.runner.github.label(1, LABEL, by="mona")
    done = tell(change, "labeled", LABEL)
    assert done.returncode == 0
    assert "cannot be remembered" in done.stdout
    assert happens(change, "reopened") == 1


def test_an_acceptance_is_of_one_check(change: Change) -> None:
    """A second job with a check of its own name has its own findings to accept."""
    assert accepts(change) == 0
    assert change.run(check_name="other").returncode == 1
