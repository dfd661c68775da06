"""Recorded answers, written and found again."""

from pathlib import Path

import pytest

from gradegate.judge.providers.replayed import RecordingProvider, ReplayedProvider
from gradegate.model.errors import FileError
from gradegate.ports import CallFailure, Reply
from tests.standins.judging import Scripted, question, says

SAID = {1: says("yes"), 2: says("no"), 3: Reply("", 3, 0, "blocked")}


async def record(file: Path, *samples: int, text: str = "is it?") -> None:
    """Record these samples of a question."""
    recording = RecordingProvider(Scripted(lambda _, sample, __: SAID[sample]), file)
    for sample in samples:
        await recording.answer(question(text), sample)
    await recording.close()


async def test_what_was_recorded_is_answered(tmp_path: Path) -> None:
    """Sample by sample, unusable ones and tokens included."""
    file = tmp_path / "deep" / "answers.json"
    await record(file, 3, 1, 2)
    judge = ReplayedProvider(file)
    assert [await judge.answer(question(), sample) for sample in (1, 2, 3)] == list(SAID.values())


async def test_a_sample_that_was_not_recorded_is_answered_like_the_last(tmp_path: Path) -> None:
    """One recorded sample is enough for any number of votes."""
    await record(tmp_path / "a.json", 1, 2)
    judge = ReplayedProvider(tmp_path / "a.json")
    assert await judge.answer(question(), 5) == SAID[2]


async def test_a_recording_is_found_by_what_is_asked_alone(tmp_path: Path) -> None:
    """A new prompt version or another model does not make the demo fall silent."""
    await record(tmp_path / "a.json", 1)
    judge = ReplayedProvider(tmp_path / "a.json")
    assert await judge.answer(question(version="9", model="other"), 1) == SAID[1]
    for other in (question("other"), question(kind="other_v1")):
        missing = await judge.answer(other, 1)
        assert isinstance(missing, CallFailure)
        assert not missing.retryable
        assert other.kind in missing.reason


async def test_trouble_is_passed_on_and_not_recorded(tmp_path: Path) -> None:
    """Only answers are worth keeping."""
    recording = RecordingProvider(
        Scripted(lambda *_: CallFailure("no", retryable=False)), tmp_path / "a.json"
    )
    assert isinstance(await recording.answer(question(), 1), CallFailure)
    await recording.close()
    assert isinstance(
        await ReplayedProvider(tmp_path / "a.json").answer(question(), 1), CallFailure
    )


async def test_two_recordings_of_the_same_are_the_same_file(tmp_path: Path) -> None:
    """The order of answering leaves no trace."""
    await record(tmp_path / "a.json", 1, 2)
    await record(tmp_path / "b.json", 2, 1)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


@pytest.mark.parametrize("content", [None, "", "[]", '{"schema": "gradegate/traces/v1"}'])
def test_a_file_that_is_none_is_named(tmp_path: Path, content: str | None) -> None:
    """A user sees which file is wrong."""
    file = tmp_path / "a.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(FileError, match=r"a\.json"):
        ReplayedProvider(file)
