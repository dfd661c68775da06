"""One evaluation over several jobs: each runs a part, one decides, and only that one speaks."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.project import case, expected, scripted, turn
from tests.standins.github import GitHubStandIn
from tests.workflow_step import BROKEN, Change, finished, from_fork, pull_request

CASES = [case(f"case-{n:02}", turn(f"Question {n}?", f"Answer {n} it is.")) for n in range(16)]
ANSWERS = {one["eval_id"]: expected(one) for one in CASES}
SHARDS = 8
ORDERS = [
    pytest.param((1, 2, 3, 4, 5, 6, 7, 8), marks=pytest.mark.slow),
    (8, 3, 5, 1, 7, 2, 6, 4),
]
"""In which the shards' jobs end, and in which their files arrive."""
TIMES = {"usage", "seconds"}


def regressed(folder: Path, github: GitHubStandIn, *broken: str) -> Change:
    """A pull request that breaks some of sixteen cases."""
    project = scripted(folder / "repo", CASES)
    project.git("switch", "-qc", "change")
    project.answers(ANSWERS | dict.fromkeys(broken, BROKEN))
    return Change(project, github, folder / "runner")


class Matrix:
    """The jobs of a matrix, each on a machine of its own, and what they upload."""

    def __init__(self, change: Change, event: str, payload: dict[str, Any]) -> None:
        self.change = change
        self.event = event
        self.payload = payload
        self.artifacts = change.project.root.parent / "artifacts"

    def run(self, numbers: Sequence[int], total: int = SHARDS, **inputs: str) -> list[str]:
        """Run these shards in this order; what each says."""
        return [self._run(number, total, inputs) for number in numbers]

    def _run(self, number: int, total: int, inputs: dict[str, str]) -> str:
        self.clean()
        done = self.change.runner.run(
            self.event, self.payload, {"shard": f"{number}/{total}", **inputs}
        )
        assert done.returncode == 0, done.stderr
        assert list(self.change.runner.outputs) == ["shard"]
        assert self.change.runner.summary == ""
        file = self.change.runner.written("shard")
        place = self.artifacts / f"gradegate-shard-{number}"
        place.mkdir(parents=True)
        shutil.copy(file, place)
        return done.stderr

    def merge(self, **inputs: str) -> Any:
        """Run the job that merges; what it came to."""
        self.clean()
        place = self.change.project.root / ".gradegate" / "shards"
        shutil.rmtree(place, ignore_errors=True)
        if self.artifacts.exists():
            shutil.copytree(self.artifacts, place)
        named = {name.replace("_", "-"): value for name, value in inputs.items()}
        return self.change.runner.run(self.event, self.payload, {"mode": "merge", **named})

    def report(self) -> Any:
        """What the job that merged wrote."""
        return json.loads(self.change.runner.written("report").read_text(encoding="utf-8"))

    def clean(self) -> None:
        """A fresh machine: nothing is shared but what is uploaded."""
        shutil.rmtree(self.change.project.root / ".gradegate", ignore_errors=True)


def of_pull_request(change: Change) -> Matrix:
    """As the event of a pull request starts it."""
    return Matrix(change, "pull_request", pull_request(change.head, change.base))


def timeless(value: Any) -> Any:
    """The same without times and costs."""
    if isinstance(value, dict):
        return {name: timeless(one) for name, one in value.items() if name not in TIMES}
    return [timeless(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("order", ORDERS)
def test_eight_shards_end_in_one_red_check_and_the_report_of_one_job(
    tmp_path: Path, github: GitHubStandIn, order: Sequence[int]
) -> None:
    """Regressions in two of them, whatever the order; nothing is written before the merge."""
    change = regressed(tmp_path, github, "case-01", "case-06")
    matrix = of_pull_request(change)
    said = matrix.run(order)
    for number, text in zip(order, said, strict=True):
        assert f"shard {number}/8 done: 2 cases, 4 runs" in text
    assert (github.check_runs(change.head), github.comments(1)) == ([], [])
    done = matrix.merge()
    assert done.returncode == 1, done.stderr
    (check,) = github.check_runs(change.head)
    assert (check.status, check.conclusion) == ("completed", "failure")
    (comment,) = github.comments(1)
    assert "2 regressed cases in 16 cases" in comment.body
    merged = matrix.report()
    assert [case["eval_id"] for case in merged["cases"] if worse(case)] == ["case-01", "case-06"]
    matrix.clean()
    assert change.run().returncode == 1
    assert timeless(matrix.report()) == timeless(merged)
    assert len(github.check_runs(change.head)) == len(github.comments(1)) == 1


def worse(one: dict[str, Any]) -> bool:
    """Whether a case of the report got worse."""
    return any(scored["verdict"] == "regressed" for scored in one["criteria"].values())


def test_a_shard_that_is_missing_leaves_it_open_and_is_named(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """Its job failed, say; in every view, and no agent is run once more."""
    change = regressed(tmp_path, github, "case-01")
    matrix = of_pull_request(change)
    matrix.run([2], total=3)
    log = change.project.listen()
    done = matrix.merge()
    assert done.returncode == 3, done.stderr
    (check,) = github.check_runs(change.head)
    assert check.conclusion == "action_required"
    (comment,) = github.comments(1)
    for number in (1, 3):
        told = f"shard {number}/3 is missing"
        for text in (comment.body, str(check.summary), done.stderr):
            assert told in text
    assert "shard 2/3" not in comment.body
    assert log.runs() == []


def test_in_a_forks_own_half_files_are_all_that_is_written(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """Shards and merge alike; the other workflow posts what the merge wrote."""
    change = regressed(tmp_path, github, "case-01")
    matrix = Matrix(change, "pull_request", from_fork(change))
    matrix.run((2, 1), total=2)
    done = matrix.merge()
    assert done.returncode == 1, done.stderr
    assert (github.check_runs(change.head), github.comments(1)) == ([], [])
    posted = change.runner.run("workflow_run", finished(change))
    assert posted.returncode == 0, posted.stderr
    (comment,) = github.comments(1)
    assert "case-01" in comment.body


def test_a_merge_queue_gets_one_check_too(tmp_path: Path, github: GitHubStandIn) -> None:
    """On the commit of the queue."""
    change = regressed(tmp_path, github, "case-01")
    queued = change.project.git("rev-parse", "HEAD")
    github.add_commit(queued)
    group = {"head_sha": queued, "base_sha": change.base, "head_ref": "refs/heads/x"}
    matrix = Matrix(change, "merge_group", {"merge_group": group})
    matrix.run((1, 2), total=2)
    assert github.check_runs(queued) == []
    done = matrix.merge()
    assert done.returncode == 1, done.stderr
    (check,) = github.check_runs(queued)
    assert check.conclusion == "failure"


def test_a_push_keeps_the_baseline_of_all_shards(tmp_path: Path, github: GitHubStandIn) -> None:
    """The merge's store has every run; what a shard did not do is done there."""
    project = scripted(tmp_path / "repo", CASES[:5])
    change = Change(project, github, tmp_path / "runner")
    project.git("checkout", "-q", "main")
    push = {"ref": "refs/heads/main", "repository": {"default_branch": "main"}}
    matrix = Matrix(change, "push", push)
    log = project.listen()
    matrix.run((1,), total=2)
    assert len(log.fresh()) == 6
    done = matrix.merge()
    assert done.returncode == 0, done.stderr
    assert "shard 2/2 is missing" in done.stderr
    assert sorted(log.fresh()) == [f"case-0{n} {run}" for n in (1, 3) for run in (1, 2)]
    project.git("switch", "-qc", "next")
    project.answers({**ANSWERS, "case-01": BROKEN})
    outcome = project.evaluate("--store", ".gradegate/store/gradegate.sqlite")
    assert outcome.report["base"]["source"] == "run"
    firsts = [run for run in log.fresh() if run.endswith(" 1")]
    assert len(firsts) == 5
    assert [one["eval_id"] for one in outcome.report["cases"] if worse(one)] == ["case-01"]


def test_at_a_terminal_a_shard_writes_files_and_another_run_decides(tmp_path: Path) -> None:
    """The same as one run, results files included."""
    project = scripted(tmp_path / "repo", CASES[:5])
    project.git("switch", "-qc", "change")
    project.answers({**ANSWERS, "case-01": BROKEN})
    for number in (1, 2):
        done = project.gradegate("run", "--shard", f"{number}/2", "--out", f"../parts/{number}")
        assert done.returncode == 0, done.stderr
        assert f"shard {number}/2 done" in done.stderr
    merged = project.evaluate("--shards", "../parts", "--store", "../merged.sqlite")
    assert merged.code == 1
    whole = project.evaluate("--store", "../whole.sqlite")
    for name in ("report.json", "head.results.json", "base.results.json"):
        assert timeless(merged.read(name)) == timeless(whole.read(name))
    done = project.gradegate("run", "--shard", "2/2", "--runs", "2", "--out", "../parts/other")
    assert done.returncode == 0, done.stderr
    mixed = [f"../parts/{name}/head.results.json" for name in ("1", "other")]
    refused = project.gradegate("merge", *mixed)
    assert refused.returncode == 2
    assert "other settings, inputs or cases" in refused.stderr
    for side in ("head", "base"):
        parts = [f"../parts/{number}/{side}.results.json" for number in (2, 1)]
        assert project.gradegate("merge", *parts, "--out", "../m.json").returncode == 0
        one = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
        assert timeless(one) == timeless(whole.read(f"{side}.results.json"))


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    """At a terminal a shard needs a place for its files."""
    project = scripted(tmp_path / "repo", CASES[:2])
    done = project.gradegate("run", "--shard", "1/2")
    assert done.returncode == 2
    assert "--out DIR" in done.stderr


@pytest.mark.slow
def test_a_second_matrix_makes_what_the_merge_wants(tmp_path: Path, github: GitHubStandIn) -> None:
    """Asked for where there is much; the job that decides makes nothing then, and says the same."""
    names = [f"case-{number:02}" for number in range(16)]
    change = regressed(tmp_path, github, *names)
    matrix = of_pull_request(change)
    matrix.run((1, 2), total=2)
    asked = matrix.merge(confirm_shards="2")
    assert asked.returncode == 0, asked.stderr
    assert change.runner.outputs == {"confirm-matrix": '["1/2", "2/2"]'}
    assert github.comments(1) == []
    for shard in ("2/2", "1/2"):
        done = matrix.merge(shard=shard)
        assert done.returncode == 0, done.stderr
        assert f"confirming shard {shard} done: 8 cases" in done.stderr
        shutil.copy(change.runner.written("shard"), matrix.artifacts)
    log = change.project.listen()
    decided = matrix.merge()
    assert decided.returncode == 1, decided.stderr
    assert change.runner.outputs["confirm-matrix"] == "[]"
    assert log.runs() == []
    merged = matrix.report()
    assert [case["eval_id"] for case in merged["cases"] if worse(case)] == names
    matrix.clean()
    assert change.run().returncode == 1
    assert timeless(matrix.report()) == timeless(merged)
    (check,) = github.check_runs(change.head)
    assert check.conclusion == "failure"
