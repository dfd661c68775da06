"""One run of one case on one side: what the agent did and how it was scored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gradegate.model.case import CaseKey
from gradegate.model.result import CaseResult
from gradegate.model.trace import NotRun, Trace


class Role(StrEnum):
    """What a run was made for; a run made for one purpose never counts for another."""

    FIRST = "first"
    AGAIN = "again"
    """Another full pass, bought where a criterion's mean looks close."""
    RECHECK = "recheck"
    SCREEN = "screen"
    CONFIRM = "confirm"


@dataclass(frozen=True, slots=True)
class Scored:
    """A run and its scores."""

    role: Role
    outcome: Trace | NotRun
    result: CaseResult


Runs = Mapping[CaseKey, Sequence[Scored]]
"""All runs of one side by case, in the order made."""
