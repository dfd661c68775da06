"""Whom a question is put to, and when they are opened."""

import asyncio
import json
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gradegate.judge.providers.replayed import RecordingProvider
from gradegate.judge.providers.router import OnDemand, Router, open_router
from gradegate.model.errors import FileError
from gradegate.model.settings import JudgeSettings
from gradegate.ports import CallFailure, Machine, Reply
from tests.standins.judging import Scripted, question, says


def machine(**given: Any) -> Machine:
    """A computer with nothing in its environment."""
    return Machine({}, repository=Path("repo"), cache=Path("cache"), **given)


async def test_the_first_prefix_that_fits_answers() -> None:
    """The empty one fits every model, also none."""
    router = Router({"a/": Scripted(lambda *_: Reply("a")), "": Scripted(lambda *_: Reply("else"))})
    models = ("a/1", "a/", "a", "b/a/", "")
    said = [await router.answer(question(model=model), 1) for model in models]
    assert [reply[0] for reply in said] == ["a", "a", "else", "else", "else"]


async def test_closing_closes_all_that_were_opened_and_opens_none() -> None:
    """Whoever was not asked costs nothing."""
    asked, other = Scripted(lambda *_: says("yes")), Scripted(lambda *_: says("yes"))
    opened: list[Scripted] = []

    def opener(provider: Scripted) -> Scripted:
        opened.append(provider)
        return provider

    router = Router({"a/": OnDemand(partial(opener, asked)), "": OnDemand(partial(opener, other))})
    await router.answer(question(model="a/1"), 1)
    await router.close()
    assert opened == [asked]
    assert (asked.closed, other.closed) == (True, False)


async def test_many_first_questions_open_it_once_and_off_the_loop() -> None:
    """An SDK that takes seconds to import holds up no agent."""
    loop, threads = threading.get_ident(), []

    def opener() -> Scripted:
        threads.append(threading.get_ident())
        return Scripted(lambda *_: says("yes"))

    provider = OnDemand(opener)
    await asyncio.gather(*(provider.answer(question(), sample) for sample in range(1, 20)))
    assert len(threads) == 1
    assert loop not in threads


async def test_no_access_is_a_refusal_of_everything() -> None:
    """Its reason says which variable to set; there is nothing to close."""
    provider = OnDemand(lambda: "set THE_KEY")
    assert await provider.answer(question(), 1) == CallFailure(
        "set THE_KEY", retryable=False, for_all=True
    )
    await provider.close()


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("gemini-2.5-flash", "GOOGLE_API_KEY (a Gemini API key)"),
        ("vertex-evaluation/safety_v1", "GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION"),
    ],
)
async def test_each_model_has_its_provider(model: str, variable: str) -> None:
    """Told by what each of them asks for where nothing is set."""
    router = open_router(machine(), [], JudgeSettings())
    failure = await router.answer(question(model=model), 1)
    assert isinstance(failure, CallFailure)
    assert variable in failure.reason
    await router.close()


async def test_recorded_answers_stand_for_every_model(tmp_path: Path) -> None:
    """Nobody else is asked, and a file that cannot be read ends it."""
    file = tmp_path / "answers.json"
    recording = RecordingProvider(Scripted(lambda *_: says("yes")), file)
    await recording.answer(question(), 1)
    await recording.close()
    router = open_router(machine(answers=file), [], JudgeSettings())
    for model in ("gemini-2.5-flash", "vertex-evaluation/safety_v1"):
        reply = await router.answer(question(model=model), 1)
        assert isinstance(reply, Reply)
        assert json.loads(reply.text)["verdict"] == "yes"
    broken = open_router(machine(answers=tmp_path / "none.json"), [], JudgeSettings())
    with pytest.raises(FileError, match=r"none\.json"):
        await broken.answer(question(), 1)
