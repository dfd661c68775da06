"""A dry run tells the least and the most calls, and the run falls between them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from gradegate.judge.client import JudgeClient
from gradegate.model.question import Question, no_ballot
from gradegate.model.settings import JudgeSettings
from gradegate.pipeline.dry_run import NOT_ASKED, EstimatingJudge
from gradegate.pipeline.dry_run_plan import Bounds, Estimate
from gradegate.ports import Ask, Reply
from gradegate.store.sqlite import SqliteStore
from tests.standins.judging import Scripted, question, says
from tests.standins.virtual_time import in_virtual_time

Work = Callable[[Ask], Awaitable[Any]]


class Segments(BaseModel):
    """The sentences of a text."""

    sentences: list[str]


def segmenter(text: str) -> Question[Segments]:
    """A question whose answer leads to another."""
    return Question(
        kind="two_steps_v1/segment",
        version="1",
        data={"text": text},
        answer=Segments,
        render=lambda fence: f"{fence}{text}{fence}",
        model="gemini-2.5-flash",
        ballot=no_ballot,
        stand_in=lambda: Segments(sentences=[text]),
    )


async def in_two_steps(ask: Ask, text: str, samples: int) -> None:
    """Segment, then validate, as far as there is something to validate."""
    votes = await ask(segmenter(text), 1)
    if votes.failure is None and votes.answers[0].sentences:
        sentences = votes.answers[0].sentences
        await ask(question("|".join(sentences), kind="two_steps_v1/validate"), samples)


def estimate(work: Work, store: SqliteStore | None = None) -> Estimate:
    """What the work would ask."""
    estimator = EstimatingJudge(store or SqliteStore.in_memory())
    asyncio.run(_run(work, estimator))
    return estimator.estimate()


async def _run(work: Work, ask: Ask) -> None:
    await work(ask)


def calls_made(work: Work, judge: Scripted, store: SqliteStore | None = None) -> int:
    """What the work does ask."""

    async def run() -> int:
        async with JudgeClient(judge, store or SqliteStore.in_memory(), JudgeSettings()) as ask:
            await work(ask)
            return ask.usage().judge_calls

    return in_virtual_time(run())


def test_a_vote_takes_at_least_a_majority_and_at_most_every_sample() -> None:
    """By criterion and in all."""

    async def work(ask: Ask) -> None:
        votes = await ask(question("a"), 5)
        assert votes.failure == NOT_ASKED
        await ask(question("b"), 3)
        await ask(question("c", kind="other_v1"), 1)

    assert estimate(work) == Estimate(
        Bounds(6, 9), {"opinion_v1": Bounds(5, 8), "other_v1": Bounds(1, 1)}
    )


def test_the_same_question_counts_once() -> None:
    """Equal answers on both sides are asked about once."""

    async def work(ask: Ask) -> None:
        await ask(question("a"), 5)
        await ask(question("a"), 5)

    assert estimate(work).total == Bounds(3, 5)


def test_what_is_in_the_store_is_not_counted() -> None:
    """A verdict in part: what is missing of it; a whole one: nothing, and it is given."""
    store = SqliteStore.in_memory()

    async def in_part(ask: Ask) -> None:
        await ask(question("in part"), 1)
        await ask(question("whole"), 5)

    calls_made(in_part, Scripted(lambda *_: says("yes")), store)

    async def work(ask: Ask) -> None:
        await ask(question("in part"), 5)
        votes = await ask(question("whole"), 5)
        assert votes.yes == {"verdict": True}

    assert estimate(work, store).total == Bounds(2, 4)


def test_a_second_step_counts_for_the_most_alone() -> None:
    """The first may be unusable, or leave nothing to ask; stored, it is known."""

    async def work(ask: Ask) -> None:
        await in_two_steps(ask, "One. Two.", 5)

    assert estimate(work).total == Bounds(1, 6)


SCRIPT = st.lists(st.sampled_from(["yes", "no", "unreadable"]), min_size=60, max_size=60)


@given(verdicts=SCRIPT, samples=st.integers(1, 7), segments_at_all=st.booleans())
def test_a_cold_run_falls_between_the_least_and_the_most(
    verdicts: list[str], samples: int, *, segments_at_all: bool
) -> None:
    """Whatever the judge says, unusable answers included."""

    async def work(ask: Ask) -> None:
        await asyncio.gather(
            *(ask(question(str(n)), samples) for n in range(4)),
            *(in_two_steps(ask, f"text {n}", samples) for n in range(3)),
        )

    answers = iter(verdicts)

    def script(asked: Question[Any], *_: int) -> Reply:
        verdict = next(answers)
        if verdict == "unreadable":
            return Reply("{")
        if asked.answer is Segments:
            return Reply('{"sentences": ["a", "b"]}' if segments_at_all else '{"sentences": []}')
        return says(verdict)

    least, most = estimate(work).total
    assert least <= calls_made(work, Scripted(script)) <= most
