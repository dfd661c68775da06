"""`gradegate plan`: the shards, as they would be cut."""

from pathlib import Path

import pytest

from tests.project import Project, case, scripted, turn

CASES = [case(f"case-{n}", turn(f"Question {n}?", "Yes.")) for n in range(4)]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with four cases, and a change."""
    made = scripted(tmp_path / "repo", CASES)
    made.git("switch", "-qc", "change")
    made.put("notes.txt", "a change")
    return made


def test_a_run_times_the_cases_that_a_plan_cuts(project: Project) -> None:
    """Before there is one they go by turns, and afterwards everything is in the store."""
    done = project.gradegate("plan", "--shards", "2")
    assert done.stdout.splitlines() == [
        "4 cases, none of them timed yet: they go by turns",
        "1/2: 2 cases",
        "2/2: 2 cases",
    ]
    assert project.gradegate("plan", "--max-minutes", "5").returncode == 2
    assert project.gradegate("run").returncode == 0
    done = project.gradegate("plan", "--max-minutes", "5")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 cases, all of them timed\n1/1: 4 cases, about 0.0 s\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--shards", "0"], "write 1 to 256"),
        (["--shards", "257"], "write 1 to 256"),
        (["--max-minutes", "soon"], "above 0"),
        (["--max-minutes", "-1"], "above 0"),
        ([], "one of the arguments --shards --max-minutes is required"),
        (["--shards", "2", "--max-minutes", "3"], "not allowed with"),
    ],
)
def test_what_cannot_be_planned_is_refused(project: Project, words: list[str], told: str) -> None:
    """With what to write instead."""
    done = project.gradegate("plan", *words)
    assert done.returncode == 2
    assert told in done.stderr
