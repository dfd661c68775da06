"""Asking a judge that refuses, stalls or is down: nothing given up too early, nothing for ever."""

import asyncio
from typing import Any

from gradegate.judge.client import JudgeClient
from gradegate.judge.retry import RetryPolicy
from gradegate.model.question import Question
from gradegate.model.settings import JudgeSettings
from gradegate.ports import CallFailure, Reply
from tests.standins.asking import BAD_KEY, BAD_QUESTION, BUSY, RESET, asking
from tests.standins.judging import (
    Scripted,
    question,
    says,
)
from tests.standins.virtual_time import now


def test_a_refused_key_is_not_tried_again() -> None:
    """The first refusal ends it for that model, and every question tells the reason."""
    judge = Scripted(lambda *_: BAD_KEY, latency=0.1)

    async def main(ask: JudgeClient) -> None:
        votes = await asyncio.gather(*(ask(question(str(n)), 5) for n in range(50)))
        assert {it.failure for it in votes} == {"API key not valid"}

    asking(judge, main, limits=JudgeSettings(max_parallel=4))
    assert len(judge.asked) <= 4


def test_a_model_that_refuses_everything_is_soon_left_alone() -> None:
    """The same refusal to five questions in a row, and no answer ever: it is not hammered."""
    judge = Scripted(lambda *_: BAD_QUESTION, latency=0.1)

    async def main(ask: JudgeClient) -> None:
        votes = [await ask(question(str(n)), 1) for n in range(50)]
        assert {it.failure for it in votes} == {"400 INVALID_ARGUMENT"}

    asking(judge, main)
    assert len(judge.asked) == 5


def test_a_model_that_answers_is_not_given_up_for_questions_it_refuses() -> None:
    """A refusal that lies in the question concerns that question."""

    def script(asked: Question[Any], *_: int) -> Reply | CallFailure:
        return says("yes") if asked.data["text"] == "fine" else BAD_QUESTION

    async def main(ask: JudgeClient) -> None:
        await ask(question("fine"), 1)
        for n in range(20):
            assert (await ask(question(str(n)), 1)).failure == "400 INVALID_ARGUMENT"
        assert (await ask(question("fine"), 5)).failure is None

    asking(Scripted(script), main)


def test_one_model_that_is_gone_does_not_stop_another() -> None:
    """What is remembered is remembered by model."""

    def script(asked: Question[Any], *_: int) -> Reply | CallFailure:
        return BAD_KEY if asked.model == "gemini-1.5-flash" else says("yes")

    async def main(ask: JudgeClient) -> None:
        assert (await ask(question(model="gemini-1.5-flash"), 5)).failure is not None
        assert (await ask(question(), 5)).failure is None

    asking(Scripted(script), main)


def test_trouble_that_does_not_pass_ends_within_the_time_for_a_verdict() -> None:
    """Nothing is asked for ever, and the reason names the trouble."""
    judge = Scripted(lambda *_: RESET)

    async def main(ask: JudgeClient) -> None:
        votes = await ask(question(), 5)
        assert "the connection broke" in (votes.failure or "")
        assert 300 < now() <= 600

    asking(judge, main)
    assert 15 < len(judge.asked) < 150


def test_a_service_that_is_down_holds_up_a_thousand_questions_no_longer_than_one() -> None:
    """After ten minutes without any answer the rest are not asked."""

    async def hang(*_: object) -> Reply:
        await asyncio.sleep(100_000)
        return says("yes")

    async def main(ask: JudgeClient) -> None:
        votes = await asyncio.gather(*(ask(question(str(n)), 5) for n in range(1000)))
        assert all(it.failure and "did not answer within" in it.failure for it in votes)
        assert now() < 1500

    asking(Scripted(hang), main)


def test_a_hanging_call_is_cut_off_and_made_again() -> None:
    """The second attempt answers."""

    async def script(_: Question[Any], __: int, time: int) -> Reply:
        await asyncio.sleep(100_000 if time == 1 else 1)
        return says("yes")

    async def main(ask: JudgeClient) -> None:
        assert (await ask(question(), 5)).failure is None
        assert 120 < now() < 125

    asking(Scripted(script), main)


def test_a_call_that_the_end_of_a_verdict_cuts_off_does_not_hide_the_trouble() -> None:
    """Refused until then, and its last call is still under way: the refusal is the reason."""

    async def script(*_: object) -> Reply | CallFailure:
        if now() > 580:
            await asyncio.sleep(100)
        return BUSY

    async def main(ask: JudgeClient) -> None:
        failure = (await ask(question(), 1)).failure or ""
        assert failure.startswith("429 RESOURCE_EXHAUSTED (")
        assert now() == 600

    # Short waits, so that its last call begins in the last 20 seconds.
    asking(Scripted(script), main, retry=RetryPolicy(longest_retry=10))


def test_the_service_is_asked_again_after_it_was_down() -> None:
    """Questions that come later find it well."""

    def script(*_: object) -> Reply | CallFailure:
        return RESET if now() < 700 else says("yes")

    async def main(ask: JudgeClient) -> None:
        assert (await ask(question("early"), 5)).failure is not None
        await asyncio.sleep(800)
        assert (await ask(question("late"), 5)).failure is None

    asking(Scripted(script), main)


def test_a_wait_the_service_asks_for_is_kept_by_all() -> None:
    """One is told to wait a minute: none calls before it is over, then all are answered."""

    def script(asked: Question[Any], _: int, time: int) -> Reply | CallFailure:
        told = asked.data["text"] == "0" and time == 1
        return BUSY._replace(retry_after=60.0) if told else says("yes")

    judge = Scripted(script, latency=0.1)

    async def main(ask: JudgeClient) -> None:
        votes = await asyncio.gather(*(ask(question(str(n)), 1) for n in range(20)))
        assert all(it.failure is None for it in votes)

    asking(judge, main, limits=JudgeSettings(max_parallel=2))
    assert not [at for at in judge.at if 0.11 < at < 60]


def test_a_wait_beyond_all_patience_is_a_failure_at_once() -> None:
    """An hour's wait is told, not sat out, also by those who queue."""
    judge = Scripted(lambda *_: BUSY._replace(retry_after=3600.0), latency=0.1)

    async def main(ask: JudgeClient) -> None:
        votes = await asyncio.gather(*(ask(question(str(n)), 5) for n in range(100)))
        assert all("come back in 3600 s" in (it.failure or "") for it in votes)
        assert now() < 5

    asking(judge, main)
    assert len(judge.asked) <= 32


def test_queueing_for_our_own_limits_is_not_held_against_a_verdict() -> None:
    """At six calls a minute the last of 200 verdicts waits half an hour, and is given."""

    def script(_: Question[Any], __: int, time: int) -> Reply | CallFailure:
        return RESET if time == 1 else says("yes")

    async def main(ask: JudgeClient) -> None:
        votes = await asyncio.gather(*(ask(question(str(n)), 1) for n in range(200)))
        assert all(it.failure is None for it in votes)
        assert now() > 1800

    asking(Scripted(script), main, limits=JudgeSettings(requests_per_minute=6))


def test_retries_wait_longer_each_time_and_not_all_alike() -> None:
    """Twice as long, with a spread, up to half a minute."""
    policy = RetryPolicy()
    assert [policy.backoff(n, 1.0) for n in range(7)] == [1, 2, 4, 8, 16, 30, 30]
    assert policy.backoff(3, 0.0) == 4
    assert policy.backoff(10_000, 0.0) == 15
