"""What it costs to start: CPU time of small commands, in units that hold on any machine.

    make bench-start
    .venv/bin/python -m benchmarks.start OTHER/.venv/bin/gradegate

The unit is what `python -c "import pydantic, numpy"` takes, measured in between. CPU time is that
of a process and all it starts; every figure is the median of several rounds, each of which runs all
commands once. Given the program of another checkout, it is measured beside ours.

Exits 1 where a target is missed.
"""

import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from subprocess import DEVNULL, Popen
from typing import Any, NamedTuple

ROUNDS = 9
HERE = Path(sys.executable).parent
UNIT = (str(HERE / "python"), "-c", "import pydantic, numpy")
TRACES = "--evals basic.evalset.json --traces traces.json --store store.sqlite --config"


class Start(NamedTuple):
    """A command, and how many units it may take."""

    name: str
    arguments: str
    target: float | None = None
    code: int = 0


STARTS = (
    Start("gradegate --help", "--help"),
    Start("score by tool_trajectory_avg_score", f"score {TRACES} tool_trajectory_avg_score.json"),
    Start("score by response_match_score", f"score {TRACES} response_match_score.json", 4.0),
    Start("demo", "demo", 6.8),
)


def prepare(folder: Path) -> None:
    """One recorded case, and a config for each criterion."""
    turn = {
        "user_content": {"parts": [{"text": "When does it leave?"}]},
        "final_response": {"parts": [{"text": "The flight leaves at nine."}]},
        "intermediate_data": {"tool_uses": [{"name": "get_flight", "args": {"to": "Paris"}}]},
    }
    trace = {"eval_set": "basic", "eval_id": "one", "invocations": [turn]}
    files: dict[str, Mapping[str, Any]] = {
        "basic.evalset": {
            "eval_set_id": "basic",
            "eval_cases": [{"eval_id": "one", "conversation": [turn]}],
        },
        "traces": {"schema": "gradegate/traces/v1", "cases": [trace]},
    }
    for criterion in ("response_match_score", "tool_trajectory_avg_score"):
        files[criterion] = {"criteria": {criterion: 1.0}}
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))


def cpu_time(command: Sequence[str], folder: Path, code: int = 0) -> float:
    """Seconds of CPU that a command takes, with all it starts."""
    # What Python compiles is kept, as it is in every installation; and the demo's agents run by a
    # Python itself: a version manager's script around one takes longer than they do.
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environ |= {"TMPDIR": str(folder), "PATH": f"{HERE}:{environ['PATH']}"}
    process = Popen(command, cwd=folder, env=environ, stdout=DEVNULL, stderr=DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != code:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def measured(programs: Sequence[str], folder: Path) -> tuple[float, dict[tuple[str, str], float]]:
    """The unit, and the times by program and start; the first round compiles and is left out."""
    units: list[float] = []
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(1 + ROUNDS):
        units.append(cpu_time(UNIT, folder))
        for start in STARTS:
            for program in programs:
                took = cpu_time([program, *start.arguments.split()], folder, start.code)
                found.setdefault((program, start.name), []).append(took)
    return median(units[1:]), {key: median(times[1:]) for key, times in found.items()}


def main() -> int:
    """Measure, and print the table."""
    ours, others = str(HERE / "gradegate"), sys.argv[1:2]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o711)  # as /tmp is: agents have to get through
        prepare(folder)
        unit, found = measured([ours, *others], folder)
    columns = ["", "CPU seconds", "units", "at most", *("before: units" for _ in others)]
    print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    print(f"| `python -c 'import pydantic, numpy'` | {unit:.2f} | 1 | |{' |' * len(others)}")
    missed = False
    for start in STARTS:
        seconds = found[ours, start.name]
        units = seconds / unit
        missed |= start.target is not None and units > start.target
        cells = [f"{seconds:.2f}", f"{units:.1f}", f"{start.target:g}" if start.target else ""]
        cells += [f"{found[other, start.name] / unit:.1f}" for other in others]
        print(f"| {start.name} | {' | '.join(cells)} |")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
