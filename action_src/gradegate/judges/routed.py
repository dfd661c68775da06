"""Every question to whom it is for."""

from typing import Any

from gradegate.model.question import VERTEX, Question
from gradegate.ports import Answerer, Reply, Trouble


class Routed:
    """Vertex AI's evaluation service for what names it, the judge for all else."""

    def __init__(self, judge: Answerer, vertex: Answerer) -> None:
        self._judge = judge
        self._vertex = vertex

    async def answer(self, question: Question[Any], sample: int) -> Reply | Trouble:
        """What the one who is meant answers."""
        asked = self._vertex if question.model.startswith(VERTEX) else self._judge
        return await asked.answer(question, sample)

    async def close(self) -> None:
        """Close both."""
        await self._judge.close()
        await self._vertex.close()
