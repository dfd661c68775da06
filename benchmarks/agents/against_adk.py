"""The whole job on a real agent: `adk eval`, and `gradegate run` on one side and on both.

    make bench-agents

20 cases of three turns; every turn calls a tool, and is scored by four criteria, two of them
judged. The model is a stand-in in a process of its own that takes 200 ms over every call. Both
have google-adk installed beforehand, and nothing else: no verdict is kept from before. Memory is
that of all processes of a side together, looked at every 50 ms. Exits 1 where one side of ours
takes more than a fifth of google-adk's time, or where anything did not pass.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

from tests.standins.gemini.server import KEY

LATENCY = 0.2
CASES = 20
AIM = 5.0
TOP = Path(__file__).parents[2]
ADK = TOP / ".parity-venv" / "bin"
PAGE = os.sysconf("SC_PAGE_SIZE")
CITIES = ("Paris", "Oslo", "Tokyo")
SAID = {"Paris": "light rain, 14", "Oslo": "snow, -3", "Tokyo": "clear, 22"}
CONFIG = {
    "criteria": {
        "tool_trajectory_avg_score": 1.0,
        "response_match_score": 0.8,
        "final_response_match_v2": {"threshold": 0.8, "judge_model_options": {"num_samples": 5}},
        "hallucinations_v1": {"threshold": 0.8},
    }
}


class Measured(NamedTuple):
    """One way of doing it."""

    name: str
    seconds: float
    calls: int
    most_at_once: int
    megabytes: int
    passed: bool


def turn(city: str, who: int) -> dict[str, Any]:
    """A question about the weather, with the answer and the call it should lead to.

    No two travellers ask the same: we would have a question like another's judged only once.
    """
    asked = f"I am traveller {who}. What is the weather in {city}?"
    return {
        "user_content": {"role": "user", "parts": [{"text": asked}]},
        "final_response": {"role": "model", "parts": [{"text": f"{city}: {SAID[city]} degrees."}]},
        "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": city}}]},
    }


def write_repo(folder: Path) -> Path:
    """A repository with the example's agent and an eval set of the bench's own."""
    repo = folder / "repo"
    agent = repo / "travel_desk"
    hidden = shutil.ignore_patterns("__pycache__", "evals", "*.evalset.json")
    shutil.copytree(TOP / "examples" / "travel_desk", agent, ignore=hidden)
    cases = [
        {"eval_id": f"case_{n}", "conversation": [turn(city, n) for city in CITIES]}
        for n in range(CASES)
    ]
    eval_set = {"eval_set_id": "bench", "eval_cases": cases}
    (agent / "bench.evalset.json").write_text(json.dumps(eval_set))
    (agent / "test_config.json").write_text(json.dumps(CONFIG))
    for command in ("init -q -b main", "add .", "commit -q -m base"):
        identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
        subprocess.run(["git", *identity, *command.split()], cwd=repo, check=True)
    with (agent / "agent.py").open("a") as file:
        file.write("# A pull request that changes nothing.\n")
    return repo


@contextmanager
def model() -> Iterator[str]:
    """The stand-in's address, while it runs."""
    answers = "benchmarks.agents.model:answer"
    command = [sys.executable, "-m", "tests.standins.gemini", answers, "--latency", str(LATENCY)]
    with subprocess.Popen(command, cwd=TOP, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.terminate()


def measured(name: str, command: Sequence[str | Path], cache: Path, passes: str = "") -> Measured:
    """Run it against a model of its own; `passes` is what it says when all went well."""
    with model() as url, tempfile.TemporaryFile() as log:
        environ = {
            **os.environ,
            "GOOGLE_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": url,
            "XDG_CACHE_HOME": str(cache),
        }
        began = time.perf_counter()
        process = subprocess.Popen(
            command, env=environ, cwd=cache, stdout=log, stderr=subprocess.STDOUT
        )
        most = 0
        while process.poll() is None:
            most = max(most, memory_of(process.pid))
            time.sleep(0.05)
        seconds = time.perf_counter() - began
        with urlopen(f"{url}/requests") as response:  # noqa: S310 - our own stand-in
            counts = json.load(response)
        log.seek(0)
        said = log.read().decode(errors="replace")
        passed = process.returncode == 0 and passes in said
        if not passed:
            print(said[-2000:], file=sys.stderr)
        return Measured(
            name, seconds, counts["requests"], counts["most_at_once"], most >> 20, passed
        )


def memory_of(top: int) -> int:
    """Bytes that a process and all that came of it hold; shared pages count in each."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    family = {top}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(_resident(pid) for pid in family)


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (FileNotFoundError, ProcessLookupError):
        return 0


def main() -> int:
    """Measure all three, and print how they compare."""
    with tempfile.TemporaryDirectory(prefix="gradegate-bench-") as folder:
        Path(folder).chmod(0o755)
        repo = write_repo(Path(folder))
        agent = repo / "travel_desk"
        cache = Path(folder, "cache")
        cache.mkdir()
        adk: list[str | Path] = [ADK / "adk", "eval", agent, agent / "bench.evalset.json"]
        adk += ["--config_file_path", agent / "test_config.json"]
        theirs = measured("adk eval", adk, cache, f"Tests passed: {CASES}")
        run: list[str | Path]
        run = [Path(sys.executable).parent / "gradegate", "run", "--repo", repo, "--store"]
        measured("installing", [*run, cache / "0", "--base", "none", "--case", "case_0"], cache)
        one = measured("gradegate run, one side", [*run, cache / "1", "--base", "none"], cache)
        both = measured("gradegate run, both sides", [*run, cache / "2", "--base", "main"], cache)
    print(f"{CASES} cases of {len(CITIES)} turns, {LATENCY * 1000:.0f} ms a call")
    for side in (theirs, one, both):
        print(
            f"{side.name:>26}: {side.seconds:5.1f} s, {theirs.seconds / side.seconds:4.1f} times "
            f"as fast, {side.calls} calls, {side.most_at_once} at once, {side.megabytes} MB",
            "" if side.passed else "FAILED",
        )
    fine = all(side.passed for side in (theirs, one, both))
    return int(not fine or theirs.seconds / one.seconds < AIM)


if __name__ == "__main__":
    sys.exit(main())
