"""The four judged criteria on the same turns, through google-adk's own service and through ours.

    make test-parity                                  # once: google-adk in its own environment
    .venv/bin/python -m benchmarks.judging.against_adk

Both sides talk to a stand-in for the Gemini API in a process of its own, which takes 200 ms over
every call and serves both from the same marks: 97 % of samples agree with their question's usual
verdict, 5 % are unusable. google-adk runs with its defaults, as `adk eval` does; so do we, with
an empty store. Importing either is not counted. Exits 1 where a score differs, or where we are
not ten times as fast.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

from gradegate.model.settings import JudgeSettings
from tests.parity.judged.cases import Batch, batches
from tests.parity.judged.judge import MarkedJudge
from tests.parity.judged.marks import Marks
from tests.parity.judged.sides import Scored, asker, disagreement, google_adks, ours
from tests.standins.gemini.server import KEY

LATENCY = 0.2
SEED = 20
AIM = 10.0

answer = MarkedJudge(Marks(SEED))
"""What the stand-in says; each side has a stand-in, and so a count of samples, of its own."""


class Measured(NamedTuple):
    """One side's work."""

    results: list[Any]
    seconds: float
    calls: int
    most_at_once: int


@contextmanager
def judge() -> Iterator[str]:
    """The stand-in's address, while it runs."""
    answers = "benchmarks.judging.against_adk:answer"
    command = [sys.executable, "-m", "tests.standins.gemini", answers, "--latency", str(LATENCY)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.terminate()


def measured_theirs(work: list[Batch]) -> Measured:
    """google-adk's."""
    with judge() as url:
        found = [google_adks(batch, _environ(url)) for batch in work]
        results = [case for batch in found for case in batch["cases"]]
        return Measured(results, sum(batch["seconds"] for batch in found), *_counts(url))


def measured_ours(work: list[Batch]) -> Measured:
    """Ours."""
    with judge() as url:
        results, seconds = asyncio.run(_ours(work, url))
        return Measured(results, seconds, *_counts(url))


async def _ours(work: list[Batch], url: str) -> tuple[list[Scored], float]:
    with tempfile.TemporaryDirectory() as folder:
        async with asker(_environ(url), Path(folder) / "store") as ask:
            began = time.perf_counter()
            found = await asyncio.gather(*(ours(batch, ask) for batch in work))
            return [case for batch in found for case in batch], time.perf_counter() - began


def _environ(url: str) -> dict[str, str]:
    return {"GOOGLE_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url}


def _counts(url: str) -> tuple[int, int]:
    with urlopen(f"{url}/requests") as response:  # noqa: S310 - our own stand-in
        counts = json.load(response)
    return counts["requests"], counts["most_at_once"]


def differing(mine: Measured, theirs: Measured) -> list[str]:
    """Scores that are not the same."""
    pairs = zip(mine.results, theirs.results, strict=True)
    return [
        f"{name}: {found}"
        for one, other in pairs
        for name in one
        if (found := disagreement(one[name], other[name]))
    ]


def main() -> int:
    """Measure both, and print how they compare."""
    parser = argparse.ArgumentParser(description="google-adk's judged criteria against ours")
    parser.add_argument("--cases", type=int, default=40, help="of two to four turns each")
    work = batches(SEED, parser.parse_args().cases)
    mine, theirs = measured_ours(work), measured_theirs(work)
    print(f"{sum(len(batch.cases) for batch in work)} cases, {LATENCY * 1000:.0f} ms a call")
    for name, side in (("google-adk", theirs), ("gradegate", mine)):
        print(f"{name:>10}: {side.seconds:6.1f} s, {side.calls} calls, {side.most_at_once} at once")
    least = mine.calls * LATENCY / JudgeSettings().max_parallel
    ratio = theirs.seconds / mine.seconds
    print(f"{ratio:.1f} times as fast with {mine.calls / theirs.calls:.0%} of the calls")
    at_once = JudgeSettings().max_parallel
    print(f"{mine.seconds / least:.2f} times the least that {at_once} at once can do")
    found = differing(mine, theirs)
    print("\n".join(found) or "every score is the same")
    return int(bool(found) or ratio < AIM)


if __name__ == "__main__":
    sys.exit(main())
