"""A rerun is fresh evidence: which of a case's runs puts a question for the how manieth time.

An agent that says the same in six runs has given one answer, and a judge that is asked about it
once has one opinion; it must not count as six. So the judge is asked anew for each run. On the two
sides the runs count alike: base's first and head's first share what was said of the same answer,
so that the judge's mood cannot show up as a difference between them.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

from pydantic import BaseModel

from gradegate.model.question import Question, Votes
from gradegate.ports import Ask

T = TypeVar("T", bound=BaseModel)


class Occurrences:
    """The questions put by a case's runs on one side.

    They count in the order of the runs' numbers, in whatever order the runs end: a job that goes
    on where a killed one was counts alike. So a run asks its judges once those before it have all
    their scores.
    """

    def __init__(self) -> None:
        self._asked: defaultdict[str, set[int]] = defaultdict(set)
        self._known: defaultdict[int, set[str]] = defaultdict(set)
        self._scored: defaultdict[int, asyncio.Event] = defaultdict(asyncio.Event)

    def ask_for(self, run: int, ask: Ask) -> Ask:
        """Asks for a run of this number."""

        async def asking(question: Question[T], samples: int) -> Votes[T]:
            for earlier in range(1, run):
                await self._scored[earlier].wait()
            asked = self._asked[question.digest]
            asked.add(run)
            votes = await ask(question.again(sum(number <= run for number in asked)), samples)
            if votes.from_store:
                self._known[run].add(question.criterion)
            return votes

        return asking

    def asked_by(self, run: int) -> tuple[str, ...]:
        """The digests of the questions that a run put."""
        return tuple(sorted(digest for digest, runs in self._asked.items() if run in runs))

    def load(self, run: int, asked: Iterable[str]) -> None:
        """Take in a run that another job has scored."""
        for digest in asked:
            self._asked[digest].add(run)
        self.scored(run)

    def known(self, run: int) -> frozenset[str]:
        """Criteria of which an earlier job knew, at least in part, what their judge says."""
        return frozenset(self._known[run])

    def scored(self, run: int) -> None:
        """The run asks nothing more, or never will."""
        self._scored[run].set()
