"""Shards as real processes side by side, with an agent that waits for a limit they share."""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
PROGRAM = Path(sys.executable).parent / "gradegate"
SETTINGS = """
[[suite]]
name = "bench"
command = {command}
evals = ["evals/*.evalset.json"]
max_parallel = {sessions}
"""


class Measured(NamedTuple):
    """What the shards' agents took from their first run to their last, and the merge its CPU.

    By the agents' own log: what else the machine does meanwhile counts for little then.
    """

    shards: float
    merge: float


class Repository:
    """A repository with so many cases, and a change that changes no answer."""

    def __init__(self, folder: Path, seconds: list[float], sessions: int, rate: float) -> None:
        self.root = folder / "repo"
        self.folder = folder
        self.names = [f"case-{number:06}" for number in range(len(seconds))]
        # The agent runs as another user, where we are root.
        for place in (folder, folder.parent):
            place.mkdir(exist_ok=True)
            place.chmod(0o755)
        limit = folder / "limit"
        limit.touch()
        limit.chmod(0o666)
        self.log = folder / "log"
        self.log.touch()
        self.log.chmod(0o666)
        files = (str(limit), str(rate), str(self.log))
        command = [sys.executable, str(HERE / "agent.py"), "table.json", *files]
        self._put("gradegate.toml", SETTINGS.format(command=json.dumps(command), sessions=sessions))
        self._put("evals/a.evalset.json", json.dumps(self._eval_set()))
        config = {"criteria": {"response_match_score": 0.5}}
        self._put("evals/test_config.json", json.dumps(config))
        self._put("table.json", json.dumps(dict(zip(self.names, seconds, strict=True))))
        self._git("init", "-q", "-b", "main")
        self._commit()
        self._git("switch", "-qc", "change")
        self._put("notes.txt", "a change")
        self._commit()

    def store(self, seconds: list[float]) -> None:
        """Have the cases timed: what is measured is the cut by durations."""
        from gradegate.model.evalset import CaseKey
        from gradegate.model.runs import Trace
        from gradegate.pipeline import durations
        from gradegate.store.sqlite import SqliteStore

        with SqliteStore(self.folder / "timed.sqlite") as store:
            for name, one in zip(self.names, seconds, strict=True):
                key = CaseKey("bench", "evals/a.evalset.json", name)
                durations.keep(store, "earlier", Trace(**key._asdict(), seconds=one))

    def run(self, shards: int) -> Measured:
        """Every shard at the same time, each with a store of its own; then the merge."""
        out = Path(tempfile.mkdtemp(dir=self.folder))
        self.log.write_text("")
        jobs = [self._job(out, n, "--shard", f"{n}/{shards}") for n in range(1, shards + 1)]
        if any(job.wait() for job in jobs):
            raise SystemExit("a shard failed")
        runs = [tuple(map(float, line.split()[1:])) for line in self.log.read_text().splitlines()]
        merge = self._job(out, 0, "--shards", str(out))
        _, status, used = os.wait4(merge.pid, 0)
        if os.waitstatus_to_exitcode(status):
            raise SystemExit("the merge did not pass")
        took = max(end for _, end in runs) - min(begin for begin, _ in runs)
        return Measured(took, used.ru_utime + used.ru_stime)

    def _job(self, out: Path, number: int, *words: str) -> "subprocess.Popen[bytes]":
        store = out / f"{number}.sqlite"
        timed = self.folder / "timed.sqlite"
        if timed.exists():
            store.write_bytes(timed.read_bytes())
        return subprocess.Popen(
            [PROGRAM, "run", *words, "--out", str(out / str(number)), "--store", str(store)],
            cwd=self.root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _eval_set(self) -> dict[str, Any]:
        cases = [
            {
                "eval_id": name,
                "conversation": [
                    {
                        "user_content": {"parts": [{"text": "Is it?"}]},
                        "final_response": {"parts": [{"text": f"Yes, {name} it is."}]},
                    }
                ],
            }
            for name in self.names
        ]
        return {"eval_set_id": "a", "eval_cases": cases}

    def _put(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _commit(self) -> None:
        self._git("add", "-A")
        who = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")
        self._git(*who, "commit", "-qm", "change")

    def _git(self, *words: str) -> None:
        environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
        subprocess.run(["git", *words], cwd=self.root, env=environ, check=True)


def drawn(number: int, mean: float, seed: int = 7) -> list[float]:
    """Durations with a long tail: one in twenty takes four times as long and more."""
    draw = random.Random(seed)
    return [round(draw.lognormvariate(0, 0.9) * mean / 1.499, 3) for _ in range(number)]
