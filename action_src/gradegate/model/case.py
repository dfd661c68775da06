"""An eval case in its place: the suite and file it comes from, and what applies to it."""

from typing import NamedTuple

from gradegate.model.base import Value
from gradegate.model.evalset import EvalCase, EvalConfig


class CaseKey(NamedTuple):
    """What identifies a case on one side. Sorts by suite, then path, then id."""

    suite: str
    eval_set: str
    eval_id: str


class Case(Value):
    """A loaded eval case: its definition, its eval set's config, and where to point at."""

    suite: str
    eval_set: str
    """The file's path relative to the repository, with forward slashes."""
    eval_set_id: str
    eval_id: str
    line: int
    """Where the case begins in its file, for annotations."""
    definition: EvalCase
    config: EvalConfig
    digest: str
    """Of the definition and of nothing else: equal digests, equal case."""

    @property
    def key(self) -> CaseKey:
        """The case's identity."""
        return CaseKey(self.suite, self.eval_set, self.eval_id)
