"""Asking: no call too many, none given up too early, none repeated for ever."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gradegate.model.question import Question, Votes
from gradegate.model.settings import Judge
from gradegate.ports import Reply, Trouble
from gradegate.scoring.ask import Asker
from gradegate.scoring.patience import Patience
from gradegate.scoring.usage import Ledger, Progress
from gradegate.store.memory import MemoryStore
from tests.standins.judging import (
    Opinion,
    Scripted,
    question,
    questions_on,
    says,
    says_on,
)
from tests.standins.virtual_time import in_virtual_time, now

BUSY = Trouble("429 RESOURCE_EXHAUSTED", may_pass=True, slow_down=True)
RESET = Trouble("the connection broke", may_pass=True)
BAD_KEY = Trouble("API key not valid", may_pass=False, for_all=True)
BAD_QUESTION = Trouble("400 INVALID_ARGUMENT", may_pass=False)


def yes(*_: object) -> Reply:
    """What an agreeable judge says."""
    return says("yes")


def asking(
    answerer: Scripted | str,
    main: Callable[[Asker], Awaitable[Any]],
    *,
    store: MemoryStore | None = None,
    limits: Judge | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Any:
    """Run `main` with an asker, in virtual time."""

    async def run() -> Any:
        judge = limits or Judge()
        async with Asker(answerer, store or MemoryStore(), judge, progress=progress) as ask:
            return await main(ask)

    return in_virtual_time(run())


def ask_once(answerer: Scripted | str, samples: int = 5, **given: Any) -> Votes[Opinion]:
    """The votes on one question."""

    async def main(ask: Asker) -> Votes[Opinion]:
        return await ask(question(), samples)

    votes: Votes[Opinion] = asking(answerer, main, **given)
    return votes


def test_a_unanimous_vote_of_five_takes_three_calls_at_once() -> None:
    """Two are saved, and nobody waits for one before asking the next."""
    judge = Scripted(yes, latency=1.0)

    async def main(ask: Asker) -> None:
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

    async def main(ask: Asker) -> None:
        votes = await ask(questions_on("sure", "open"), 5)
        assert dict(votes.yes) == {"sure": True, "open": False}
        assert len(votes.answers) == 5

    asking(Scripted(script), main)


def test_unusable_answers_spend_their_sample_and_trouble_spends_none() -> None:
    """Sample 2 is unreadable and not asked again; sample 1 fails twice and is."""

    def script(_: Question[Any], sample: int, time: int) -> Reply | Trouble:
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

    async def main(ask: Asker) -> None:
        first, second = await asyncio.gather(ask(question(), 5), ask(question(), 5))
        assert first == second
        usage = ask.usage()
        assert (usage.judge_calls, usage.judge_cache_hits) == (3, 3)

    asking(judge, main)
    assert judge.samples == [1, 2, 3]


def test_who_gives_up_does_not_take_the_answer_from_others() -> None:
    """The call goes on for the one who still waits."""
    judge = Scripted(yes, latency=5.0)

    async def main(ask: Asker) -> None:
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
    store = MemoryStore()

    def script(_: Question[Any], sample: int, __: int) -> Reply:
        return Reply("{") if sample == 2 else says("yes")

    first = ask_once(Scripted(script), store=store)
    assert len(first.answers) == 3

    async def again(ask: Asker) -> None:
        assert await ask(question(), 5) == first
        usage = ask.usage()
        assert (usage.judge_calls, usage.judge_cache_hits) == (0, 4)
        assert usage.judge_calls_saved_by_voting == 0

    judge = Scripted(yes)
    asking(judge, again, store=store)
    assert judge.asked == []


def test_the_store_answers_where_there_is_no_judge() -> None:
    """Without a key what is known is still known; the rest says which variable to set."""
    store = MemoryStore()
    ask_once(Scripted(yes), store=store)

    async def main(ask: Asker) -> None:
        assert (await ask(question(), 5)).failure is None
        assert (await ask(question("another"), 5)).failure == "set GOOGLE_API_KEY"
        assert ask.usage().judge_calls == 0
        assert ask.usage().judge_retries == 0

    asking("set GOOGLE_API_KEY", main, store=store)


def test_what_cannot_be_read_in_the_store_is_asked_and_stored_anew() -> None:
    """A store of another version costs calls once."""
    store = MemoryStore()
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
    store = MemoryStore()
    ask_once(Scripted(yes), store=store)
    judge = Scripted(yes)

    async def main(ask: Asker) -> None:
        await ask(question(**change), 5)

    asking(judge, main, store=store)
    assert len(judge.asked) == 3


def test_a_failed_vote_is_the_same_for_all_in_this_run_and_asked_again_in_the_next() -> None:
    """Both sides fare alike; a bad day of the service does not last for ever."""
    store, unreadable = MemoryStore(), Scripted(lambda *_: Reply("{"))

    async def main(ask: Asker) -> None:
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
    store = MemoryStore()

    def script(_: Question[Any], sample: int, time: int) -> Reply | Trouble:
        return RESET if sample == 1 and time == 1 else says("yes")

    judge = Scripted(script)

    async def main(ask: Asker) -> None:
        votes = [await ask(question(str(n)), 5) for n in range(3)]
        assert [it.failure is None for it in votes] == [True, True, False]
        assert "limit of 9 judge calls" in (votes[2].failure or "")
        assert "`max_calls` under `[judge]` in gradegate.toml" in (votes[2].failure or "")
        assert (await ask(question("0"), 5)).failure is None

    asking(judge, main, store=store, limits=Judge(max_calls=9))
    assert len(judge.asked) == 9


def test_a_refused_key_is_not_tried_again() -> None:
    """The first refusal ends it for that model, and every question tells the reason."""
    judge = Scripted(lambda *_: BAD_KEY, latency=0.1)

    async def main(ask: Asker) -> None:
        votes = await asyncio.gather(*(ask(question(str(n)), 5) for n in range(50)))
        assert {it.failure for it in votes} == {"API key not valid"}

    asking(judge, main, limits=Judge(max_parallel=4))
    assert len(judge.asked) <= 4


def test_a_model_that_refuses_everything_is_soon_left_alone() -> None:
    """The same refusal to five questions in a row, and no answer ever: it is not hammered."""
    judge = Scripted(lambda *_: BAD_QUESTION, latency=0.1)

    async def main(ask: Asker) -> None:
        votes = [await ask(question(str(n)), 1) for n in range(50)]
        assert {it.failure for it in votes} == {"400 INVALID_ARGUMENT"}

    asking(judge, main)
    assert len(judge.asked) == 5


def test_a_model_that_answers_is_not_given_up_for_questions_it_refuses() -> None:
    """A refusal that lies in the question concerns that question."""

    def script(asked: Question[Any], *_: int) -> Reply | Trouble:
        return says("yes") if asked.data["text"] == "fine" else BAD_QUESTION

    async def main(ask: Asker) -> None:
        await ask(question("fine"), 1)
        for n in range(20):
            assert (await ask(question(str(n)), 1)).failure == "400 INVALID_ARGUMENT"
        assert (await ask(question("fine"), 5)).failure is None

    asking(Scripted(script), main)


def test_one_model_that_is_gone_does_not_stop_another() -> None:
    """What is remembered is remembered by model."""

    def script(asked: Question[Any], *_: int) -> Reply | Trouble:
        return BAD_KEY if asked.model == "gemini-1.5-flash" else says("yes")

    async def main(ask: Asker) -> None:
        assert (await ask(question(model="gemini-1.5-flash"), 5)).failure is not None
        assert (await ask(question(), 5)).failure is None

    asking(Scripted(script), main)


def test_trouble_that_does_not_pass_ends_within_the_time_for_a_verdict() -> None:
    """Nothing is asked for ever, and the reason names the trouble."""
    judge = Scripted(lambda *_: RESET)

    async def main(ask: Asker) -> None:
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

    async def main(ask: Asker) -> None:
        votes = await asyncio.gather(*(ask(question(str(n)), 5) for n in range(1000)))
        assert all(it.failure and "did not answer within" in it.failure for it in votes)
        assert now() < 1500

    asking(Scripted(hang), main)


def test_a_hanging_call_is_cut_off_and_made_again() -> None:
    """The second attempt answers."""

    async def script(_: Question[Any], __: int, time: int) -> Reply:
        await asyncio.sleep(100_000 if time == 1 else 1)
        return says("yes")

    async def main(ask: Asker) -> None:
        assert (await ask(question(), 5)).failure is None
        assert 120 < now() < 125

    asking(Scripted(script), main)


def test_the_service_is_asked_again_after_it_was_down() -> None:
    """Questions that come later find it well."""

    def script(*_: object) -> Reply | Trouble:
        return RESET if now() < 700 else says("yes")

    async def main(ask: Asker) -> None:
        assert (await ask(question("early"), 5)).failure is not None
        await asyncio.sleep(800)
        assert (await ask(question("late"), 5)).failure is None

    asking(Scripted(script), main)


def test_a_wait_the_service_asks_for_is_kept_by_all() -> None:
    """One is told to wait a minute: none calls before it is over, then all are answered."""

    def script(asked: Question[Any], _: int, time: int) -> Reply | Trouble:
        told = asked.data["text"] == "0" and time == 1
        return BUSY._replace(wait=60.0) if told else says("yes")

    judge = Scripted(script, latency=0.1)

    async def main(ask: Asker) -> None:
        votes = await asyncio.gather(*(ask(question(str(n)), 1) for n in range(20)))
        assert all(it.failure is None for it in votes)

    asking(judge, main, limits=Judge(max_parallel=2))
    assert not [at for at in judge.at if 0.11 < at < 60]


def test_a_wait_beyond_all_patience_is_a_failure_at_once() -> None:
    """An hour's wait is told, not sat out, also by those who queue."""
    judge = Scripted(lambda *_: BUSY._replace(wait=3600.0), latency=0.1)

    async def main(ask: Asker) -> None:
        votes = await asyncio.gather(*(ask(question(str(n)), 5) for n in range(100)))
        assert all("come back in 3600 s" in (it.failure or "") for it in votes)
        assert now() < 5

    asking(judge, main)
    assert len(judge.asked) <= 32


def test_queueing_for_our_own_limits_is_not_held_against_a_verdict() -> None:
    """At six calls a minute the last of 200 verdicts waits half an hour, and is given."""

    def script(_: Question[Any], __: int, time: int) -> Reply | Trouble:
        return RESET if time == 1 else says("yes")

    async def main(ask: Asker) -> None:
        votes = await asyncio.gather(*(ask(question(str(n)), 1) for n in range(200)))
        assert all(it.failure is None for it in votes)
        assert now() > 1800

    asking(Scripted(script), main, limits=Judge(requests_per_minute=6))


def test_retries_wait_longer_each_time_and_not_all_alike() -> None:
    """Twice as long, with a spread, up to half a minute."""
    patience = Patience()
    assert [patience.backoff(n, 1.0) for n in range(7)] == [1, 2, 4, 8, 16, 30, 30]
    assert patience.backoff(3, 0.0) == 4
    assert patience.backoff(10_000, 0.0) == 15


def test_a_ledger_gets_what_was_asked_through_it() -> None:
    """Two sides share an asker, and each knows its own bill."""
    base, head = Ledger(), Ledger()

    async def main(ask: Asker) -> None:
        await ask.billed_to(base)(question("both"), 5)
        await ask.billed_to(head)(question("both"), 5)
        await ask.billed_to(head)(question("head's"), 5)
        assert ask.usage().judge_calls == 6

    asking(Scripted(yes), main)
    assert (base.usage().judge_calls, base.usage().judge_cache_hits) == (3, 0)
    assert (head.usage().judge_calls, head.usage().judge_cache_hits) == (3, 3)


def test_progress_tells_calls_hits_rate_and_rest() -> None:
    """The rest is what waits over the rate of late."""
    seen: list[Progress] = []

    async def main(ask: Asker) -> None:
        await asyncio.gather(*(ask(question(str(n)), 1) for n in range(40)))
        await ask(question("0"), 1)

    asking(Scripted(yes, latency=1.0), main, limits=Judge(max_parallel=4), progress=seen.append)
    halfway = seen[19]
    assert (halfway.calls, halfway.hits) == (20, 0)
    assert halfway.rate == pytest.approx(4, rel=0.25)
    assert halfway.rest == pytest.approx(5, rel=0.3)
    assert (seen[-1].calls, seen[-1].hits) == (40, 1)


def test_closing_ends_what_is_still_being_asked() -> None:
    """No call outlives the asker."""
    judge = Scripted(yes, latency=1000.0)

    async def main() -> None:
        asker = Asker(judge, MemoryStore(), Judge())
        waiting = asyncio.create_task(asker(question(), 5))
        await asyncio.sleep(1)
        await asker.close()
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

    async def main(ask: Asker) -> None:
        await ask(question(model=""), 1)
        await ask(question(model="gemini-2.5-pro"), 1)

    asking(Scripted(note), main, limits=Judge(model="gemini-flash-latest"))
    assert asked == ["gemini-flash-latest", "gemini-2.5-pro"]
