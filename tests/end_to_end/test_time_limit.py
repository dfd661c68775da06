"""A run that takes too long ends with a report all the same."""

import time
from pathlib import Path

from tests.project import SETTINGS, case, expected, scripted, turn

LIMIT = "[gate]\ntime_limit = 0.05\n"
CASES = [case(f"case-{n}", turn(f"Question {n}?", f"Answer {n}.")) for n in range(4)]


def test_no_agent_is_run_past_the_time_limit(tmp_path: Path) -> None:
    """What is missing then is inconclusive, and the message says what to raise."""
    project = scripted(tmp_path / "repo", CASES, SETTINGS + LIMIT)
    project.git("switch", "-qc", "change")
    project.answers({one["eval_id"]: expected(one) for one in CASES}, delay=3600)
    began = time.monotonic()
    done = project.gradegate("run")
    assert done.returncode == 3, done.stdout + done.stderr
    assert time.monotonic() - began < 900
    assert "time_limit" in done.stdout


def test_a_run_that_is_quick_enough_notices_nothing(tmp_path: Path) -> None:
    """The limit is a lid, not a pace."""
    project = scripted(tmp_path / "repo", CASES, SETTINGS + LIMIT.replace("0.05", "5"))
    project.git("switch", "-qc", "change")
    project.put("notes.txt", "nothing to see")
    done = project.gradegate("run")
    assert done.returncode == 0, done.stdout + done.stderr
