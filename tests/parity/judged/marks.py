"""The verdicts that both judges' forms are served from: a function of a mark and of the n-th time.

A question has a usual verdict. A sample departs from it now and then, and now and then is no
answer at all. Nothing else decides, so whoever asks the same questions as often as another gets
the same answers.
"""

import hashlib
from dataclasses import dataclass

AGREEING, UNUSABLE, GOOD = 0.97, 0.05, 0.8
MOST_UNUSABLE = 2
"""Of five samples; with three the reference still scores, and we say that we cannot."""

GROUNDED = ("supported", "not_applicable")
UNGROUNDED = ("unsupported", "contradictory", "disputed")


@dataclass(frozen=True)
class Marks:
    """Draws for one seed."""

    seed: int
    unusable_share: float = UNUSABLE

    def verdict(self, mark: str, sample: int) -> bool:
        """What the n-th sample says to the question of this mark."""
        usual = self._share(mark, "usual") < GOOD
        return usual == (self._share(mark, "agrees", sample) < AGREEING)

    def label(self, mark: str, sample: int) -> str:
        """A sentence's label, of those that mean the verdict."""
        labels = GROUNDED if self.verdict(mark, sample) else UNGROUNDED
        return labels[int(self._share(mark, "label", sample) * len(labels))]

    def unusable(self, mark: str, sample: int) -> bool:
        """Whether the n-th sample is no answer."""
        before = sum(self._spoilt(mark, earlier) for earlier in range(1, sample))
        return before < MOST_UNUSABLE and self._spoilt(mark, sample)

    def _spoilt(self, mark: str, sample: int) -> bool:
        return self._share(mark, "spoilt", sample) < self.unusable_share

    def _share(self, *what: object) -> float:
        text = "|".join(map(str, (self.seed, *what)))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) / 2**64
