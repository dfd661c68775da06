"""Shards as real processes side by side, with an agent that waits for a limit they share."""

import json
import os
import random
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
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

    By the service's own log: what else the machine does meanwhile counts for little then.
    """

    shards: float
    merge: float


class Service(socketserver.ThreadingTCPServer):
    """What the agents of all shards ask: it has a limit, takes its time, and keeps a log."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, seconds: dict[str, float], per_second: float) -> None:
        super().__init__(("127.0.0.1", 0), _Asked)
        self.seconds = seconds
        self.per_second = per_second
        self.log: list[tuple[float, float]] = []
        self._next = 0.0
        self._lock = threading.Lock()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    def wait(self) -> None:
        """Until one request more is allowed."""
        if not self.per_second:
            return
        with self._lock:
            self._next = max(self._next, time.monotonic()) + 1 / self.per_second
            mine = self._next
        time.sleep(max(mine - time.monotonic(), 0))


class _Asked(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        service = self.server
        assert isinstance(service, Service)
        case = self.rfile.readline().decode().strip()
        began = time.monotonic()
        service.wait()
        time.sleep(service.seconds[case])
        service.log.append((began, time.monotonic()))
        self.wfile.write(f"Yes, {case} it is.\n".encode())


class Repository:
    """A repository with so many cases, and a change that changes no answer."""

    def __init__(self, folder: Path, seconds: list[float], sessions: int, rate: float) -> None:
        self.root = folder / "repo"
        self.folder = folder
        self.names = [f"case-{number:06}" for number in range(len(seconds))]
        self.service = Service(dict(zip(self.names, seconds, strict=True)), rate)
        threading.Thread(target=self.service.serve_forever, daemon=True).start()
        # The agent runs as another user, where we are root.
        for place in (folder, folder.parent):
            place.mkdir(exist_ok=True)
            place.chmod(0o755)
        command = [sys.executable, str(HERE / "agent.py"), str(self.service.port)]
        self._put("gradegate.toml", SETTINGS.format(command=json.dumps(command), sessions=sessions))
        self._put("evals/a.evalset.json", json.dumps(self._eval_set()))
        config = {"criteria": {"response_match_score": 0.5}}
        self._put("evals/test_config.json", json.dumps(config))
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
        self.service.log.clear()
        jobs = [self._job(out, n, "--shard", f"{n}/{shards}") for n in range(1, shards + 1)]
        if any(job.wait() for job in jobs):
            raise SystemExit("a shard failed")
        runs = list(self.service.log)
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
    """Durations with a long tail: one in twenty takes three times as long and more."""
    draw = random.Random(seed)
    return [round(draw.lognormvariate(0, 0.9) * mean / 1.499, 3) for _ in range(number)]
