"""A process that asks numbered questions over a shared store, and prints what it cost."""

import asyncio
import sys
from pathlib import Path

from gradegate.judge.client import JudgeClient
from gradegate.judge.providers.gemini import GeminiProvider
from gradegate.model.settings import JudgeSettings
from gradegate.store.sqlite import SqliteStore
from tests.standins.gemini.server import KEY
from tests.standins.judging import question

MAX_PARALLEL = 8
SAMPLES = 5


async def main(url: str, store_file: str, numbers: range) -> None:
    """Ask about each number, in this order."""
    judge = GeminiProvider.from_environ({"GOOGLE_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url})
    limits = JudgeSettings(max_parallel=MAX_PARALLEL)
    with SqliteStore(Path(store_file)) as store:
        async with JudgeClient(judge, store, limits) as ask:
            votes = await asyncio.gather(*(ask(question(f"<{n}>"), SAMPLES) for n in numbers))
            failures = [each.failure for each in votes if each.failure]
            assert not failures, failures[0]
            print(ask.usage().model_dump_json())


if __name__ == "__main__":
    url, store_file, start, stop, step = sys.argv[1:]
    asyncio.run(main(url, store_file, range(int(start), int(stop), int(step))))
