"""Processes that share one store, killed and started again."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.standins.gemini import GeminiStandin
from tests.standins.judging_worker import MAX_PARALLEL

ROOT = Path(__file__).parents[2]
QUESTIONS = 120
NEEDED = 3 * QUESTIONS
FORWARD = ("0", str(QUESTIONS), "1")
BACKWARD = (str(QUESTIONS - 1), "-1", "-1")


def start(gemini: GeminiStandin, store: Path, numbers: tuple[str, ...]) -> "subprocess.Popen[str]":
    """A process that asks about these numbers."""
    command = [sys.executable, "-m", "tests.standins.judging_worker", gemini.url, str(store)]
    return subprocess.Popen(
        [*command, *numbers], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finished(process: "subprocess.Popen[str]") -> dict[str, Any]:
    """What it cost, once it is done."""
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    usage: dict[str, Any] = json.loads(out)
    return usage


def wait_for(gemini: GeminiStandin, requests: int) -> None:
    """Until the service has got so many requests."""
    deadline = time.monotonic() + 600
    while len(gemini.requests) < requests:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("kill", [60, 200])
def test_a_killed_process_leaves_a_whole_store_and_nothing_is_asked_twice(
    tmp_path: Path, kill: int
) -> None:
    """Beyond what was under way when it died, and when two met at the same question."""
    store = tmp_path / "store.sqlite"
    with GeminiStandin(lambda _: '{"reasoning": "r", "verdict": "yes"}') as gemini:
        gemini.hold(after=kill)
        first, second = start(gemini, store, FORWARD), start(gemini, store, BACKWARD)
        wait_for(gemini, kill + 1)  # neither process can come to its end before it is let
        os.kill(first.pid, signal.SIGKILL)
        first.communicate()
        assert first.returncode == -signal.SIGKILL
        gemini.release()
        again = finished(start(gemini, store, FORWARD))
        usages = [again, finished(second)]
        sent = len(gemini.requests)
        assert NEEDED <= sent <= NEEDED + 3 * MAX_PARALLEL
        assert all(u["judge_calls"] + u["judge_cache_hits"] == NEEDED for u in usages)
        rerun = finished(start(gemini, store, FORWARD))
        assert (rerun["judge_calls"], rerun["judge_cache_hits"]) == (0, NEEDED)
        assert len(gemini.requests) == sent
    with sqlite3.connect(store) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT count(*) FROM unit").fetchone() == (NEEDED,)
    db.close()
