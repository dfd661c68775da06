"""What a judge is shown, and what it says, without secrets.

An agent may repeat a key that it was given. The key is not for the judge's service to see, nor
for the store that keeps the answers.
"""

from dataclasses import replace
from typing import Any

from gradegate.model.masking import SecretMasker
from gradegate.model.question import Question
from gradegate.ports import CallFailure, JudgeProvider, Reply


class DiscreetProvider:
    """Puts questions to another provider without the secrets, and so its answers."""

    def __init__(self, provider: JudgeProvider, secrets: SecretMasker) -> None:
        self._provider = provider
        self._secrets = secrets

    async def answer(self, question: Question[Any], sample: int) -> Reply | CallFailure:
        """What the provider answers."""
        hide = self._secrets
        asked = replace(
            question,
            data=hide.hide_all(question.data),
            model_config=hide.hide_all(question.model_config),
            render=lambda fence: hide.hide(question.render(fence)),
        )
        said: Reply | CallFailure = hide.hide_all(await self._provider.answer(asked, sample))
        return said

    async def close(self) -> None:
        """Close the connections."""
        await self._provider.close()
