"""What asking costs, by criterion, and how far along it is."""

from collections import Counter, defaultdict, deque
from typing import Any, NamedTuple

from gradegate.model.result import CriterionUsage, Usage
from gradegate.ports import Reply

_RECENT = 256


class UsageCounter:
    """Adds up usage as it arises."""

    def __init__(self) -> None:
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def call(self, criterion: str, reply: Reply) -> None:
        """A call that was answered."""
        self._counts[criterion].update(
            judge_calls=1,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
        )

    def retry(self, criterion: str) -> None:
        """A call that failed on the way."""
        self._counts[criterion].update(judge_retries=1)

    def hit(self, criterion: str) -> None:
        """A sample that was in the store, or on its way already."""
        self._counts[criterion].update(judge_cache_hits=1)

    def saved(self, criterion: str, samples: int) -> None:
        """Samples that the vote did not need."""
        self._counts[criterion].update(judge_calls_saved_by_voting=samples)

    @property
    def calls(self) -> int:
        """Answered calls in all."""
        return sum(counts["judge_calls"] for counts in self._counts.values())

    @property
    def hits(self) -> int:
        """Samples that needed no call."""
        return sum(counts["judge_cache_hits"] for counts in self._counts.values())

    def usage(self, seconds: float = 0.0) -> Usage:
        """The sums so far, in all and by criterion."""
        total: Counter[str] = Counter()
        for counts in self._counts.values():
            total.update(counts)
        by_criterion = {name: _usage(self._counts[name]) for name in sorted(self._counts)}
        return Usage(**total, seconds=seconds, by_criterion=by_criterion)


class JudgeProgress(NamedTuple):
    """How far asking has come."""

    calls: int
    hits: int
    waiting: int
    """Samples that are being asked or queue for it."""
    rate: float
    """Answers a second of late; 0 where it cannot be told yet."""

    @property
    def rest(self) -> float | None:
        """Seconds until what waits now is answered, at this rate."""
        return self.waiting / self.rate if self.rate else None


class Rate:
    """The rate of late."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=_RECENT)

    def tick(self, now: float) -> None:
        """One more answer."""
        self._times.append(now)

    @property
    def rate(self) -> float:
        """Answers a second over the last few hundred."""
        if len(self._times) < 2:  # noqa: PLR2004 - a rate needs two points in time
            return 0.0
        lasted = self._times[-1] - self._times[0]
        return (len(self._times) - 1) / lasted if lasted > 0 else 0.0


def _usage(counts: Counter[str]) -> CriterionUsage:
    fields: dict[str, Any] = dict(counts)
    return CriterionUsage(**fields)
