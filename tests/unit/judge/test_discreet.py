"""A judge neither sees nor says what is secret."""

from typing import Any

from gradegate.judge.discreet import DiscreetProvider
from gradegate.model.masking import SecretMasker
from gradegate.model.question import Question
from gradegate.ports import CallFailure, Reply
from tests.standins.judging import question

KEY = "of-the-desk"


class Echo:
    """A provider that says what it was asked, and then that it cannot."""

    def __init__(self) -> None:
        self.seen: list[object] = []
        self.closed = False

    async def answer(self, question: Question[Any], sample: int) -> Reply | CallFailure:
        """Repeat the prompt and more of the key."""
        prompt = question.render("--fence--")
        self.seen += [prompt, question.data, question.model_config]
        if sample > 1:
            return CallFailure(f"refused: {KEY}", retryable=False)
        return Reply(f"{prompt} and {KEY}", 10, 5)

    async def close(self) -> None:
        """Remember it."""
        self.closed = True


async def test_a_key_reaches_no_judge_and_comes_back_from_none() -> None:
    """Neither in the prompt nor in its data; the answer's numbers stay."""
    echo = Echo()
    provider = DiscreetProvider(echo, SecretMasker([KEY]))
    asked = question(f"is {KEY} it?", model_config={"system_instruction": f"Say {KEY}."})
    reply = await provider.answer(asked, 1)
    failure = await provider.answer(asked, 2)
    await provider.close()
    assert KEY not in str(echo.seen)
    assert "is *** it?" in str(echo.seen)
    assert isinstance(reply, Reply)
    assert KEY not in reply.text
    assert (reply.input_tokens, reply.output_tokens) == (10, 5)
    assert failure == CallFailure("refused: ***", retryable=False)
    assert echo.closed


async def test_what_is_asked_is_known_by_what_it_was() -> None:
    """The key that an answer is stored under is of the question as it was put."""
    asked = question("is it?")
    echo = Echo()
    await DiscreetProvider(echo, SecretMasker([KEY])).answer(asked, 1)
    assert echo.seen[1] == asked.data
