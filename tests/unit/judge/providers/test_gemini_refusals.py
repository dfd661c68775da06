import pytest

from gradegate.judge.providers.gemini_refusals import blamed


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("Thinking budget is not supported for this model.", ["thinkingConfig.thinkingBudget"]),
        ("Unsupported: generation_config.top_k", ["top_k"]),
        ("The request is invalid.", ["thinkingConfig.thinkingBudget", "top_k"]),
    ],
)
def test_the_parameter_that_a_message_is_about(message: str, named: list[str]) -> None:
    """However either of the two spells it."""
    assert blamed({"thinkingConfig": {"thinkingBudget": 0}, "top_k": 3}, message) == named
