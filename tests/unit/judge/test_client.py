"""Asking: no call too many, none given up too early, none repeated for ever."""

import asyncio
from typing import Any

import pytest

from gradegate.judge.client import JudgeClient
from gradegate.judge.usage import JudgeProgress
from gradegate.model.question import Question
from gradegate.model.settings import JudgeSettings
from gradegate.ports import CallFailure, Reply
from gradegate.store.sqlite import SqliteStore
from tests.standins.asking import RESET, ask_once, asking, yes
from tests.standins.judging import (
    Scripted,
    question,
    questions_on,
    says,
    says_on,
)
from tests.standins.virtual_time import in_virtual_time, now


def test_a_unanimous_vote_of_five_takes_three_calls_at_once() -> None:
    """Two are saved, and nobody waits for one before asking the next."""
    judge = Scripted(yes, latency=1.0)

    async def main(ask: JudgeClient) -> None:
        votes = await ask(question(), 5)
        assert now() == pytest.approx(1.0)
        assert (dict(votes.yes), len(votes.answers)) == ({"verdict": True}, 3)
        usage = ask.usage()
        assert (usage.judge_calls, usage.judge_calls_saved_by_voting) == (3, 2)
        assert (usage.input_tokens, usage.output_tokens) == (30, 15)
        assert usage.by_criterion["opinion_v1"].judge_calls == 3

    asking(judge, main)
    assert judge.samples == [1, 2, 3]
    assert judge.closed


def test_a_split_vote_is_asked_on_until_it_is_decided() -> None:
    """Answers count in the order asked, not in the order in which they came."""
    said = {1: "yes", 2: "no", 3: "yes", 4: "no", 5: "yes"}
    judge = Scripted(lambda _, sample, __: says(said[sample]))
    votes = ask_once(judge)
    assert dict(votes.yes) == {"verdict": True}
    assert [answer.verdict for answer in votes.answers] == list(said.values())


def test_answers_keep_the_order_asked_however_late_they_come() -> None:
    """The first sample is the first answer, also where it is the last to arrive."""

    async def late(_: Question[Any], sample: int, __: int) -> Reply:
        await asyncio.sleep(10 - sample)
        return says("yes" if sample == 1 else "no")

    votes = ask_once(Scripted(late))
    assert [answer.verdict for answer in votes.answers] == ["yes", "no", "no", "no"]


def test_each_ballot_entry_is_decided_before_asking_ends() -> None:
    """One entry that is still open keeps the question open for all."""

    def script(_: Question[Any], sample: int, __: int) -> Reply:
        return says_on({"sure": True, "open": sample % 2 == 0})

    async def main(ask: JudgeClient) -> None:
        votes = await ask(questions_on("sure", "open"), 5)
        assert dict(votes.yes) == {"sure": True, "open": False}
        assert len(votes.answers) == 5

    asking(Scripted(script), main)


def test_unusable_answers_spend_their_sample_and_trouble_spends_none() -> None:
    """Sample 2 is unreadable and not asked again; sample 1 fails twice and is."""

    def script(_: Question[Any], sample: int, time: int) -> Reply | CallFailure:
        if sample == 1 and time <= 2:
            return RESET
        return Reply("{") if sample == 2 else says("yes")

    judge = Scripted(script)
    votes = ask_once(judge)
    assert dict(votes.yes) == {"verdict": True}
    assert judge.samples.count(1) == 3
    assert judge.samples.count(2) == 1
    assert len(votes.unusable) == 1


def test_the_same_question_twice_at_once_is_asked_once() -> None:
    """Whoever comes second waits for the first one's answer, and both are right."""
    judge = Scripted(yes, latency=1.0)

    async def main(ask: JudgeClient) -> None:
        first, second = await asyncio.gather(ask(question(), 5), ask(question(), 5))
        assert first == second
        usage = ask.usage()
        assert (usage.judge_calls, usage.judge_cache_hits) == (3, 3)

    asking(judge, main)
    assert judge.samples == [1, 2, 3]


def test_who_gives_up_does_not_take_the_answer_from_others() -> None:
    """The call goes on for the one who still waits."""
    judge = Scripted(yes, latency=5.0)

    async def main(ask: JudgeClient) -> None:
        first = asyncio.create_task(ask(question(), 1))
        await asyncio.sleep(1)
        second = asyncio.create_task(ask(question(), 1))
        await asyncio.sleep(1)
        first.cancel()
        assert (await second).failure is None
        assert now() == pytest.approx(5.0)

    asking(judge, main)
    assert len(judge.asked) == 1


def test_a_second_run_on_the_same_store_makes_no_call() -> None:
    """Unusable samples included, and the outcome is the same."""
    store = SqliteStore.in_memory()

    def script(_: Question[Any], sample: int, __: int) -> Reply:
        return Reply("{") if sample == 2 else says("yes")

    first = ask_once(Scripted(script), store=store)
    assert len(first.answers) == 3

    async def again(ask: JudgeClient) -> None:
        assert await ask(question(), 5) == first
        usage = ask.usage()
        assert (usage.judge_calls, usage.judge_cache_hits) == (0, 4)
        assert usage.judge_calls_saved_by_voting == 0

    judge = Scripted(yes)
    asking(judge, again, store=store)
    assert judge.asked == []


def test_the_store_answers_where_there_is_no_judge() -> None:
    """Without a key what is known is still known; the rest says which variable to set."""
    store = SqliteStore.in_memory()
    ask_once(Scripted(yes), store=store)

    async def main(ask: JudgeClient) -> None:
        assert (await ask(question(), 5)).failure is None
        assert (await ask(question("another"), 5)).failure == "set GOOGLE_API_KEY"
        assert ask.usage().judge_calls == 0
        assert ask.usage().judge_retries == 0

    asking("set GOOGLE_API_KEY", main, store=store)


def test_what_cannot_be_read_in_the_store_is_asked_and_stored_anew() -> None:
    """A store of another version costs calls once."""
    store = SqliteStore.in_memory()
    for sample in (1, 2, 3):
        store.put("answer", question().key(sample), '{"verdict": "yes"}')
    first, second = Scripted(yes), Scripted(yes)
    assert ask_once(first, store=store).failure is None
    assert ask_once(second, store=store).failure is None
    assert (len(first.asked), len(second.asked)) == (3, 0)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "other_v1"},
        {"version": "2"},
        {"data": {"text": "something else"}},
        {"model": "gemini-2.5-pro"},
        {"model_config": {"temperature": 0.5}},
    ],
)
def test_whatever_is_asked_otherwise_is_asked_anew(change: dict[str, Any]) -> None:
    """Kind, version, data, model and its config are all part of what is stored."""
    store = SqliteStore.in_memory()
    ask_once(Scripted(yes), store=store)
    judge = Scripted(yes)

    async def main(ask: JudgeClient) -> None:
        await ask(question(**change), 5)

    asking(judge, main, store=store)
    assert len(judge.asked) == 3


def test_a_failed_vote_is_the_same_for_all_in_this_run_and_asked_again_in_the_next() -> None:
    """Both sides fare alike; a bad day of the service does not last for ever."""
    store, unreadable = SqliteStore.in_memory(), Scripted(lambda *_: Reply("{"))

    async def main(ask: JudgeClient) -> None:
        first = await ask(question(), 5)
        assert first.failure is not None
        assert await ask(question(), 5) == first

    asking(unreadable, main, store=store)
    assert len(unreadable.asked) == 3
    judge = Scripted(yes)
    assert ask_once(judge, store=store).failure is None
    assert len(judge.asked) == 3


def test_past_the_limit_of_calls_questions_fail_and_say_where_to_raise_it() -> None:
    """Not one call more than allowed, retries included, and what was answered stays."""
    store = SqliteStore.in_memory()

    def script(_: Question[Any], sample: int, time: int) -> Reply | CallFailure:
        return RESET if sample == 1 and time == 1 else says("yes")

    judge = Scripted(script)

    async def main(ask: JudgeClient) -> None:
        votes = [await ask(question(str(n)), 5) for n in range(3)]
        assert [it.failure is None for it in votes] == [True, True, False]
        assert "limit of 9 judge calls" in (votes[2].failure or "")
        assert "`max_calls` under `[judge]` in gradegate.toml" in (votes[2].failure or "")
        assert (await ask(question("0"), 5)).failure is None

    asking(judge, main, store=store, limits=JudgeSettings(max_calls=9))
    assert len(judge.asked) == 9


def test_progress_tells_calls_hits_rate_and_rest() -> None:
    """The rest is what waits over the rate of late."""
    seen: list[JudgeProgress] = []

    async def main(ask: JudgeClient) -> None:
        await asyncio.gather(*(ask(question(str(n)), 1) for n in range(40)))
        await ask(question("0"), 1)

    asking(
        Scripted(yes, latency=1.0), main, limits=JudgeSettings(max_parallel=4), progress=seen.append
    )
    halfway = seen[19]
    assert (halfway.calls, halfway.hits) == (20, 0)
    assert halfway.rate == pytest.approx(4, rel=0.25)
    assert halfway.rest == pytest.approx(5, rel=0.3)
    assert (seen[-1].calls, seen[-1].hits) == (40, 1)


def test_closing_ends_what_is_still_being_asked() -> None:
    """No call outlives the client."""
    judge = Scripted(yes, latency=1000.0)

    async def main() -> None:
        client = JudgeClient(judge, SqliteStore.in_memory(), JudgeSettings())
        waiting = asyncio.create_task(client(question(), 5))
        await asyncio.sleep(1)
        await client.close()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert now() == pytest.approx(1.0)

    in_virtual_time(main())
    assert judge.closed


def test_a_question_that_names_no_model_goes_to_the_settings() -> None:
    """`[judge] model` is whom a question is put to where the config names nobody."""
    asked: list[str] = []

    def note(about: Question[Any], *_: object) -> Reply:
        asked.append(about.model)
        return says("yes")

    async def main(ask: JudgeClient) -> None:
        await ask(question(model=""), 1)
        await ask(question(model="gemini-2.5-pro"), 1)

    asking(Scripted(note), main, limits=JudgeSettings(model="gemini-flash-latest"))
    assert asked == ["gemini-flash-latest", "gemini-2.5-pro"]
