"""Stopped in the middle, by whatever means: what is finished is kept, and nothing is left over."""

import signal
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen
from typing import Any, NamedTuple

import pytest

from tests.project import SETTINGS, AgentLog, Outcome, Project, case, expected, scripted, turn

PARALLEL = 8
CASES = [case(f"case {n:03}", turn(f"q{n}", "fine", {"name": f"tool{n}"})) for n in range(200)]
CONFIG = '{"criteria": {"tool_trajectory_avg_score": 1.0}}'
MOST = 150
"""Runs after which the agent answers no more, for as long as there is a file `held`."""
PATIENCE = 600.0


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An agent with many cases, and a branch that breaks one of them."""
    settings = f"{SETTINGS}max_parallel = {PARALLEL}\n"
    project = scripted(tmp_path / "repo", CASES, settings)
    project.put("evals/test_config.json", CONFIG)
    project.commit()
    project.git("switch", "-qc", "change")
    answers = {one["eval_id"]: expected(one) for one in CASES}
    held = {"held_by": str(tmp_path / "held"), "runs": MOST}
    project.answers({**answers, "case 007": {"crash": "boom"}}, **held)
    project.commit()
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    project.environ["TMPDIR"] = str(temporary)
    return project


def wait_for(ready: Callable[[], bool], process: Popen[str]) -> None:
    """Wait until something is so while a process is still at work."""
    ends = time.monotonic() + PATIENCE
    while not ready():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < ends, "it takes too long"
        time.sleep(0.01)


class Stopped(NamedTuple):
    """How a process ended that was asked to."""

    code: int
    stdout: str
    stderr: str


def stopped_after(project: Project, log: AgentLog, runs: int, number: int) -> Stopped:
    """A run that gets a signal once its agents have begun so many runs; it cannot end before."""
    held = project.root.parent / "held"
    held.touch()
    process = project.start("run", "--out", str(project.root.parent / "never"))
    wait_for(lambda: len(log.runs()) >= runs, process)
    assert working_below(Path(project.environ["TMPDIR"]))
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=PATIENCE)
    held.unlink()
    return Stopped(process.returncode, stdout, stderr)


def findings(done: Outcome) -> Any:
    """A report but for what it cost."""
    report = done.report
    return {**report, "usage": None, "base": {**report["base"], "source": "…"}}


def working_below(folder: Path) -> list[str]:
    """Processes that are at work in a folder, or below it."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if place.readlink().is_relative_to(folder):
                found.append((place.parent / "cmdline").read_text())
        except (OSError, ValueError):  # it has ended meanwhile
            continue
    return found


def test_killed_in_the_middle_it_goes_on_where_it_was(project: Project) -> None:
    """No finished unit is run twice, it comes to the same, and what the killed one left is gone."""
    (project.root / ".git").chmod(0o755)
    log = project.listen()
    assert stopped_after(project, log, MOST, signal.SIGKILL).code == -signal.SIGKILL
    temporary = Path(project.environ["TMPDIR"])
    ends = time.monotonic() + PATIENCE
    while working_below(temporary) and time.monotonic() < ends:
        time.sleep(0.05)
    assert working_below(temporary) == []
    before = log.fresh()
    assert list(temporary.iterdir()) != []
    resumed = project.evaluate()
    assert list(temporary.iterdir()) == []
    assert (project.root / ".git").stat().st_mode & 0o777 == 0o755
    assert not list((project.root / ".git").glob("gradegate*"))
    after = log.fresh()
    undisturbed = project.evaluate(XDG_CACHE_HOME=str(project.root.parent / "another"))
    whole = log.fresh()
    assert undisturbed.code == resumed.code == 1
    assert findings(resumed) == findings(undisturbed)
    assert len(whole) > 2 * len(CASES)
    in_flight = 2 * PARALLEL
    assert len(before) >= MOST
    assert len(whole) <= len(before) + len(after) <= len(whole) + in_flight


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["TERM", "INT"]
)
def test_asked_to_stop_it_winds_up(project: Project, number: signal.Signals, code: int) -> None:
    """With its exit code and a message, and nothing left behind; what is done is kept."""
    log = project.listen()
    stopped = stopped_after(project, log, 60, number)
    assert stopped.code == code, stopped.stderr
    assert "what was finished is kept, run the same command to continue" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert stopped.stdout == ""
    temporary = Path(project.environ["TMPDIR"])
    assert working_below(temporary) == []
    assert list(temporary.iterdir()) == []
    assert project.git("status", "--porcelain") == ""
    assert len(project.git("worktree", "list").splitlines()) == 1
    before = log.fresh()
    done = project.evaluate("--case", "case 00*")
    assert done.code == 1
    first = [run for run in log.fresh() if run.endswith(" 1")]
    begun = [run for run in before if run.startswith("case 00")]
    assert len(begun) + len(first) <= 2 * 10 + 2 * PARALLEL


def test_a_run_to_the_end_leaves_nothing_behind(project: Project) -> None:
    """No folder, no process, no work tree, nothing in the repository."""
    done = project.evaluate("--case", "case 00*")
    assert done.code == 1
    temporary = Path(project.environ["TMPDIR"])
    assert list(temporary.iterdir()) == []
    assert working_below(temporary) == []
    assert project.git("status", "--porcelain") == ""
    assert len(project.git("worktree", "list").splitlines()) == 1
