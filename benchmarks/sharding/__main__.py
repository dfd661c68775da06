"""A hundred thousand cases over 1 to 256 shards, and a real run that the model is held against.

    make bench-sharding

Exits 1 where the model is off by more than a quarter.
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.sharding.measured import Repository, drawn
from benchmarks.sharding.simulated import Times, World, by_shards, cases, jobs_of, simulate
from gradegate import locales

CASES, MEAN = 100_000, 12.0
SHARDS = (1, 4, 16, 64, 128, 256)
WORLDS = {
    "no limit": World(start=75, judge_calls=6, judge_seconds=2),
    "10,000 a minute": World(
        start=75,
        agent_calls=4,
        agent_limit=10_000,
        judge_calls=6,
        judge_seconds=2,
        judge_limit=10_000,
    ),
    "2,000 a minute": World(
        start=75,
        agent_calls=4,
        agent_limit=2_000,
        judge_calls=6,
        judge_seconds=2,
        judge_limit=2_000,
    ),
    "20 jobs at once": World(start=75, judge_calls=6, judge_seconds=2, jobs_at_once=20),
}
"""A minute and a quarter until a job's first run; four model requests a run, six votes a case."""
SUSPECTS, RUNS_OF_A_SUSPECT = CASES // 500, 5
"""Cases that fail on head at first sight, and the runs a side that settle one on average."""
MEASURED_CASES, MEASURED_MEAN, SESSIONS = 64, 6.0, 4
RATES = (0.0, 1.0)
MEASURED_SHARDS = (1, 3)
LARGE = 400
OFF = 0.25


def check() -> bool:
    """Measure what the model says, and print both."""
    right = True
    seconds = drawn(MEASURED_CASES, MEASURED_MEAN)
    print(f"\n{MEASURED_CASES} cases, {SESSIONS} sessions a side and shard, as real processes:\n")
    print("| limit | shards | measured | simulated |\n| --- | --- | --- | --- |")
    for rate in RATES:
        with tempfile.TemporaryDirectory() as folder:
            real = Repository(Path(folder, "real"), seconds, SESSIONS, rate)
            real.store(seconds)
            for shards in MEASURED_SHARDS:
                world = World(0, SESSIONS, agent_calls=1.0, agent_limit=rate * 60)
                told = simulate(jobs_of(cases(seconds), shards), world).last
                found = real.run(shards).shards
                right &= abs(told - found) <= OFF * found
                limit = f"{rate:g} runs a second" if rate else "none"
                print(f"| {limit} | {shards} | {found:.1f} s | {told:.1f} s |", flush=True)
    return right


def merging() -> float:
    """Seconds of CPU that a merge takes for each case, without a run of its own."""
    with tempfile.TemporaryDirectory() as folder:
        few = Repository(Path(folder, "few"), [0.0] * 10, 64, 0).run(2).merge
        many = Repository(Path(folder, "many"), [0.0] * LARGE, 64, 0).run(2).merge
    return (many - few) / LARGE


def table(per_case: float) -> None:
    """Print the simulation."""
    seconds = cases(drawn(CASES, MEAN))
    print(
        f"\n{CASES:,} cases of {MEAN:g} s on both sides, {per_case * 1000:.1f} ms each to merge:\n"
    )
    print("| shards | " + " | ".join(WORLDS) + " | job hours |")
    print("| --- |" + " --- |" * (len(WORLDS) + 1))
    suspects = cases(drawn(SUSPECTS * RUNS_OF_A_SUSPECT, MEAN, seed=8))
    found: dict[str, dict[int, Times]] = {}
    for name, world in WORLDS.items():
        confirming = simulate(jobs_of(suspects, 1), replace(world, jobs_at_once=1)).last
        merge = confirming + per_case * CASES
        found[name] = {
            shards: Times(times.last + merge, times.busy + merge)
            for shards, times in by_shards(seconds, world, SHARDS).items()
        }
    for shards in SHARDS:
        walls = " | ".join(locales.duration(found[name][shards].last) for name in WORLDS)
        hours = found["no limit"][shards].busy / 3600
        print(f"| {shards} | {walls} | {hours:.1f} |", flush=True)


def main() -> int:
    """Both tables."""
    table(merging())
    return int(not check())


if __name__ == "__main__":
    sys.exit(main())
