"""Ten thousand cases and seven criteria, compared and decided: how long, and how much memory.

    make bench-scale

Two results files are made up, one flip in a thousand, and `gradegate compare` is run on them as a
user would. Exits 1 where it takes ten seconds or more, or 500 MB.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CASES, CRITERIA = 10_000, 7
MOST_SECONDS, MOST_MB = 10.0, 500


def side(name: str, draw: random.Random) -> dict[str, Any]:
    """One side's results; on head one case in a thousand fails a criterion it passes on base."""
    return {
        "schema": "gradegate/results/v1",
        "commit": name,
        "fingerprint": name,
        "cases": [case(number, name, draw) for number in range(CASES)],
    }


def case(number: int, name: str, draw: random.Random) -> dict[str, Any]:
    """One run of one case."""
    scores = [round(draw.uniform(0.7, 1.0), 3) for _ in range(CRITERIA)]
    if name == "head" and number % 1000 == 0:
        scores[0] = 0.1
    criteria = {f"criterion_{n}": scored(score) for n, score in enumerate(scores)}
    failed = any(one["status"] == "failed" for one in criteria.values())
    return {
        "suite": "bench",
        "eval_set": f"set_{number // 100}.evalset.json",
        "eval_id": f"case_{number}",
        "line": number % 100 + 1,
        "status": "failed" if failed else "passed",
        "criteria": criteria,
    }


def scored(score: float) -> dict[str, Any]:
    """A criterion's score, of one turn."""
    status = "passed" if score >= 0.5 else "failed"
    turn = {"score": score, "status": status}
    return {"score": score, "threshold": 0.5, "status": status, "invocations": [turn]}


def main() -> int:
    """Measure once, and print it."""
    draw = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{name}.json") for name in ("base", "head")]
        for file in files:
            file.write_text(json.dumps(side(file.stem, draw)))
        program = Path(sys.executable).parent / "gradegate"
        out = Path(folder, "report.json")
        began = time.perf_counter()
        process = subprocess.Popen([program, "compare", *files, "--out", out])
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        report = json.loads(out.read_text())
    megabytes = usage.ru_maxrss >> 10
    blocked = len(report["decision"]["reasons"])
    print(
        f"{CASES:,} cases, {CRITERIA} criteria, files read and written: {seconds:.1f} s, "
        f"{megabytes} MB, {blocked} of {CASES // 1000} flips blocked"
    )
    right = os.waitstatus_to_exitcode(status) == 1 and blocked == CASES // 1000
    return int(not right or seconds >= MOST_SECONDS or megabytes >= MOST_MB)


if __name__ == "__main__":
    sys.exit(main())
