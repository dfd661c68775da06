"""How close asking comes to the least time that so many calls can take.

    make bench-judging

Asks a stand-in for the Gemini API, in a process of its own, that takes 200 ms over every call:
votes of five, 97 % of samples of one mind, an empty store in a file, the default limit of calls
at once. The least possible is the time of all calls divided by how many may be made at once.
Importing google-genai is not counted; opening its client is. Exits 1 where it takes more than
1.25 times the least, or where a second run makes any call.
"""

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import google.genai  # noqa: F401 - so that importing it is not part of what is measured

from gradegate.judge.client import JudgeClient
from gradegate.judge.providers.gemini import GeminiProvider
from gradegate.model.result import Usage
from gradegate.model.settings import JudgeSettings
from gradegate.store.sqlite import SqliteStore
from tests.standins.gemini import prompt_of
from tests.standins.gemini.server import KEY
from tests.standins.judging import question

LATENCY = 0.2
SAMPLES = 5
AGREEING = 0.97
AIM = 1.25
PADDING = "The agent looked it up and said so. " * 100

_asked: Counter[str] = Counter()
_lock = threading.Lock()


class Measured(NamedTuple):
    """One run over all questions."""

    seconds: float
    usage: Usage


def answer(body: dict[str, Any]) -> str:
    """A verdict by the question's number, which one sample in thirty disagrees with."""
    number = re.findall(r"<(\d+)>", prompt_of(body))[0]
    with _lock:
        _asked[number] += 1
        agrees = random.Random(f"{number}/{_asked[number]}").random() < AGREEING
    verdict = "yes" if (int(number) % 3 > 0) == agrees else "no"
    return json.dumps({"reasoning": "It says so in the second sentence.", "verdict": verdict})


@contextmanager
def service() -> Iterator[dict[str, str]]:
    """The stand-in, and the environment that points at it."""
    answers = "benchmarks.judging.bound:answer"
    command = [sys.executable, "-m", "tests.standins.gemini", answers, "--latency", str(LATENCY)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield {"GOOGLE_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": process.stdout.readline().strip()}
        process.terminate()


async def run(
    environ: dict[str, str], store: Path, questions: int, limits: JudgeSettings
) -> Measured:
    """Ask everything at once."""
    began = time.perf_counter()
    with SqliteStore(store) as kept:
        async with JudgeClient(GeminiProvider.from_environ(environ), kept, limits) as ask:
            texts = (f"<{number}> {PADDING}" for number in range(questions))
            votes = await asyncio.gather(*(ask(question(text), SAMPLES) for text in texts))
            usage = ask.usage()
    failures = [each.failure for each in votes if each.failure]
    assert not failures, failures[0]
    return Measured(time.perf_counter() - began, usage)


def main() -> int:
    """Measure a cold and a warm run, and print them beside the least possible."""
    parser = argparse.ArgumentParser(description="asking against the least time it can take")
    parser.add_argument("--questions", type=int, default=240)
    parser.add_argument("--parallel", type=int, default=JudgeSettings().max_parallel)
    given = parser.parse_args()
    limits = JudgeSettings(max_parallel=given.parallel)
    with service() as environ, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "store"
        cold = asyncio.run(run(environ, file, given.questions, limits))
        warm = asyncio.run(run(environ, file, given.questions, limits))
    calls, saved = cold.usage.judge_calls, cold.usage.judge_calls_saved_by_voting
    least = calls * LATENCY / limits.max_parallel
    print(f"{given.questions} votes of {SAMPLES}: {calls} calls, {saved} saved by voting")
    print(
        f"cold: {cold.seconds:.2f} s, {cold.seconds / least:.2f} times the least of {least:.2f} s"
    )
    print(f"warm: {warm.seconds:.2f} s, {warm.usage.judge_calls} calls")
    return int(cold.seconds > AIM * least or warm.usage.judge_calls > 0)


if __name__ == "__main__":
    sys.exit(main())
