"""Judging over a service that fails: the outcome is the undisturbed one, or says why not."""

import asyncio
import itertools
import re
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from aiohttp import ClientSession

from gradegate.judge.client import JudgeClient
from gradegate.judge.providers.gemini import GeminiProvider
from gradegate.judge.retry import RetryPolicy
from gradegate.model.question import Question, Votes
from gradegate.model.result import Usage
from gradegate.model.settings import JudgeSettings
from gradegate.ports import CallFailure, Reply
from gradegate.store.sqlite import SqliteStore
from tests.standins.gemini import Fault, GeminiStandin, always, prompt_of, share_of
from tests.standins.gemini.faults import IN_TRANSPORT, REFUSAL
from tests.standins.judging import Opinion, question
from tests.standins.virtual_time import in_virtual_time

QUESTIONS = 40
RETRY = RetryPolicy(per_call=2.0, per_verdict=60.0, first_retry=0.02, longest_retry=0.5)
WITHHELD: "itertools.cycle[dict[str, Any]]" = itertools.cycle(
    [
        {"candidates": []},
        {"candidates": [{"finishReason": "SAFETY"}]},
        {"candidates": [{"content": {"parts": [{"text": '{"rea'}]}, "finishReason": "STOP"}]},
    ]
)


def opinion(body: dict[str, Any]) -> str:
    """Yes to even numbers."""
    number = int(re.findall(r"<(\d+)>", prompt_of(body))[0])
    return '{"reasoning": "r", "verdict": "%s"}' % ("no" if number % 2 else "yes")


class Moody:
    """The same opinions, but the first answer to every third question is withheld."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> str | dict[str, Any]:
        """Answer, or withhold."""
        number = re.findall(r"<(\d+)>", prompt_of(body))[0]
        with self._lock:
            self.seen[number] += 1
            withheld = int(number) % 3 == 0 and self.seen[number] == 1
        return next(WITHHELD) if withheld else opinion(body)


class Counted:
    """The judge, and whether the service owes it an answer; one that hangs owes none."""

    def __init__(self, gemini: GeminiStandin) -> None:
        judge = GeminiProvider.from_environ(gemini.environ)
        assert isinstance(judge, GeminiProvider)
        self._judge, self._gemini = judge, gemini
        self._sent_before = len(gemini.requests)
        self._under_way = self._given_up = 0

    async def answer(self, question: Question[Any], sample: int) -> Reply | CallFailure:
        """Pass it on."""
        self._under_way += 1
        try:
            return await self._judge.answer(question, sample)
        except asyncio.CancelledError:
            self._given_up += 1
            raise
        finally:
            self._under_way -= 1

    async def close(self) -> None:
        """Close the judge."""
        await self._judge.close()

    def is_owed(self) -> bool:
        """Whether anything is under way that will be answered."""
        sent = self._gemini.requests[self._sent_before :]
        hung = sum(request.fault is Fault.HANG for request in sent)
        return self._under_way > hung - self._given_up


def judged(
    gemini: GeminiStandin,
    store: Path,
    *,
    questions: int = QUESTIONS,
    samples: int = 5,
    retry: RetryPolicy = RETRY,
) -> tuple[list[Votes[Opinion]], Usage]:
    """Ask all questions at once; the clock stands still while the service works."""
    judge = Counted(gemini)

    async def run() -> tuple[list[Votes[Opinion]], Usage]:
        with SqliteStore(store) as kept:
            async with JudgeClient(judge, kept, JudgeSettings(max_parallel=16), retry=retry) as ask:
                asked = (ask(question(f"<{n}>"), samples) for n in range(questions))
                async with asyncio.timeout(10 * retry.per_verdict):
                    return await asyncio.gather(*asked), ask.usage()

    return in_virtual_time(run(), judge.is_owed)


def test_a_third_of_calls_failing_changes_no_outcome(tmp_path: Path) -> None:
    """503, 429 with and without a wait, hangs, resets, cut bodies, withheld answers."""
    with GeminiStandin(opinion) as gemini:
        calm, _ = judged(gemini, tmp_path / "calm")
    with GeminiStandin(Moody(), faults=share_of(0.3, IN_TRANSPORT)) as gemini:
        stormy, usage = judged(gemini, tmp_path / "stormy")
        faults = Counter(request.fault for request in gemini.requests)
        sent = len(gemini.requests)
        again, none = judged(gemini, tmp_path / "stormy")
    assert [votes.failure for votes in stormy] == [None] * QUESTIONS
    assert [dict(votes.yes) for votes in stormy] == [dict(votes.yes) for votes in calm]
    assert set(faults) == {None, *IN_TRANSPORT}
    assert usage.judge_retries == sent - faults[None]
    assert usage.judge_calls == faults[None]
    assert [dict(votes.yes) for votes in again] == [dict(votes.yes) for votes in calm]
    assert (none.judge_calls, none.judge_retries) == (0, 0)


def test_every_call_refused_is_a_failure_with_the_service_s_message(tmp_path: Path) -> None:
    """No verdict is made up, and the service is not hammered."""
    with GeminiStandin(opinion, faults=always(Fault.REFUSED)) as gemini:
        votes, usage = judged(gemini, tmp_path / "store")
        assert all(REFUSAL in (each.failure or "") for each in votes)
        assert not any(each.answers or each.yes for each in votes)
        assert len(gemini.requests) <= 16
        assert usage.judge_calls == 0


def test_a_service_that_only_says_busy_ends_in_its_message(tmp_path: Path) -> None:
    """Within the time for one verdict, however many are asked."""
    retry = RetryPolicy(per_call=1.0, per_verdict=2.0, first_retry=1.0, longest_retry=1.0)
    with GeminiStandin(opinion, faults=always(Fault.BUSY)) as gemini:
        votes, _ = judged(gemini, tmp_path / "store", questions=300, samples=1, retry=retry)
    assert all("429 RESOURCE_EXHAUSTED" in (each.failure or "") for each in votes)


async def test_no_more_calls_are_under_way_than_allowed(tmp_path: Path) -> None:
    """Counted by the service, which answers nobody until as many have come as will come."""
    retry = RetryPolicy(per_call=600.0)
    with GeminiStandin(opinion) as gemini, SqliteStore(tmp_path / "store") as store:
        gemini.hold()
        judge = GeminiProvider.from_environ(gemini.environ)
        async with (
            asyncio.timeout(600),
            JudgeClient(judge, store, JudgeSettings(max_parallel=16), retry=retry) as ask,
        ):
            asked = [asyncio.create_task(ask(question(f"<{n}>"), 5)) for n in range(QUESTIONS)]
            while await most_at_once(gemini) < 16:
                pass
            for _ in range(20):  # a seventeenth call would have come by one of these
                assert await most_at_once(gemini) == 16
            gemini.release()
            votes = await asyncio.gather(*asked)
        assert gemini.most_at_once == 16
        assert ask.usage().judge_calls == len(gemini.requests) == 3 * QUESTIONS
        assert all(each.failure is None for each in votes)


async def most_at_once(gemini: GeminiStandin) -> int:
    """What the service says of its calls, asked from the same loop over a connection like them."""
    async with ClientSession() as session, session.get(f"{gemini.url}/requests") as answer:
        return int((await answer.json())["most_at_once"])
