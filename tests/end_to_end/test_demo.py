"""`gradegate demo`, as someone tries it first: a subprocess, real git, real agents, no network."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gradegate.demo.record_answers import record
from gradegate.demo.repository import ANSWERS, DOCS_ONLY, MAIN, PULL_REQUEST
from tests.project import GRADEGATE
from tests.starter import STARTER

BROKEN = "overnight_to_osaka"
VIEWS = (
    "comment.md",
    "check.md",
    "summary.md",
    "report.html",
    "report.json",
    "junit.xml",
)


class Shown(NamedTuple):
    """What the demo printed, and where it put what it made."""

    text: str
    folder: Path

    @property
    def repo(self) -> Path:
        return self.folder / "repo"

    @property
    def report(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "report" / "report.json").read_text()))


def _environ(home: Path) -> dict[str, str]:
    """A machine without any key, with stores of its own."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}


def _call(home: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run gradegate there."""
    return STARTER.run([str(word) for word in arguments], home, _environ(home))


def _git(repo: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", repo, *arguments], capture_output=True, check=True)
    return done.stdout.decode()


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """The demo, run once for all that look at it."""
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [GRADEGATE, "demo", "--out", folder / "out"],
        env=_environ(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return Shown(done.stdout, folder / "out")


@pytest.fixture
def repo(shown: Shown, tmp_path: Path) -> Path:
    """A copy of the demo's repository, to be switched about."""
    return shutil.copytree(shown.repo, tmp_path / "repo")


def _verdicts(report: dict[str, Any]) -> dict[str, set[str]]:
    return {
        case["eval_id"]: {one["verdict"] for one in case["criteria"].values()}
        for case in report["cases"]
    }


def test_it_names_the_broken_case_and_says_what_the_gate_would_do(shown: Shown) -> None:
    """The gate's no is the show: what broke, why, on how many runs, and the exit code."""
    assert "The agent got worse" in shown.text
    assert BROKEN in shown.text
    assert 'check_in "2026-05-04" → "2026-05-03"' in shown.text
    assert "the judge finds the answer valid on base and invalid here" in shown.text
    assert "runs passed 6/6 → 0/6" in shown.text
    assert "The gate would have ended with exit code 1" in shown.text
    assert "Judge verdicts in this demo are recorded ones" in shown.text
    assert "ran as the same user" not in shown.text


def test_it_shows_every_kind_of_change(shown: Shown) -> None:
    """Broken, flaky and improved cases are told apart; edited, added and removed ones listed."""
    verdicts = _verdicts(shown.report)
    assert {name for name, of in verdicts.items() if "regressed" in of} == {BROKEN}
    assert {name for name, of in verdicts.items() if "flaky" in of} == {"ferry_to_naoshima"}
    assert {n for n, of in verdicts.items() if "improved" in of} == {"new_york_in_fahrenheit"}
    changes = {
        case["eval_id"]: case["change"]
        for case in shown.report["cases"]
        if case["change"] != "same"
    }
    assert changes == {
        "weather_in_lisbon": "edited",
        "cancel_a_hotel": "added",
        "visa_for_japan": "removed",
    }


def test_a_regression_is_borne_out_by_fresh_runs(shown: Shown) -> None:
    """Agents really run: the broken case is confirmed, and words alone would have missed it."""
    case = next(one for one in shown.report["cases"] if one["eval_id"] == BROKEN)
    for name in ("tool_trajectory_avg_score", "final_response_match_v2"):
        assert case["criteria"][name]["confirmed"], name
    assert case["criteria"]["response_match_score"]["verdict"] == "unchanged"


def test_the_recording_answers_every_question(shown: Shown) -> None:
    """No score is missing for want of a judge."""
    for criterion in shown.report["criteria"]:
        assert criterion["scored"] == criterion["planned"], criterion["name"]


async def test_the_recording_is_what_the_verdicts_say_today(tmp_path: Path) -> None:
    """Nobody edited the recording by hand, and no verdict was changed without recording it."""
    await record(tmp_path / "answers.json")
    assert (tmp_path / "answers.json").read_bytes() == ANSWERS.read_bytes()


def test_it_writes_every_view_and_says_where(shown: Shown) -> None:
    """All files are there, named, and speak of the broken case."""
    assert str(shown.folder / "report") in shown.text
    for name in VIEWS:
        assert name in shown.text
        assert BROKEN in (shown.folder / "report" / name).read_text(), name
    badge = json.loads((shown.folder / "report" / "badge.json").read_text())
    assert (badge["message"], badge["color"]) == ("1 regressed case", "red")


def test_it_says_what_to_try_next(shown: Shown) -> None:
    """The commands it offers can be copied: they stand on one line each."""
    answers = shown.folder / "answers.json"
    assert f" run --repo {shown.repo} --answers {answers}\n" in shown.text
    assert f" init --repo {shown.repo}\n" in shown.text


def test_the_repository_is_left_as_it_was_made(shown: Shown) -> None:
    """Nothing of a run stays behind in the user's repository."""
    assert _git(shown.repo, "status", "--porcelain", "--ignored") == ""
    assert _git(shown.repo, "branch", "--show-current").strip() == PULL_REQUEST.name
    assert len(_git(shown.repo, "worktree", "list").splitlines()) == 1


@pytest.mark.parametrize(
    ("branch", "code"), [(PULL_REQUEST.name, 1), (DOCS_ONLY.name, 0), (MAIN, 0)]
)
def test_by_hand_each_branch_ends_as_it_should(
    shown: Shown, repo: Path, tmp_path: Path, branch: str, code: int
) -> None:
    """The pull request is blocked, a change of the README is not, and no change is not even run."""
    _git(repo, "switch", "--quiet", branch)
    done = _call(tmp_path, "run", "--repo", repo, "--answers", shown.folder / "answers.json")
    assert done.returncode == code, done.stdout + done.stderr
    assert _git(repo, "status", "--porcelain", "--ignored") == ""
    assert ("nothing was run" in done.stdout) == (branch == MAIN)
    assert "undecided" not in done.stdout


@pytest.mark.parametrize(
    ("branch", "code", "said"),
    [
        (PULL_REQUEST.name, 1, "The agent got worse"),
        (DOCS_ONLY.name, 0, "But 6 cases are undecided, and the settings let that pass."),
    ],
)
def test_by_hand_it_does_without_a_judge(
    repo: Path, tmp_path: Path, branch: str, code: int, said: str
) -> None:
    """What needs no judge still decides; a pass admits at once what it left open."""
    _git(repo, "switch", "--quiet", branch)
    done = _call(tmp_path, "run", "--repo", repo)
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stdout


def test_it_does_not_overwrite_an_earlier_demo(shown: Shown, tmp_path: Path) -> None:
    """A second demo in the same place is refused, and says so in a sentence."""
    done = _call(tmp_path, "demo", "--out", shown.folder)
    assert done.returncode == 2
    assert f"{shown.repo} is there already" in done.stderr


def test_the_repository_is_the_same_on_every_machine(shown: Shown) -> None:
    """Neither the user's git settings nor the clock have a part in its commits."""
    described = _git(shown.repo, "log", "--all", "--format=%an %ad %s", "--date=iso-strict")
    assert described.replace("Z ", "+00:00 ").splitlines() == [
        f"Travel desk 2026-03-04T09:00:00+00:00 {PULL_REQUEST.message}",
        f"Travel desk 2026-03-03T09:00:00+00:00 {DOCS_ONLY.message}",
        "Travel desk 2026-03-02T09:00:00+00:00 A travel desk",
    ]
